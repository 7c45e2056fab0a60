// Shape tensors: inputs whose elements are extents, the target of a Reshape or Resize. A profile gives their values: 8x3 for i64[2].
#pragma once

#include "tenfold/tensor.h"

namespace tenfold {

// Is `given` what the elements of such an input are to be, rather than its shape? `declared`: its shape, -1 where that is dynamic.
inline bool gives_values(DType dtype, const Shape& declared, const Shape& given) {
  if ((dtype != DType::i64 && dtype != DType::i32) || declared.size() > 1) return false;
  const std::int64_t elements = declared.empty() ? 1 : declared[0];
  return static_cast<std::int64_t>(given.size()) == elements && given != declared;
}

}  // namespace tenfold
