// Reading a Dim back from its text form: a recursive-descent parser with a depth limit.
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <numeric>

#include "base/checked.h"
#include "ir/dim.h"

namespace tenfold::ir {
namespace {

struct Parser {
  std::string_view text;
  std::size_t at = 0;
  int depth = 0;

  [[noreturn]] void bad(const char* what) {
    fail(ErrorKind::invalid_model, cat("dimension '", text, "', position ", at, ": ", what));
  }
  void space() { while (at < text.size() && text[at] == ' ') ++at; }
  bool take(char c) {
    space();
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  }
  Dim sum() {
    if (++depth > 64) bad("nested too deeply");
    Dim result = product(take('-'));
    for (;;) {
      if (take('+')) result = result + product(false);
      else if (take('-')) result = result + product(true);
      else break;
    }
    --depth;
    return result;
  }
  Dim product(bool is_negative) {
    space();
    Dim result = at_digit() ? Dim(number(is_negative)) : is_negative ? Dim(-1) * atom() : atom();
    while (take('*')) result = result * atom();
    return result;
  }
  bool at_digit() const { return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); }
  // The sign belongs to the number: -2^63 has no positive.
  std::int64_t number(bool is_negative) {
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc{} || value > unsigned_abs(std::numeric_limits<std::int64_t>::min()) - !is_negative) bad("number too large");
    at = static_cast<std::size_t>(end - text.data());
    return static_cast<std::int64_t>(is_negative ? 0 - value : value);
  }
  Dim atom() {
    space();
    if (take('(')) {
      Dim inner = sum();
      if (!take(')')) bad("')' expected");
      return inner;
    }
    if (at_digit()) return Dim(number(false));
    const std::size_t start = at;
    while (at < text.size() && std::string_view("+-*(), ").find(text[at]) == std::string_view::npos) ++at;
    if (at == start) bad("a number or a name expected");
    const std::string_view name = text.substr(start, at - start);
    if (at < text.size() && text[at] == '(') return call(name);
    return Dim::symbol(name);
  }
  // min and max take two or more, the others two.
  Dim call(std::string_view name) {
    ++at;
    std::vector<Dim> args{sum()};
    while (take(',')) args.push_back(sum());
    if (!take(')')) bad("')' expected");
    if (args.size() < 2 || (args.size() > 2 && name != "min" && name != "max")) bad("two arguments expected");
    struct Row { std::string_view name; Dim (*make)(Dim, Dim); };
    static constexpr std::array<Row, 7> kRows{{{"floor_div", [](Dim x, Dim y) { return floor_div(x, y); }},
                                               {"ceil_div", [](Dim x, Dim y) { return ceil_div(x, y); }},
                                               {"mod", [](Dim x, Dim y) { return mod(x, y); }},
                                               {"min", [](Dim x, Dim y) { return min(x, y); }},
                                               {"max", [](Dim x, Dim y) { return max(x, y); }},
                                               {"equal", [](Dim x, Dim y) { return equal(x, y); }},
                                               {"less", [](Dim x, Dim y) { return less(x, y); }}}};
    for (const Row& row : kRows)
      if (row.name == name) return std::accumulate(args.begin() + 1, args.end(), args[0], row.make);
    bad("unknown function");
  }
};

}  // namespace

Dim Dim::parse(std::string_view text) {
  Parser parser{text};
  Dim result = parser.sum();
  parser.space();
  if (parser.at != text.size()) parser.bad("unexpected text");
  return result;
}

}  // namespace tenfold::ir
