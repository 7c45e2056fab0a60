// Finding the rounding to integers of 8 bits that ends a body.
#pragma once

#include <optional>

#include "ir/body.h"

namespace tenfold::backends::cuda {

// A body whose result is `value` times `factor`, rounded, a zero point more, and saturated.
struct ByteRounding {
  DType type = DType::i8;
  std::uint16_t value = 0;   // of f32
  double factor = 1;
  int zero = 0;
  int lower() const { return (type == DType::i8 ? -128 : 0) - zero; }   // limits of the rounded product
  int upper() const { return (type == DType::i8 ? 127 : 255) - zero; }
};
std::optional<ByteRounding> byte_rounding(const ir::Body& body);
// The body up to there: its result is a float that only has to be rounded.
ir::Body before_rounding(const ir::Body& body, const ByteRounding& rounding);

}  // namespace tenfold::backends::cuda
