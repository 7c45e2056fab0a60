#include "protocol/v2_elements.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/checks.h"
#include "core/datatype.h"

namespace tenfold::server {
namespace {

namespace dom = simdjson::dom;

[[noreturn]] void refuse(const InferInput& input, const std::string& why) {
  throw RequestError(Code::invalid_argument, "Unable to parse 'data': input '" + input.name + "' of " +
      std::string(v2_name(input.dtype)) + " " + why);
}

template <class T>
T number(const dom::element& value, const InferInput& input) {
  if constexpr (std::is_same_v<T, bool>) {
    bool given = false;
    if (value.get(given) != simdjson::SUCCESS) refuse(input, "has an element that is neither true nor false");
    return given;
  } else if constexpr (std::is_floating_point_v<T>) {
    double given = 0;
    if (value.get(given) != simdjson::SUCCESS) refuse(input, "has an element that is no number");
    const T as_type = static_cast<T>(given);
    if (!std::isfinite(as_type)) refuse(input, "has an element beyond the range of the type");
    return as_type;
  } else {
    std::int64_t given = 0;
    std::uint64_t large = 0;
    const bool fits = value.get(given) == simdjson::SUCCESS ? std::in_range<T>(given)
                                                            : value.get(large) == simdjson::SUCCESS && std::in_range<T>(large);
    if (!fits) refuse(input, "has an element that is no integer, or is beyond the range of the type");
    return value.is_int64() ? static_cast<T>(given) : static_cast<T>(large);
  }
}

void check_count(const InferInput& input, std::size_t given) {
  const std::int64_t expected = checked_elements(input.shape, input.name);
  if (static_cast<std::int64_t>(given) != expected)
    throw RequestError(Code::invalid_argument, "Unable to parse 'data': Shape does not match true shape of 'data' field, of input '" +
                                                   input.name + "': expected " + std::to_string(expected) + " elements, got " +
                                                   std::to_string(given));
}

template <class Take>
void for_each(const dom::element& data, const Take& take) {   // as deep as the parser permits
  dom::array inside;
  if (data.get(inside) != simdjson::SUCCESS) return take(data);
  for (const dom::element& element : inside) for_each(element, take);
}

template <class T>
void read_numbers(const dom::element& data, InferInput& input, std::vector<std::shared_ptr<const void>>& memory) {
  const auto values = std::make_shared<std::vector<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>>();
  if (dom::array flat; data.get(flat) == simdjson::SUCCESS) values->reserve(flat.size());
  for_each(data, [&](const dom::element& value) { values->push_back(number<T>(value, input)); });
  check_count(input, values->size());
  input.pieces = {std::as_bytes(std::span(*values))};
  memory.push_back(values);
}

void read_strings(const dom::element& data, InferInput& input) {
  for_each(data, [&](const dom::element& value) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) refuse(input, "has an element that is no string");
    input.strings.emplace_back(text);
  });
  check_count(input, input.strings.size());
}

}  // namespace

void read_elements(const dom::element& data, InferInput& input, std::vector<std::shared_ptr<const void>>& memory) {
  if (!data.is_array()) refuse(input, "has 'data' that is no array");
  switch (input.dtype) {
    case DType::boolean: return read_numbers<bool>(data, input, memory);
    case DType::u8: return read_numbers<std::uint8_t>(data, input, memory);
    case DType::u16: return read_numbers<std::uint16_t>(data, input, memory);
    case DType::u32: return read_numbers<std::uint32_t>(data, input, memory);
    case DType::u64: return read_numbers<std::uint64_t>(data, input, memory);
    case DType::i8: return read_numbers<std::int8_t>(data, input, memory);
    case DType::i16: return read_numbers<std::int16_t>(data, input, memory);
    case DType::i32: return read_numbers<std::int32_t>(data, input, memory);
    case DType::i64: return read_numbers<std::int64_t>(data, input, memory);
    case DType::f32: return read_numbers<float>(data, input, memory);
    case DType::f64: return read_numbers<double>(data, input, memory);
    case DType::string: return read_strings(data, input);
    default:
      throw RequestError(Code::invalid_argument, "receiving " + std::string(v2_name(input.dtype)) +
          " data via JSON is not supported. Please "
                                                 "use the binary data format for input " + input.name);
  }
}

}  // namespace tenfold::server
