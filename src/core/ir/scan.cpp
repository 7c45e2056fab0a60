// The scanner behind every text form.
#include "ir/scan.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "base/check.h"
#include "base/types/element.h"

namespace tenfold::ir {

void Scanner::skip_space() {
  for (;;) {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    if (text_.substr(at_, 2) != "//") return;
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
}
char Scanner::peek() {
  skip_space();
  return at_ < text_.size() ? text_[at_] : '\0';
}
bool Scanner::take(char c) {
  if (peek() != c || c == '\0') return false;
  ++at_;
  return true;
}
bool Scanner::looking_at(std::string_view word) {
  skip_space();
  return text_.substr(at_, word.size()) == word;
}
bool Scanner::take(std::string_view word) {
  if (!looking_at(word)) return false;
  at_ += word.size();
  return true;
}
void Scanner::expect(char c) {
  if (!take(c)) bad(cat("'", c, "' expected"));
}
void Scanner::expect_end() {
  if (peek() != '\0') bad("unexpected text");
}
std::string Scanner::name() {
  if (peek() == '"') return quoted();
  const std::size_t start = at_;
  while (at_ < text_.size() &&
         (std::isalnum(static_cast<unsigned char>(text_[at_])) || std::string_view("_./:-$@").find(text_[at_]) != std::string_view::npos))
    ++at_;
  if (at_ == start) bad("a name expected");
  return std::string(text_.substr(start, at_ - start));
}
std::string Scanner::number() {
  skip_space();
  const std::size_t start = at_;
  while (at_ < text_.size() &&
         (std::isalnum(static_cast<unsigned char>(text_[at_])) || std::string_view("+-.").find(text_[at_]) != std::string_view::npos))
    ++at_;
  if (at_ == start) bad("a number expected");
  return std::string(text_.substr(start, at_ - start));
}
// Behind a backslash: "xff". Ends at its last digit.
char Scanner::byte() {
  unsigned value = 0;
  const std::size_t digits = std::min<std::size_t>(2, text_.size() - at_ - 1);
  const char* const first = text_.data() + at_ + 1;
  const auto [end, error] = std::from_chars(first, first + digits, value, 16);
  if (error != std::errc() || end != first + 2) bad("two hexadecimal digits expected after \\x");
  at_ += 2;
  return static_cast<char>(value);
}
std::string Scanner::quoted() {
  expect('"');
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
      ++at_;
      if (text_[at_] == 'x') out += byte();
      else out += text_[at_] == 'n' ? '\n' : text_[at_];
    } else {
      out += text_[at_];
    }
    ++at_;
  }
  if (at_ >= text_.size()) bad("the string has no end");
  ++at_;
  return out;
}
std::string Scanner::until(std::string_view stops) {
  skip_space();
  const std::size_t start = at_;
  for (int depth = 0; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (depth == 0 && stops.find(c) != std::string_view::npos) break;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return std::string(text_.substr(start, at_ - start));
}
std::int64_t Scanner::to_int(const std::string& word) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc{} && end == word.data() + word.size()) return value;
  std::uint64_t wide = 0;   // unsigned 64-bit literals above the signed range
  auto [end2, error2] = std::from_chars(word.data(), word.data() + word.size(), wide);
  if (error2 != std::errc{} || end2 != word.data() + word.size()) bad("an integer expected, found '" + word + "'");
  return static_cast<std::int64_t>(wide);
}
double Scanner::to_double(const std::string& word) {
  double value = 0;
  const char* first = word.data() + (word.front() == '+' ? 1 : 0);
  auto [end, error] = std::from_chars(first, word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) bad("a number expected, found '" + word + "'");
  return value;
}
void Scanner::bad(const std::string& what) {
  int line = 1;
  for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) line += text_[i] == '\n';
  const std::string near(text_.substr(at_, 24));
  fail(ErrorKind::invalid_model, cat("line ", line, ", position ", at_, " near '", near, "': ", what));
}

Tensor parse_literal_values(Scanner& in, DType dtype, const Shape& shape) {
  in.expect('{');
  const std::int64_t count = element_count(shape);
  if (dtype == DType::string) {
    std::vector<std::string> values;
    while (!in.take('}')) values.push_back(in.quoted()), in.take(',');
    return Tensor::strings(shape, std::move(values));
  }
  require(count <= std::int64_t{1} << 28, ErrorKind::invalid_model, "a literal of ", count, " elements is too large");
  Tensor result(dtype, shape);
  void* data = result.mutable_raw();
  std::int64_t i = 0;
  for (; !in.take('}'); ++i) {
    const std::string word = in.number();
    if (i >= count) in.bad(cat("more than ", count, " values"));
    if (is_float(dtype)) store_double(dtype, data, i, in.to_double(word));
    else store_int(dtype, data, i, word == "true" ? 1 : word == "false" ? 0 : in.to_int(word));
    in.take(',');
  }
  if (i != count) in.bad(cat(count, " values expected, found ", i));
  return result;
}

Tensor parse_literal(Scanner& in) {
  const ValueType type = parse_type(in);
  if (type.kind != ValueType::Kind::tensor || !is_constant(type.tensor.dims)) in.bad("a tensor of constant shape expected");
  return parse_literal_values(in, type.tensor.dtype, constants(type.tensor.dims));
}

}  // namespace tenfold::ir
