// Converting element by element.
#include "formats/arrays/convert.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "formats/arrays/half_bits.h"
#include "tenfold/error.h"

namespace tenfold::formats {
namespace {

[[noreturn]] void bad(const std::string& what, const std::string& why) { throw Error(ErrorKind::io, what + ": " + why); }

std::string numpy_name(const NpyArray& a) {
  const char* const kind = a.kind == 'f' ? "float" : a.kind == 'i' ? "int" : a.kind == 'u' ? "uint" : a.kind == 'b' ? "bool" : "str";
  return a.kind == 'b' || a.kind == 'U' ? kind : kind + std::to_string(8 * a.width);
}

double largest_of(DType type) {
  switch (type) {
    case DType::f16: return 65504;
    case DType::bf16: return std::ldexp(255.0, 120);
    case DType::f32: return static_cast<double>(std::numeric_limits<float>::max());
    default: return std::numeric_limits<double>::max();
  }
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string element_text(std::int64_t i, const std::string& value) { return "element " + std::to_string(i) + " is " + value + ", which "; }

void put_float(Tensor& to, std::int64_t i, double value, const std::string& what) {
  if (std::isfinite(value) && std::fabs(value) > largest_of(to.dtype()))
    bad(what, element_text(i, number_text(value)) + std::string(name(to.dtype())) + " does not reach");
  switch (to.dtype()) {
    case DType::f64: to.mutable_data<double>()[i] = value; break;
    case DType::f32: to.mutable_data<float>()[i] = static_cast<float>(value); break;
    case DType::f16: to.mutable_data<std::uint16_t>()[i] = f16_bits(value); break;
    default: to.mutable_data<std::uint16_t>()[i] = bf16_bits(value);
  }
}

bool is_signed(DType type) { return type == DType::i64 || type == DType::i32 || type == DType::i16 || type == DType::i8; }

// `value` has the bits of an unsigned number where `positive`.
bool holds(DType type, std::int64_t value, bool positive) {
  if (type == DType::boolean) return value == 0 || value == 1;
  const int width = bits(type);
  if (!is_signed(type)) return (value >= 0 || positive) && (width == 64 || static_cast<std::uint64_t>(value) >> width == 0);
  if (value < 0 && positive) return false;
  return width == 64 || (value >= -(std::int64_t{1} << (width - 1)) && value < std::int64_t{1} << (width - 1));
}

void put_integer(Tensor& to, std::int64_t i, std::int64_t value, bool of_unsigned, const std::string& what) {
  if (!holds(to.dtype(), value, of_unsigned))
    bad(what, element_text(i, of_unsigned ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value)) +
                  std::string(name(to.dtype())) + " does not hold");
  const auto width = static_cast<std::size_t>(bits(to.dtype())) / 8;
  std::memcpy(static_cast<char*>(to.mutable_raw()) + static_cast<std::size_t>(i) * width, &value, width);   // little-endian
}

}  // namespace

Converted converted_to(const NpyArray& array, DType requested, const std::string& what) {
  const bool is_wide_float = requested == DType::f32 || requested == DType::f64 || requested == DType::f16 || requested == DType::bf16;
  const bool is_wide_integer = (is_integer(requested) && bits(requested) >= 8) || requested == DType::boolean;
  const bool converts = array.kind != 'U' && (is_wide_float || (is_wide_integer && array.kind != 'f'));
  if (!converts || is_form_of(array, requested)) return {to_tensor(array, requested, what), ""};
  const Tensor from = to_tensor(array, what);
  Tensor to(requested, from.shape());
  for (std::int64_t i = 0; i < from.size(); ++i)
    if (is_wide_float) put_float(to, i, from.as_double(i), what);
    else put_integer(to, i, from.as_int(i), from.dtype() == DType::u64, what);
  return {to, what + ": " + numpy_name(array) + " is converted to the model's " + std::string(name(requested))};
}

std::optional<Shape> with_leading_axes(const Shape& shape, const Shape& declared) {
  if (shape.size() >= declared.size()) return {};
  Shape longer(declared.size() - shape.size(), 1);
  longer.insert(longer.end(), shape.begin(), shape.end());
  for (std::size_t d = 0; d < declared.size(); ++d)
    if (declared[d] >= 0 && declared[d] != longer[d]) return {};
  return longer;
}

}  // namespace tenfold::formats
