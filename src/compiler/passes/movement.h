// Transposes and reshapes: what the rules that move them share.
#pragma once

#include "ir/op_def.h"

namespace tenfold::passes {

ir::Ints perm_of(const ir::Node& transpose);
ir::Ints inverse(const ir::Ints& perm);
bool is_identity(const ir::Ints& perm);
bool is_reshape(const ir::Node& n);   // Reshape, Squeeze, Unsqueeze, Flatten

// `x` under other dims, or null where no Reshape can say them (several extents that are unknown). `x` itself if it has them already.
ir::Value* reshape_to(ir::Graph& graph, ir::Value* x, const ir::Dims& dims, ir::Node* before);
ir::Value* transpose_by(ir::Graph& graph, ir::Value* x, const ir::Ints& perm, ir::Node* before);

// The axes of a reduction, none negative; all of them where it names none. Nothing if they are data.
std::optional<ir::Ints> reduced_axes(const ir::Node& n);
// Is it a reduction whose axes are an attribute?
bool is_reduction(const ir::Node& n);

}  // namespace tenfold::passes
