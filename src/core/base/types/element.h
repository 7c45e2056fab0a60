// Access to one element of any numeric type, sub-byte types included: the only place that knows their encodings.
#pragma once

#include <cstdint>

#include "tenfold/error.h"
#include "tenfold/tensor.h"

namespace tenfold {

double load_double(DType type, const void* data, std::int64_t index);
std::int64_t load_int(DType type, const void* data, std::int64_t index);       // floats truncate, saturating at int64
void store_double(DType type, void* data, std::int64_t index, double value);   // integers truncate and wrap, floats round to nearest even
void store_int(DType type, void* data, std::int64_t index, std::int64_t value);

// Calls f with a value of the C++ type that holds `type` in memory: f(float{}), f(std::int8_t{}) ...
// Only for types that C++ has; narrow floats and sub-byte types go through load_double.
template <class F>
decltype(auto) with_native_type(DType type, F&& f) {
  switch (type) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::i64: return f(std::int64_t{});
    case DType::i32: return f(std::int32_t{});
    case DType::i16: return f(std::int16_t{});
    case DType::i8: return f(std::int8_t{});
    case DType::u64: return f(std::uint64_t{});
    case DType::u32: return f(std::uint32_t{});
    case DType::u16: return f(std::uint16_t{});
    case DType::u8: return f(std::uint8_t{});
    case DType::boolean: return f(bool{});
    default: throw Error(ErrorKind::unsupported, "no native C++ type for " + std::string(name(type)));
  }
}
inline bool has_native_type(DType type) {
  switch (type) {
    case DType::f32: case DType::f64: case DType::i64: case DType::i32: case DType::i16: case DType::i8:
    case DType::u64: case DType::u32: case DType::u16: case DType::u8: case DType::boolean: return true;
    default: return false;
  }
}

}  // namespace tenfold
