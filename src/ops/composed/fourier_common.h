// Fourier transforms as sums of products: their matrices.
#pragma once

#include "ops/composed/composed_common.h"

namespace tenfold::ops {

// At most this many numbers: beyond, a fast transform would be needed.
inline constexpr std::int64_t kMostFourier = std::int64_t{1} << 26;

// An axis or a length that an attribute or a constant operand gives.
inline std::int64_t constant_integer(ir::OnnxImport& call, int i, const char* what, std::int64_t otherwise) {
  if (!call.in(i)) return otherwise;
  const Tensor& t = call.constant(i, what);
  require(t.size() == 1, ErrorKind::invalid_model, what, " has ", t.size(), " elements, one expected");
  return t.as_int(0);
}

// Turn number n of `length` around the circle; exact before it is rounded.
inline double turn(std::int64_t n, std::int64_t length) { return 2 * M_PI * static_cast<double>(n % length) / static_cast<double>(length); }

}  // namespace tenfold::ops
