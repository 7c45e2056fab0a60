#include "text_requests/vector_form.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace tenfold::server {
namespace {

// Round to nearest even. Beyond the largest half, infinity.
std::uint16_t half(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const float size = std::fabs(value);
  if (size < 0x1p-14f) return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(size * 0x1p24f)));
  if (size >= 65520.0f) return static_cast<std::uint16_t>(sign | 0x7c00);
  bits &= 0x7fffffff;
  bits += 0xfff + (bits >> 13 & 1);
  return static_cast<std::uint16_t>(sign | (((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3ff)));
}

template <class T>
void append(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

std::string bytes_of(std::span<const float> vector, VectorType type) {
  std::string bytes;
  bytes.reserve(vector.size_bytes());
  if (type == VectorType::float32) return bytes.assign(reinterpret_cast<const char*>(vector.data()), vector.size_bytes());
  if (type == VectorType::float16) {
    for (const float value : vector) append(bytes, half(value));
  } else if (type == VectorType::int8) {
    float largest = 0;
    for (const float value : vector) largest = std::max(largest, std::fabs(value));
    for (const float value : vector) append(bytes, static_cast<std::int8_t>(largest > 0 ? std::nearbyint(value / largest * 127) : 0));
  } else {
    bytes.assign((vector.size() + 7) / 8, '\0');
    for (std::size_t i = 0; i < vector.size(); ++i)
      if (vector[i] > 0) bytes[i / 8] = static_cast<char>(static_cast<unsigned char>(bytes[i / 8]) | 0x80 >> i % 8);
  }
  return bytes;
}

void append_base64(std::string& out, std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  out.reserve(out.size() + bytes.size() * 4 / 3 + 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i) out += i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
}

template <class T>
void append_number(std::string& out, T value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

template <class T>
void append_list(std::string& out, std::string_view bytes) {
  out += '[';
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    if (at > 0) out += ',';
    append_number(out, static_cast<int>(value));
  }
  out += ']';
}

float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const float fraction = static_cast<float>(bits & 0x3ff);
  const float size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

}  // namespace

VectorForm read_vector_form(const JsonRequest& request) {
  VectorForm form;
  const std::string encoding = request.text_or("encoding_format", "float");
  form.base64 = encoding == "base64";
  if (!form.base64 && encoding != "float")
    throw TextError(TextFault::field, "'encoding_format' is '" + encoding + "', float or base64 was expected", "encoding_format");
  const std::string type = request.text_or("embed_dtype", "float32");
  constexpr std::string_view kTypes[] = {"float32", "float16", "int8", "binary"};
  const auto found = std::find(std::begin(kTypes), std::end(kTypes), type);
  if (found == std::end(kTypes))
    throw TextError(TextFault::field, "'embed_dtype' is '" + type + "', float32, float16, int8 or binary was expected", "embed_dtype");
  form.type = static_cast<VectorType>(found - std::begin(kTypes));
  return form;
}

void cut_and_normalize(std::vector<float>& vector, const VectorForm& form) {
  if (form.dimensions > 0 && static_cast<std::size_t>(form.dimensions) < vector.size())
    vector.resize(static_cast<std::size_t>(form.dimensions));
  if (!form.normalize) return;
  double sum = 0;
  for (const float value : vector) sum += static_cast<double>(value) * static_cast<double>(value);
  if (sum == 0) return;
  const double scale = 1 / std::sqrt(sum);
  for (float& value : vector) value = static_cast<float>(static_cast<double>(value) * scale);
}

void append_float(std::string& out, float value) {
  if (!std::isfinite(value)) throw TextError(TextFault::backend, "the model gave a number that is not finite");
  append_number(out, value);
}

void append_floats(std::string& out, std::span<const float> values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    append_float(out, values[i]);
  }
  out += ']';
}

void append_vector(std::string& out, std::span<const float> vector, const VectorForm& form) {
  if (!form.base64 && form.type == VectorType::float32) return append_floats(out, vector);
  for (const float value : vector)
    if (!std::isfinite(value)) throw TextError(TextFault::backend, "the model gave a number that is not finite");
  const std::string bytes = bytes_of(vector, form.type);
  if (form.base64) {
    out += '"';
    append_base64(out, bytes);
    out += '"';
  } else if (form.type == VectorType::float16) {
    std::vector<float> rounded;
    for (const float value : vector) rounded.push_back(from_half(half(value)));
    append_floats(out, rounded);
  } else if (form.type == VectorType::int8) {
    append_list<std::int8_t>(out, bytes);
  } else {
    append_list<std::uint8_t>(out, bytes);
  }
}

}  // namespace tenfold::server
