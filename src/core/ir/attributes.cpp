// Typed access to attributes, and their text form.
#include "ir/attributes.h"

#include <charconv>
#include <cstring>

#include "base/check.h"
#include "base/types/utf8.h"
#include "ir/fault.h"
#include "ir/scan.h"

namespace tenfold::ir {
namespace {

constexpr const char* kTypeNames[] = {"an integer",       "a float",           "a string", "a list of integers",
                                      "a list of floats", "a list of strings", "a tensor"};

std::string number_text(double value, bool is_f32) {
  char buffer[64];
  auto [end, error] = is_f32 ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value))
                             : std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string out(buffer, end);
  if (out.find_first_of(".en") == std::string::npos) out += ".0";   // keeps floats apart from integers ("inf", "nan" have an n)
  return out;
}

// Text stays UTF-8: of values that are something else each byte above 0x7f is written as "\xff".
std::string quoted(const std::string& raw) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const bool is_text = is_utf8(raw);
  std::string out = "\"";
  for (char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (!is_text && byte >= 0x80) ((out += "\\x") += kDigits[byte >> 4]) += kDigits[byte & 15];
    else out += c;
  }
  return out + "\"";
}

template <class T, class F>
std::string list_text(const std::vector<T>& values, F&& element) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) out += (i ? "," : "") + element(values[i]);
  return out + "]";
}

std::string tensor_text(const Tensor& t) {
  std::string out = std::string(name(t.dtype())) + "[";
  for (std::size_t i = 0; i < t.shape().size(); ++i) out += (i ? "," : "") + std::to_string(t.shape()[i]);
  out += "]{";
  for (std::int64_t i = 0; i < t.size(); ++i) {
    if (i) out += ",";
    if (t.dtype() == DType::string) out += quoted(t.string_values()[static_cast<std::size_t>(i)]);
    else if (is_float(t.dtype())) out += number_text(t.as_double(i), t.dtype() != DType::f64);
    else out += std::to_string(t.as_int(i));
  }
  return out + "}";
}

Attribute parse_list(Scanner& in) {
  Ints ints;
  Floats floats;
  Strings strings;
  bool any_float = false;
  in.expect('[');
  while (!in.take(']')) {
    if (in.peek() == '"') {
      strings.push_back(in.quoted());
    } else {
      const std::string word = in.number();
      any_float = any_float || word.find_first_of(".en") != std::string::npos;
      floats.push_back(static_cast<float>(in.to_double(word)));
      if (!any_float) ints.push_back(in.to_int(word));
    }
    in.take(',');
  }
  if (!strings.empty()) return strings;
  if (any_float) return floats;
  return ints;
}

}  // namespace

Attributes::Attributes() = default;
Attributes::Attributes(std::initializer_list<std::pair<const std::string, Attribute>> values) : values_(values) {}
Attributes::Attributes(const Attributes&) = default;
Attributes::Attributes(Attributes&&) noexcept = default;
Attributes& Attributes::operator=(const Attributes&) = default;
Attributes& Attributes::operator=(Attributes&&) noexcept = default;
Attributes::~Attributes() = default;

bool Attributes::has(std::string_view name) const { return values_.find(name) != values_.end(); }
void Attributes::set(std::string name, Attribute value) { values_.insert_or_assign(std::move(name), std::move(value)); }

void Attributes::erase(std::string_view name) {
  if (auto it = values_.find(name); it != values_.end()) values_.erase(it);
}

template <class T>
const T& Attributes::get(std::string_view name) const {
  auto it = values_.find(name);
  validate(it != values_.end(), "attribute '", name, "' is missing");
  const T* value = std::get_if<T>(&it->second);
  validate(value != nullptr, "attribute '", name, "' is ", kTypeNames[it->second.index()], ", expected ",
           kTypeNames[Attribute(T{}).index()]);
  return *value;
}

std::int64_t Attributes::integer(std::string_view name) const { return get<std::int64_t>(name); }
std::int64_t Attributes::integer(std::string_view name, std::int64_t otherwise) const { return has(name) ? integer(name) : otherwise; }
float Attributes::number(std::string_view name) const { return get<float>(name); }
float Attributes::number(std::string_view name, float otherwise) const { return has(name) ? number(name) : otherwise; }
const std::string& Attributes::string(std::string_view name) const { return get<std::string>(name); }
std::string Attributes::string(std::string_view name, std::string_view otherwise) const {
  return has(name) ? string(name) : std::string(otherwise);
}
const Ints& Attributes::ints(std::string_view name) const { return get<Ints>(name); }
Ints Attributes::ints(std::string_view name, Ints otherwise) const { return has(name) ? ints(name) : std::move(otherwise); }
const Floats& Attributes::floats(std::string_view name) const { return get<Floats>(name); }
const Strings& Attributes::strings(std::string_view name) const { return get<Strings>(name); }
const Tensor& Attributes::tensor(std::string_view name) const { return get<Tensor>(name); }

bool equal(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  if (const Tensor* x = std::get_if<Tensor>(&a)) {
    const Tensor& y = std::get<Tensor>(b);
    if (x->dtype() != y.dtype() || x->shape() != y.shape()) return false;
    if (x->dtype() == DType::string) return x->string_values() == y.string_values();
    return std::memcmp(x->raw(), y.raw(), static_cast<std::size_t>(x->bytes())) == 0;
  }
  return text(a) == text(b);
}

bool equal(const Attributes& a, const Attributes& b) {
  auto x = a.begin(), y = b.begin();
  for (; x != a.end() && y != b.end(); ++x, ++y)
    if (x->first != y->first || !equal(x->second, y->second)) return false;
  return x == a.end() && y == b.end();
}

std::string text(const Attribute& value) {
  switch (value.index()) {
    case 0: return std::to_string(std::get<0>(value));
    case 1: return number_text(std::get<1>(value), true);
    case 2: return quoted(std::get<2>(value));
    case 3: return list_text(std::get<3>(value), [](std::int64_t v) { return std::to_string(v); });
    case 4: return list_text(std::get<4>(value), [](float v) { return number_text(v, true); });
    case 5: return list_text(std::get<5>(value), quoted);
    default: return tensor_text(std::get<Tensor>(value));
  }
}

std::string text(const Attributes& values) {
  std::string out;
  for (const auto& [name, value] : values) out += (out.empty() ? "" : " ") + name + "=" + text(value);
  return out;
}

Attribute parse_attribute(Scanner& in) {
  const char c = in.peek();
  if (c == '"') return in.quoted();
  if (c == '[') return parse_list(in);
  if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || in.looking_at("inf") || in.looking_at("nan")) {
    const std::string word = in.number();
    if (word.find_first_of(".en") == std::string::npos) return in.to_int(word);
    return static_cast<float>(in.to_double(word));
  }
  return parse_literal(in);
}

Attribute parse_attribute(std::string_view text) {
  Scanner in(text);
  Attribute value = parse_attribute(in);
  in.expect_end();
  return value;
}

}  // namespace tenfold::ir
