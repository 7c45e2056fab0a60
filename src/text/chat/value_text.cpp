// Values as text: as Python's str(), repr() and json.dumps() write them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "text/chars.h"
#include "text/chat/value.h"
#include "text/fail.h"
#include "text/tokenizers/unicode/general_category.h"

namespace tenfold::chat {

using tokenizing::fail;

namespace {

// The shortest digits that give the number again; an exponent below 1e-4 and from 1e16 on.
std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 400> text{};
  const double size = std::abs(value);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string written(text.data(), end.ptr);
  return fixed && written.find('.') == std::string::npos ? written + ".0" : written;
}

char hex(unsigned digit) { return "0123456789abcdef"[digit & 15]; }
std::string hex4(unsigned value) { return {hex(value >> 12), hex(value >> 8), hex(value >> 4), hex(value)}; }

std::string hex8(char32_t value) { return hex4(value >> 16) + hex4(value & 0xFFFF); }

// What Python writes as it is: letters, marks, numbers, signs and the space.
bool printable(char32_t c) {
  using tokenizing::bit;
  using tokenizing::Category;
  constexpr std::uint32_t kHidden = bit(Category::Zs) | bit(Category::Zl) | bit(Category::Zp) | bit(Category::Cc) | bit(Category::Cf) |
                                    bit(Category::Co) | bit(Category::Cn);
  return c == ' ' || (tokenizing::Categories::tables().of(c) & kHidden) == 0;
}

std::string quoted_text(const std::string& text) {
  const char32_t quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out;
  tokenizing::append_utf8(quote, out);
  for (const char32_t c : tokenizing::scalars(text)) {
    if (c == quote || c == '\\')
      out += {'\\', static_cast<char>(c)};
    else if (c == '\n' || c == '\r' || c == '\t')
      out += {'\\', c == '\n' ? 'n' : c == '\r' ? 'r' : 't'};
    else if (printable(c))
      tokenizing::append_utf8(c, out);
    else
      out += c < 0x100 ? "\\x" + hex4(c).substr(2) : c < 0x10000 ? "\\u" + hex4(c) : "\\U" + hex8(c);
  }
  return out += static_cast<char>(quote);
}

std::string json_text(const std::string& text, bool ascii) {
  std::string out = "\"";
  for (const char32_t c : tokenizing::scalars(text)) {
    constexpr std::string_view kNamed = "\"\\\n\r\t\b\f", kNames = "\"\\nrtbf";
    const std::size_t named = c < 128 ? kNamed.find(static_cast<char>(c)) : std::string_view::npos;
    if (named != std::string_view::npos)
      out += {'\\', kNames[named]};
    else if (c < 32 || (ascii && c > 126 && c < 0x10000))
      out += "\\u" + hex4(c);
    else if (ascii && c >= 0x10000)
      out += "\\u" + hex4(0xD800 + ((c - 0x10000) >> 10)) + "\\u" + hex4(0xDC00 + ((c - 0x10000) & 0x3FF));
    else
      tokenizing::append_utf8(c, out);
  }
  return out + '"';
}

struct JsonWriter {
  const JsonStyle& style;
  std::string out;

  void line(int depth) {
    if (style.indent >= 0) out += '\n' + std::string(static_cast<std::size_t>(style.indent * depth), ' ');
  }
  template <class All, class Write>
  void block(char open, const All& all, char close, int depth, const Write& write) {
    out += open;
    bool first = true;
    for (const auto& one : all) {
      if (!first) out += style.comma;
      first = false;
      line(depth + 1), write(one);
      if (out.size() > static_cast<std::size_t>(Value::kLargest))
        fail(ErrorKind::invalid_argument, "JSON of more than " + std::to_string(Value::kLargest) + " bytes");
    }
    if (!first) line(depth);
    out += close;
  }
  void write(const Value& value, int depth) {
    if (value.is_none()) {
      out += "null";
    } else if (const bool* flag = value.get<bool>()) {
      out += *flag ? "true" : "false";
    } else if (value.get<double>() && !std::isfinite(value.real())) {
      out += std::isnan(value.real()) ? "NaN" : value.real() > 0 ? "Infinity" : "-Infinity";
    } else if (value.is_number()) {
      out += text_of(value);
    } else if (const std::string* text = value.text()) {
      out += json_text(*text, style.ascii);
    } else if (const List* items = value.items()) {
      block('[', *items, ']', depth, [&](const Value& one) { write(one, depth + 1); });
    } else if (value.pairs()) {
      Items pairs = *value.pairs();
      if (style.sorted)
        std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return compare(a.first, b.first) < 0; });
      block('{', pairs, '}', depth, [&](const auto& one) {
        out += one.first.text() ? json_text(*one.first.text(), style.ascii) : '"' + key(one.first) + '"';
        out += style.colon, write(one.second, depth + 1);
      });
    } else {
      fail(ErrorKind::invalid_argument, std::string("JSON has no values of the type '") + value.type() + "'");
    }
  }
  std::string key(const Value& value) {  // numbers and flags become text
    JsonWriter other{style, ""};
    other.write(value, 0);
    return other.out;
  }
};

}  // namespace

std::string quoted(const Value& value) {
  if (const std::string* text = value.text()) return quoted_text(*text);
  std::string out;
  const auto add = [&](const std::string& piece) { out += (out.empty() ? "" : ", ") + piece; };
  if (const List* items = value.items()) {
    for (const Value& one : *items) add(quoted(one));
    if (value.type() == std::string_view("list")) return "[" + out + "]";
    return "(" + out + (items->size() == 1 ? ",)" : ")");
  }
  if (const Items* pairs = value.pairs()) {
    for (const auto& [key, one] : *pairs) add(quoted(key) + ": " + quoted(one));
    return "{" + out + "}";
  }
  return value.is_undefined() ? "Undefined" : text_of(value);
}

std::string text_of(const Value& value) {
  if (const std::string* text = value.text()) return *text;
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (const bool* flag = value.get<bool>()) return *flag ? "True" : "False";
  if (value.is_integer()) return std::to_string(value.integer());
  if (value.is_number()) return real_text(value.real());
  if (value.space()) return "<Namespace>";
  if (const Function* function = value.function()) return "<function " + function->name + ">";
  return quoted(value);
}

std::string json_of(const Value& value, const JsonStyle& style) {
  JsonWriter writer{style, ""};
  writer.write(value, 0);
  return std::move(writer.out);
}

}  // namespace tenfold::chat
