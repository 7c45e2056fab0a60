// A float is NaN or infinite when its exponent bits are all set.
#include "ir/finite.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/threads/spread.h"
#include "base/types/element.h"

namespace tenfold::ir {
namespace {

template <class Bits>
bool exponent_free(const void* data, std::int64_t count, Bits exponent) {
  constexpr std::int64_t kLanes = 64 / sizeof(Bits), kBlock = 64 * kLanes;   // loops of known length become vectors without -O3
  const auto* values = static_cast<const Bits*>(data);
  const auto is_bad = [&](Bits value) { return static_cast<Bits>((value & exponent) == exponent); };
  std::int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    Bits bad[kLanes] = {};
    for (std::int64_t line = i; line < i + kBlock; line += kLanes)
      for (std::int64_t lane = 0; lane < kLanes; ++lane) bad[lane] |= is_bad(values[line + lane]);
    for (const Bits lane : bad)
      if (lane) return false;
  }
  for (; i < count; ++i)
    if (is_bad(values[i])) return false;
  return true;
}

// 8-bit floats differ in what is NaN, so their 256 codes are asked once.
bool codes_finite(DType type, const std::uint8_t* data, std::int64_t count) {
  bool finite[256];
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    finite[code] = std::isfinite(load_double(type, &byte, 0));
  }
  for (std::int64_t i = 0; i < count; ++i)
    if (!finite[data[i]]) return false;
  return true;
}

}  // namespace

bool all_finite(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::f32: return exponent_free<std::uint32_t>(tensor.raw(), tensor.size(), 0x7f800000u);
    case DType::f64: return exponent_free<std::uint64_t>(tensor.raw(), tensor.size(), 0x7ff0000000000000u);
    case DType::f16: return exponent_free<std::uint16_t>(tensor.raw(), tensor.size(), 0x7c00u);
    case DType::bf16: return exponent_free<std::uint16_t>(tensor.raw(), tensor.size(), 0x7f80u);
    case DType::f8e4m3fn: case DType::f8e4m3fnuz: case DType::f8e5m2: case DType::f8e5m2fnuz: case DType::f8e8m0:
      return codes_finite(tensor.dtype(), tensor.data<std::uint8_t>(), tensor.size());
    default: return true;
  }
}

bool is_mask(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    if (const double value = load_double(tensor.dtype(), tensor.raw(), i); std::isnan(value) || value > std::numeric_limits<double>::max())
      return false;
  return true;
}

std::vector<bool> all_finite(const std::vector<Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const Tensor& t : tensors) bytes += t.bytes();
  std::vector<char> finite(tensors.size());   // bytes, as threads may not share one
  spread(static_cast<std::int64_t>(tensors.size()), bytes, [&](std::int64_t part) {
    const auto i = static_cast<std::size_t>(part);
    finite[i] = all_finite(tensors[i]);
  });
  return {finite.begin(), finite.end()};
}

}  // namespace tenfold::ir
