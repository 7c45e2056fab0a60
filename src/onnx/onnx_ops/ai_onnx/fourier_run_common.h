// Fourier transforms whose axis, extents or length only the run knows: their matrices are computed there.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

struct RunTransform {
  Value *length, *bins;                  // i64[1]: of the circle; how many results
  bool inverse = false, from_half = false;   // from the half of a real signal's spectrum that says it all, to real numbers
};
// Dim 1 of x [outer, elements, inner, parts] transformed: [outer, bins, inner, parts], one part of `from_half`, else two. Elements beyond
// the length are left out. `parts`, 1 or 2, is that of x.
Value* transformed_at_run(OnnxImport& call, Value* x, std::int64_t parts, const RunTransform& t);

// What an operand of one integer holds, as i64[1].
Value* single(OnnxImport& call, Value* value);

}  // namespace tenfold::onnx_ops
