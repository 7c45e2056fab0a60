// Conversions of rows; compiled with -O3, so that their loops are vectorized.
#include "windows/row_kernels.h"

#include <cstring>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "base/types/half.h"

namespace tenfold::windows {
namespace {

// Types of 16 bits that C++ has no arithmetic for.
struct F16 { std::uint16_t bits; };
struct Bf16 { std::uint16_t bits; };

template <class T>
T load(const T& value) { return value; }
float load(const F16& value) { return half_to_float(value.bits); }
float load(const Bf16& value) { return bf16_to_float(value.bits); }

template <class To>
struct Store {
  template <class From>
  static To of(From value) { return static_cast<To>(value); }
};
template <>
struct Store<F16> {
  template <class From>
  static F16 of(From value) {
    if constexpr (sizeof(From) > 2 && !std::is_same_v<From, float>)
      return {float_to_half(round_to_odd(static_cast<double>(value)))};
    else return {float_to_half(static_cast<float>(value))};
  }
};
template <>
struct Store<Bf16> {
  template <class From>
  static Bf16 of(From value) {
    if constexpr (sizeof(From) > 2 && !std::is_same_v<From, float>)
      return {float_to_bf16(round_to_odd(static_cast<double>(value)))};
    else return {float_to_bf16(static_cast<float>(value))};
  }
};

template <class From, class To>
void convert(const void* from, void* to, std::int64_t count) {
  const From* const in = static_cast<const From*>(from);
  To* const out = static_cast<To*>(to);
  for (std::int64_t i = 0; i < count; ++i) out[i] = Store<To>::of(load(in[i]));
}
template <std::size_t kBytes>
void copy(const void* from, void* to, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * kBytes);
}

template <class To>
ConvertRow convert_from(DType from) {
  switch (from) {
    case DType::u8: return convert<std::uint8_t, To>;
    case DType::u16: return convert<std::uint16_t, To>;
    case DType::i16: return convert<std::int16_t, To>;
    case DType::i32: return convert<std::int32_t, To>;
    case DType::f16: return convert<F16, To>;
    case DType::bf16: return convert<Bf16, To>;
    case DType::f32: return convert<float, To>;
    case DType::f64: return convert<double, To>;
    default: return nullptr;
  }
}

}  // namespace

ConvertRow row_to_f32(DType from) {
  switch (from) {
    case DType::f32: return copy<4>;
    case DType::boolean: return convert<std::uint8_t, float>;
    case DType::i8: return convert<std::int8_t, float>;
    case DType::u32: return convert<std::uint32_t, float>;
    case DType::i64: return convert<std::int64_t, float>;
    case DType::u64: return convert<std::uint64_t, float>;
    default: return convert_from<float>(from);
  }
}

ConvertRow row_converter(DType from, DType to) {
  if (convert_from<float>(from) == nullptr) return nullptr;
  if (from == to) switch (bits(from)) {
      case 8: return copy<1>;
      case 16: return copy<2>;
      case 32: return copy<4>;
      default: return copy<8>;
    }
  switch (to) {
    case DType::f32: return convert_from<float>(from);
    case DType::f64: return convert_from<double>(from);
    case DType::f16: return convert_from<F16>(from);
    case DType::bf16: return convert_from<Bf16>(from);
    default: return nullptr;
  }
}

void store_value(double value, DType type, void* to) {
  const auto whole = [&]<class T>(T) {
    constexpr double least = std::numeric_limits<T>::min(), largest = std::numeric_limits<T>::max();
    require(value >= least && value <= largest, ErrorKind::invalid_argument, "cval ", value, " is no value of type ",
            name(type));
    convert<double, T>(&value, to, 1);
  };
  switch (type) {
    case DType::u8: return whole(std::uint8_t{});
    case DType::u16: return whole(std::uint16_t{});
    case DType::i16: return whole(std::int16_t{});
    case DType::i32: return whole(std::int32_t{});
    case DType::f64: return static_cast<void>(std::memcpy(to, &value, sizeof value));
    default: row_converter(DType::f64, type)(&value, to, 1);
  }
}

}  // namespace tenfold::windows
