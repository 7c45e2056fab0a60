// Shape tensors: inputs whose elements are extents, such as the target of a Reshape or Resize. A profile gives their
// values: 8x3 for i64[2].
#pragma once

#include "tenfold/tensor.h"

namespace tenfold {

// Whether `given` holds the elements of such an input, rather than its shape. `declared` is its shape, with -1 for
// dynamic extents.
inline bool gives_values(DType dtype, const Shape& declared, const Shape& given) {
  if ((dtype != DType::i64 && dtype != DType::i32) || declared.size() > 1) return false;
  const std::int64_t elements = declared.empty() ? 1 : declared[0];
  return static_cast<std::int64_t>(given.size()) == elements && given != declared;
}

}  // namespace tenfold
