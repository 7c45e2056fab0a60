// Dim: a dimension as an interned expression over symbols, in one normal form, so that equality is identity.
//
// A Dim is a constant, a symbol, a sum of products of these, or floor_div, ceil_div, mod, min, max, == and < of two Dims.
// Two Dims that are not provably equal compare different; the difference is checked when shapes are set.
//
// An expression lives as long as a Dim has it, alone or inside another: Dims count, and one table of the process finds by
// its text what lives. A table for each graph would have to compare expressions of two graphs, a model and its plan say,
// by another means than identity. Making, copying, comparing and destroying Dims is thread safe, as for shared_ptr.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::ir {

namespace detail { struct Expr; }

struct Interval {
  std::int64_t lower = 0, upper = 0;
  bool operator==(const Interval&) const = default;
};
// The longest expression, in characters of its text, which a few nodes of a model could double again and again. Plans hold
// shorter ones (plan/fields.h).
inline constexpr std::size_t kMaxDimText = 1 << 14;
inline constexpr std::int64_t kUnbounded = std::int64_t{1} << 48;   // the largest extent that any symbol may take

using SymbolValues = std::map<std::string, std::int64_t, std::less<>>;
using SymbolBounds = std::map<std::string, Interval, std::less<>>;   // a box; symbols not named lie in [0, kUnbounded]

// Operations throw `unsupported` rather than make an expression of more than kMaxDimText characters or 256 terms.
class Dim {
 public:
  Dim() = default;
  Dim(std::int64_t constant) : constant_(constant) {}   // NOLINT: constants are Dims
  static Dim symbol(std::string_view name);
  static Dim parse(std::string_view text);              // what text() prints; throws invalid_model

  bool is_constant() const { return expr_ == nullptr; }
  std::int64_t constant() const { return constant_; }   // only if is_constant()
  bool is_symbol() const;
  std::size_t text_size() const;                        // at least the length of text(), without making it
  std::string text() const;                             // "batch", "2*batch*sequence + 1", "floor_div(w - 1, 2)"
  std::vector<std::string> symbols() const;             // sorted, each once

  std::int64_t evaluate(const SymbolValues& values) const;   // throws on a missing symbol, overflow or division by zero
  Interval bounds(const SymbolBounds& box) const;            // a safe enclosure
  bool divisible_by(std::int64_t n) const;                   // provably, from the form alone
  Dim substitute(const std::map<std::string, Dim, std::less<>>& replacements) const;

  bool operator==(const Dim& other) const { return constant_ == other.constant_ && expr_ == other.expr_; }
  friend Dim operator+(Dim a, Dim b);
  friend Dim operator-(Dim a, Dim b);
  friend Dim operator*(Dim a, Dim b);
  friend Dim floor_div(Dim a, Dim b);
  friend Dim ceil_div(Dim a, Dim b);
  friend Dim mod(Dim a, Dim b);
  friend Dim min(Dim a, Dim b);
  friend Dim max(Dim a, Dim b);
  friend Dim equal(Dim a, Dim b);   // 1 or 0
  friend Dim less(Dim a, Dim b);    // 1 or 0

 private:
  friend struct detail::Expr;
  std::int64_t constant_ = 0;
  std::shared_ptr<const detail::Expr> expr_;   // null: a constant
};

using Dims = std::vector<Dim>;
Dim product(std::span<const Dim> dims);
std::string text(std::span<const Dim> dims);                       // "batch,128,384"
bool is_constant(std::span<const Dim> dims);
std::vector<std::int64_t> constants(std::span<const Dim> dims);    // requires is_constant
Dims to_dims(std::span<const std::int64_t> shape);
std::vector<std::int64_t> evaluate(std::span<const Dim> dims, const SymbolValues& values);

// The numpy broadcast of two dimensions: equal, or one is 1; provably unequal constants throw; anything else becomes
// max(a, b), to be checked when shapes are set.
Dim broadcast(Dim a, Dim b);
Dims broadcast(std::span<const Dim> a, std::span<const Dim> b);

}  // namespace tenfold::ir
