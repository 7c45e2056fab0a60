// What rules for GroupNorms share.
#pragma once

#include <initializer_list>

#include "ir/graph.h"

namespace tenfold::passes {

// Beside convolutions, GroupNormalization and InstanceNormalization of these types become GroupNormNhwc
// (ops/fused/group_norm_nhwc.cpp), where its kernels can: 8 channels and multiples, up to 2048.
bool fuse_group_norms_nhwc(ir::Graph& graph, std::initializer_list<DType> types);

}  // namespace tenfold::passes
