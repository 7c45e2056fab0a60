// A recursive-descent evaluator with a depth limit. Names come from models: whatever is no number, sign or call is a symbol.
#include "report/extent.h"

#include <algorithm>
#include <charconv>

namespace tenfold::cli {
namespace {

using Extent = std::optional<std::int64_t>;
constexpr int kMaxDepth = 64;

Extent add(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  return __builtin_add_overflow(a, b, &r) ? Extent() : Extent(r);
}
Extent multiply(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? Extent() : Extent(r);
}

Extent floor_div(std::int64_t a, std::int64_t b) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) return {};
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

Extent call(std::string_view name, std::int64_t a, std::int64_t b) {
  if (name == "min") return std::min(a, b);
  if (name == "max") return std::max(a, b);
  if (name == "equal") return a == b;
  if (name == "less") return a < b;
  const Extent quotient = floor_div(a, b);
  if (!quotient) return {};
  if (name == "floor_div") return quotient;
  if (name == "ceil_div") return *quotient + (*quotient * b != a);
  if (name == "mod") return a - *quotient * b;
  return {};
}

struct Reader {
  std::string_view text;
  const Sizes& sizes;
  std::size_t at = 0;
  int depth = 0;

  bool take(char c) {
    while (at < text.size() && text[at] == ' ') ++at;
    if (at >= text.size() || text[at] != c) return false;
    return ++at, true;
  }
  Extent sum() {
    if (++depth > kMaxDepth) return {};
    const bool negative = take('-');
    Extent result = product();
    if (negative && result) result = multiply(-1, *result);
    while (result) {
      const bool minus = take('-');
      if (!minus && !take('+')) break;
      Extent next = product();
      if (next && minus) next = multiply(-1, *next);
      result = next ? add(*result, *next) : Extent();
    }
    --depth;
    return result;
  }
  Extent product() {
    Extent result = atom();
    while (result && take('*')) {
      const Extent next = atom();
      result = next ? multiply(*result, *next) : Extent();
    }
    return result;
  }
  Extent atom() {
    if (take('(')) {
      const Extent inner = sum();
      return take(')') ? inner : Extent();
    }
    const std::size_t start = at;
    while (at < text.size() && std::string_view("+-*(), ").find(text[at]) == std::string_view::npos) ++at;
    const std::string_view word = text.substr(start, at - start);
    if (word.empty()) return {};
    if (at < text.size() && text[at] == '(') return arguments(word);
    std::int64_t number = 0;
    if (const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        error == std::errc{} && end == word.data() + word.size())
      return number;
    const auto size = sizes.find(word);
    return size == sizes.end() ? Extent() : Extent(size->second);
  }
  Extent arguments(std::string_view name) {
    ++at;
    Extent result = sum();
    while (result && take(',')) {
      const Extent next = sum();
      result = next ? call(name, *result, *next) : Extent();
    }
    return take(')') ? result : Extent();
  }
};

}  // namespace

Extent extent_at(std::string_view text, const Sizes& sizes) {
  Reader reader{text, sizes};
  const Extent result = reader.sum();
  return reader.take(' ') || reader.at != text.size() ? Extent() : result;
}

std::vector<Extent> extents_at(std::string_view dims_text, const Sizes& sizes) {
  std::vector<Extent> extents;
  int depth = 0;
  for (std::size_t start = 0, at = 0; at <= dims_text.size() && !dims_text.empty(); ++at) {
    const char c = at < dims_text.size() ? dims_text[at] : ',';
    depth += (c == '(') - (c == ')');
    if (c != ',' || depth > 0) continue;
    extents.push_back(extent_at(dims_text.substr(start, at - start), sizes));
    start = at + 1;
  }
  return extents;
}

}  // namespace tenfold::cli
