// The truth of every pointwise computation: runs a Body element by element.
#pragma once

#include <span>

#include "ir/op_def.h"

namespace tenfold::ops {

// Runs `body` over the numpy broadcast of the shapes of `in` (one per body input) and writes `out` (one per body output).
// Reductions run over the last body.reduced_rank dims; a reduced output may have extents 1 there.
// f32, f16 and bf16 compute in f32 and round to the value's type after every instruction; f64 in double; integers wrap.
void interpret_body(const ir::Body& body, std::span<const ir::TensorRef> in, std::span<const ir::TensorRef> out);

}  // namespace tenfold::ops
