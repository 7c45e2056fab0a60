// Encodings of every element type, one switch for reading and one for writing.
#include "base/types/element.h"

#include <cmath>
#include <limits>

#include "base/types/half.h"

namespace tenfold {
namespace {

template <class T> T at(const void* data, std::int64_t i) { return static_cast<const T*>(data)[i]; }
template <class T> void put(void* data, std::int64_t i, T value) { static_cast<T*>(data)[i] = value; }

std::uint8_t load_packed(const void* data, std::int64_t i, int width) {
  const int per_byte = 8 / width;
  return at<std::uint8_t>(data, i / per_byte) >> (i % per_byte * width) & ((1 << width) - 1);
}
void store_packed(void* data, std::int64_t i, int width, std::uint8_t value) {
  const int per_byte = 8 / width, shift = static_cast<int>(i % per_byte) * width;
  const int mask = ((1 << width) - 1) << shift;
  auto& byte = static_cast<std::uint8_t*>(data)[i / per_byte];
  byte = static_cast<std::uint8_t>((byte & ~mask) | (value << shift & mask));
}
int sign_extend(int value, int width) { return value >= 1 << (width - 1) ? value - (1 << width) : value; }

std::int64_t truncate(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

// Negative values wrap around, as an integer cast has it.
std::uint64_t truncate_to_u64(double value) {
  if (value >= 0x1p64) return std::numeric_limits<std::uint64_t>::max();
  return value >= 0x1p63 ? static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(truncate(value));
}

}  // namespace

double load_double(DType type, const void* data, std::int64_t i) {
  switch (type) {
    case DType::f32: return at<float>(data, i);
    case DType::f64: return at<double>(data, i);
    case DType::f16: return half_to_float(at<std::uint16_t>(data, i));
    case DType::bf16: return bf16_to_float(at<std::uint16_t>(data, i));
    case DType::u64: return static_cast<double>(at<std::uint64_t>(data, i));
    case DType::f8e4m3fn: return small_to_float(kE4M3FN, at<std::uint8_t>(data, i));
    case DType::f8e4m3fnuz: return small_to_float(kE4M3FNUZ, at<std::uint8_t>(data, i));
    case DType::f8e5m2: return small_to_float(kE5M2, at<std::uint8_t>(data, i));
    case DType::f8e5m2fnuz: return small_to_float(kE5M2FNUZ, at<std::uint8_t>(data, i));
    case DType::f8e8m0: return e8m0_to_float(at<std::uint8_t>(data, i));
    case DType::f4e2m1: return small_to_float(kE2M1, load_packed(data, i, 4));
    default: return static_cast<double>(load_int(type, data, i));
  }
}

std::int64_t load_int(DType type, const void* data, std::int64_t i) {
  switch (type) {
    case DType::i64: return at<std::int64_t>(data, i);
    case DType::i32: return at<std::int32_t>(data, i);
    case DType::i16: return at<std::int16_t>(data, i);
    case DType::i8: return at<std::int8_t>(data, i);
    case DType::u64: return static_cast<std::int64_t>(at<std::uint64_t>(data, i));
    case DType::u32: return at<std::uint32_t>(data, i);
    case DType::u16: return at<std::uint16_t>(data, i);
    case DType::u8: return at<std::uint8_t>(data, i);
    case DType::boolean: return at<std::uint8_t>(data, i) != 0;
    case DType::i4: return sign_extend(load_packed(data, i, 4), 4);
    case DType::u4: return load_packed(data, i, 4);
    case DType::i2: return sign_extend(load_packed(data, i, 2), 2);
    case DType::u2: return load_packed(data, i, 2);
    case DType::string: case DType::count_: throw Error(ErrorKind::internal, "strings have no numeric value");
    default: return truncate(load_double(type, data, i));
  }
}

void store_double(DType type, void* data, std::int64_t i, double value) {
  const auto narrow = [&] { return round_to_odd(value); };   // so that narrow formats are rounded to once
  switch (type) {
    case DType::f32: return put(data, i, static_cast<float>(value));
    case DType::f64: return put(data, i, value);
    case DType::f16: return put(data, i, float_to_half(narrow()));
    case DType::bf16: return put(data, i, float_to_bf16(narrow()));
    case DType::f8e4m3fn: return put(data, i, float_to_small(kE4M3FN, narrow()));
    case DType::f8e4m3fnuz: return put(data, i, float_to_small(kE4M3FNUZ, narrow()));
    case DType::f8e5m2: return put(data, i, float_to_small(kE5M2, narrow()));
    case DType::f8e5m2fnuz: return put(data, i, float_to_small(kE5M2FNUZ, narrow()));
    case DType::f8e8m0: return put(data, i, float_to_e8m0(narrow()));
    case DType::f4e2m1: return store_packed(data, i, 4, float_to_small(kE2M1, narrow()));
    case DType::boolean: return put<std::uint8_t>(data, i, value != 0);
    case DType::u64: return put(data, i, truncate_to_u64(value));
    default: return store_int(type, data, i, truncate(value));
  }
}

void store_int(DType type, void* data, std::int64_t i, std::int64_t value) {
  switch (type) {
    case DType::i64: case DType::u64: return put(data, i, value);
    case DType::i32: case DType::u32: return put(data, i, static_cast<std::uint32_t>(value));
    case DType::i16: case DType::u16: return put(data, i, static_cast<std::uint16_t>(value));
    case DType::i8: case DType::u8: return put(data, i, static_cast<std::uint8_t>(value));
    case DType::boolean: return put<std::uint8_t>(data, i, value != 0);
    case DType::i4: case DType::u4: return store_packed(data, i, 4, static_cast<std::uint8_t>(value));
    case DType::i2: case DType::u2: return store_packed(data, i, 2, static_cast<std::uint8_t>(value));
    case DType::string: case DType::count_: throw Error(ErrorKind::internal, "strings have no numeric value");
    default: return store_double(type, data, i, static_cast<double>(value));
  }
}

}  // namespace tenfold
