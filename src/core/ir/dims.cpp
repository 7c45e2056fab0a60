// Lists of Dims, which are shapes: their text, products and broadcasting.
#include <algorithm>

#include "base/check.h"
#include "ir/brief.h"
#include "ir/dim.h"

namespace tenfold::ir {

namespace {
std::string shortened(std::string text) {
  constexpr std::size_t kMax = 200, kEnds = 80;
  if (text.size() <= kMax) return text;
  return cat(text.substr(0, kEnds), " ... (", text.size() - 2 * kEnds, " more characters) ... ", text.substr(text.size() - kEnds));
}
}  // namespace
std::string brief(Dim dim) { return shortened(dim.text()); }
std::string brief(std::span<const Dim> dims) { return shortened(text(dims)); }

Dim product(std::span<const Dim> dims) {
  Dim result(1);
  for (Dim d : dims) result = result * d;
  return result;
}
std::string text(std::span<const Dim> dims) {
  std::string out;
  for (std::size_t i = 0; i < dims.size(); ++i) out += (i ? "," : "") + dims[i].text();
  return out;
}
bool is_constant(std::span<const Dim> dims) {
  return std::all_of(dims.begin(), dims.end(), [](Dim d) { return d.is_constant(); });
}
std::vector<std::int64_t> constants(std::span<const Dim> dims) {
  std::vector<std::int64_t> out;
  for (Dim d : dims) {
    check(d.is_constant(), "dimension '", brief(d), "' is not constant");
    out.push_back(d.constant());
  }
  return out;
}
Dims to_dims(std::span<const std::int64_t> shape) { return {shape.begin(), shape.end()}; }
std::vector<std::int64_t> evaluate(std::span<const Dim> dims, const SymbolValues& values) {
  std::vector<std::int64_t> out;
  for (Dim d : dims) out.push_back(d.evaluate(values));
  return out;
}

Dim broadcast(Dim a, Dim b) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  require(!(a.is_constant() && b.is_constant()), ErrorKind::invalid_model, "dimensions ", brief(a), " and ", brief(b), " do not broadcast");
  if (a.is_constant()) return a;   // a constant above 1: the other must be equal to it, or 1
  if (b.is_constant()) return b;
  return max(a, b);
}
Dims broadcast(std::span<const Dim> a, std::span<const Dim> b) {
  Dims out(std::max(a.size(), b.size()), Dim(1));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Dim x = i < a.size() ? a[a.size() - 1 - i] : Dim(1), y = i < b.size() ? b[b.size() - 1 - i] : Dim(1);
    out[out.size() - 1 - i] = broadcast(x, y);
  }
  return out;
}

}  // namespace tenfold::ir
