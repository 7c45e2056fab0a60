#include "protocol/json_text.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/datatype.h"
#include "core/status.h"

namespace tenfold::server {
namespace {

[[noreturn]] void refuse(std::string_view tensor, const std::string& why) {
  throw RequestError(Code::invalid_argument, "output '" + std::string(tensor) + "' " + why + ": request it with \"binary_data\": true");
}

template <class T>
void append_number(std::string& out, T value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  out.append(text, end);
  if (std::is_floating_point_v<T> && std::string_view(text, end).find_first_of(".e") == std::string_view::npos) out += ".0";
}

template <class T>
void append_numbers(std::string& out, const std::byte* data, std::int64_t count, std::string_view tensor) {
  for (std::int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, data + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) refuse(tensor, "holds NaN or infinity, which JSON has no numbers for");
    if (i > 0) out += ',';
    append_number(out, value);
  }
}

void append_booleans(std::string& out, const std::byte* data, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out += (i > 0 ? "," : ""), out += data[i] != std::byte{0} ? "true" : "false";
}

}  // namespace

std::string json_shape(const Shape& shape) {
  std::string out = "[";
  for (const std::int64_t extent : shape) out += (out.size() > 1 ? "," : "") + std::to_string(extent);
  return out + "]";
}

std::string json_error(std::string_view message) { return "{\"error\":" + json_string(message) + "}"; }

void append_elements(std::string& out, DType dtype, const std::byte* data, std::int64_t count, std::string_view tensor) {
  switch (dtype) {
    case DType::boolean: return append_booleans(out, data, count);
    case DType::u8: return append_numbers<std::uint8_t>(out, data, count, tensor);
    case DType::u16: return append_numbers<std::uint16_t>(out, data, count, tensor);
    case DType::u32: return append_numbers<std::uint32_t>(out, data, count, tensor);
    case DType::u64: return append_numbers<std::uint64_t>(out, data, count, tensor);
    case DType::i8: return append_numbers<std::int8_t>(out, data, count, tensor);
    case DType::i16: return append_numbers<std::int16_t>(out, data, count, tensor);
    case DType::i32: return append_numbers<std::int32_t>(out, data, count, tensor);
    case DType::i64: return append_numbers<std::int64_t>(out, data, count, tensor);
    case DType::f32: return append_numbers<float>(out, data, count, tensor);
    case DType::f64: return append_numbers<double>(out, data, count, tensor);
    default:
      throw RequestError(Code::invalid_argument, "sending " + std::string(v2_name(dtype)) +
          " data via JSON is not supported. Please use the binary data format for output '" + std::string(tensor) +
          "': request it with \"binary_data\": true");
  }
}

void append_elements(std::string& out, const std::vector<std::string>& strings, std::string_view tensor) {
  for (std::size_t i = 0; i < strings.size(); ++i) {
    if (!simdjson::validate_utf8(strings[i])) refuse(tensor, "holds bytes that are not UTF-8");
    if (i > 0) out += ',';
    append_string(out, strings[i]);
  }
}

}  // namespace tenfold::server
