// Scanner: reads the text forms of graphs, bodies, types and attributes token by token, with positions in its errors.
#pragma once

#include <string>
#include <string_view>

#include "ir/attributes.h"
#include "ir/type.h"

namespace tenfold::ir {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  char peek();                              // next character after white space and // comments, 0 at the end
  bool take(char c);                        // consumes c if it is next
  bool take(std::string_view word);         // consumes the exact text if it is next
  bool looking_at(std::string_view word);
  void expect(char c);
  void expect_end();
  std::string name();                       // letters, digits and _ . / : - $ @; or a quoted string
  std::string number();                     // the text of a number: digits, sign, '.', exponent, inf, nan
  std::string quoted();
  std::string until(std::string_view stops);   // raw text up to one of the characters, brackets balanced
  std::int64_t integer() { return to_int(number()); }
  std::int64_t to_int(const std::string& word);
  double to_double(const std::string& word);
  [[noreturn]] void bad(const std::string& what);
  std::size_t position() const { return at_; }

 private:
  void skip_space();
  char byte();
  std::string_view text_;
  std::size_t at_ = 0;
};

Attribute parse_attribute(Scanner& in);
ValueType parse_type(Scanner& in);
// A tensor literal: f32[2]{1,2}.
struct Body;
Body parse_body(Scanner& in);
Tensor parse_literal(Scanner& in);
Tensor parse_literal_values(Scanner& in, DType dtype, const Shape& shape);   // from '{' on

}  // namespace tenfold::ir
