// Dim expressions: interning and the normal form (a sorted sum of coefficient times sorted product of atoms).
#include "ir/dim.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/checked.h"
#include "ir/brief.h"
#include "ir/dim_expr.h"

namespace tenfold::ir {
using detail::Expr;
using detail::Op;
using detail::Term;
namespace {

constexpr std::size_t kMaxFactors = 1 << 19;   // in the terms of a product, before equal ones are merged

const char* function_name(Op op) {
  switch (op) {
    case Op::floor_div: return "floor_div";
    case Op::ceil_div: return "ceil_div";
    case Op::mod: return "mod";
    case Op::min: return "min";
    case Op::max: return "max";
    case Op::equal: return "equal";
    case Op::less: return "less";
    default: return "";
  }
}

// Nothing here is destroyed with the lock held: an expression that goes takes it.
struct Table {
  std::mutex mutex;
  std::unordered_map<std::string_view, std::weak_ptr<const Expr>> index;   // the key is the text of the expression itself
};
Table& table() {
  static Table& all = *new Table;   // outlives all static objects that hold Dims
  return all;
}

struct Interned : Expr {
  explicit Interned(Expr e) : Expr(std::move(e)) {}
  Interned(const Interned&) = delete;
  Interned& operator=(const Interned&) = delete;
  ~Interned() {
    std::lock_guard lock(table().mutex);
    const auto it = table().index.find(text);
    if (it != table().index.end() && it->second.expired()) table().index.erase(it);   // else another of this text is there by now
  }
};

Dim intern(Expr e) {
  std::shared_ptr<const Expr> found;
  std::lock_guard lock(table().mutex);
  auto& index = table().index;
  if (const auto it = index.find(e.text); it != index.end()) {
    found = it->second.lock();
    if (found) return Expr::dim(std::move(found));
    index.erase(it);   // one that waits for the lock to go
  }
  found = std::make_shared<Interned>(std::move(e));
  index.emplace(found->text, found);
  return Expr::dim(found);
}

const std::string& text_of(const Dim& atom) { return Expr::of(atom)->text; }
bool text_less(const Dim& a, const Dim& b) { return text_of(a) < text_of(b); }

// Before an expression is made: what it would take.
void expect_text(std::size_t size) {
  require(size <= kMaxDimText, ErrorKind::unsupported, "a shape expression would have ", size, " characters, ", kMaxDimText,
          " are the most; fixed shapes of inputs (--shapes) make it a number");
}

std::string term_text(const Term& t, bool first) {
  const std::uint64_t magnitude = unsigned_abs(t.coefficient);
  std::string out = first ? (t.coefficient < 0 ? "-" : "") : (t.coefficient < 0 ? " - " : " + ");
  if (t.atoms.empty()) return out + std::to_string(magnitude);
  if (magnitude != 1) out += std::to_string(magnitude) + "*";
  for (std::size_t i = 0; i < t.atoms.size(); ++i) out += (i ? "*" : "") + text_of(t.atoms[i]);
  return out;
}

std::size_t text_size(const Term& t) {   // at least that of term_text
  std::size_t size = 3 + std::to_string(t.coefficient).size();
  for (const Dim& atom : t.atoms) size += 1 + text_of(atom).size();
  return size;
}

std::vector<Term> terms_of(const Dim& d) {
  if (d.is_constant()) return d.constant() ? std::vector<Term>{{d.constant(), {}}} : std::vector<Term>{};
  const Expr* e = Expr::of(d);
  if (e->op == Op::sum) return e->terms;
  return {{1, {d}}};
}

bool atoms_less(const Term& x, const Term& y) {
  if (x.atoms.size() != y.atoms.size()) return x.atoms.size() > y.atoms.size();   // higher degree first, the constant last
  return std::lexicographical_compare(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(), text_less);
}

Dim from_terms(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(), atoms_less);
  std::vector<Term> merged;
  for (Term& t : terms) {
    if (!merged.empty() && merged.back().atoms == t.atoms) {
      merged.back().coefficient = checked_add(merged.back().coefficient, t.coefficient);
    } else {
      merged.push_back(std::move(t));
    }
  }
  std::erase_if(merged, [](const Term& t) { return t.coefficient == 0; });
  if (merged.empty()) return Dim(0);
  if (merged.size() == 1 && merged[0].atoms.empty()) return Dim(merged[0].coefficient);
  if (merged.size() == 1 && merged[0].coefficient == 1 && merged[0].atoms.size() == 1) return merged[0].atoms[0];
  require(merged.size() <= 256, ErrorKind::unsupported, "a shape expression has more than 256 terms");
  std::size_t size = 2;
  for (const Term& t : merged) size += text_size(t);
  expect_text(size);
  std::string text;
  for (std::size_t i = 0; i < merged.size(); ++i) text += term_text(merged[i], i == 0);
  text = merged.size() == 1 ? text : "(" + text + ")";
  return intern({.op = Op::sum, .name = {}, .args = {}, .terms = std::move(merged), .text = std::move(text)});
}

std::int64_t apply(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::floor_div:
    case Op::ceil_div:
    case Op::mod:
      require(b != 0, ErrorKind::invalid_model, "division by zero in a shape expression");
      if (op == Op::mod) return floor_mod(a, b);
      return op == Op::floor_div ? tenfold::floor_div(a, b) : tenfold::ceil_div(a, b);
    case Op::min: return std::min(a, b);
    case Op::max: return std::max(a, b);
    case Op::equal: return a == b;
    case Op::less: return a < b;
    default: fail(ErrorKind::internal, "not a function of two Dims");
  }
}

Dim call(Op op, std::vector<Dim> args) {
  std::size_t size = std::string_view(function_name(op)).size() + 2;
  for (const Dim& arg : args) size += arg.text_size() + 2;
  expect_text(size);
  std::string text = std::string(function_name(op)) + "(";
  for (std::size_t i = 0; i < args.size(); ++i) text += (i ? ", " : "") + args[i].text();
  text += ")";
  return intern({.op = op, .name = {}, .args = std::move(args), .terms = {}, .text = std::move(text)});
}

Dim function(Op op, Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) return Dim(apply(op, a.constant(), b.constant()));
  if (op == Op::equal && b.text() < a.text()) std::swap(a, b);
  return call(op, {a, b});
}

// Which of the two is larger (1: a, -1: b, 0: neither) if their difference is a number whatever the symbols are.
std::optional<int> constant_order(Dim a, Dim b) {
  const auto split = [](Dim d) {   // the constant term stands last
    std::vector<Term> terms = terms_of(d);
    std::int64_t constant = 0;
    if (!terms.empty() && terms.back().atoms.empty()) constant = terms.back().coefficient, terms.pop_back();
    return std::pair(std::move(terms), constant);
  };
  const auto same = [](const Term& x, const Term& y) { return x.coefficient == y.coefficient && x.atoms == y.atoms; };
  const auto [x, m] = split(a);
  const auto [y, n] = split(b);
  if (!std::equal(x.begin(), x.end(), y.begin(), y.end(), same)) return std::nullopt;
  return (m > n) - (m < n);
}

// min or max in one normal form: flat, sorted, of those that differ by a number only the one that counts, and without the min of
// a max (the max of a min) that has an argument with it in common.
Dim extremum(Op op, Dim a, Dim b) {
  std::vector<Dim> all, kept;
  for (Dim d : {a, b}) {
    const Expr* e = Expr::of(d);
    if (e && e->op == op) all.insert(all.end(), e->args.begin(), e->args.end());
    else all.push_back(d);
  }
  for (Dim d : all) {
    std::optional<int> order;
    for (std::size_t i = 0; i < kept.size() && !order; ++i) {
      order = constant_order(d, kept[i]);
      if (order && *order != 0 && (op == Op::max) == (*order > 0)) kept[i] = d;
    }
    if (!order) kept.push_back(d);
  }
  const std::vector<Dim> flat = kept;
  std::erase_if(kept, [&](Dim d) {
    const Expr* e = Expr::of(d);
    if (!e || e->op != (op == Op::max ? Op::min : Op::max)) return false;
    return std::any_of(e->args.begin(), e->args.end(), [&](Dim arg) { return std::find(flat.begin(), flat.end(), arg) != flat.end(); });
  });
  if (kept.size() == 1) return kept[0];
  require(kept.size() <= 256, ErrorKind::unsupported, "a shape expression is the ", function_name(op), " of more than 256 others");
  std::sort(kept.begin(), kept.end(), [](Dim x, Dim y) { return x.text() < y.text(); });
  return call(op, std::move(kept));
}

// a / b if every term of a divides by the single term b, exactly and provably.
bool divide_exactly(Dim a, Dim b, Dim& quotient) {
  const std::vector<Term> divisor = terms_of(b);
  if (divisor.size() != 1 || divisor[0].coefficient == 0) return false;
  std::vector<Term> result;
  for (Term t : terms_of(a)) {
    if (!divides(t.coefficient, divisor[0].coefficient) || t.coefficient % divisor[0].coefficient != 0) return false;
    t.coefficient /= divisor[0].coefficient;
    for (const Dim& atom : divisor[0].atoms) {
      auto it = std::find(t.atoms.begin(), t.atoms.end(), atom);
      if (it == t.atoms.end()) return false;
      t.atoms.erase(it);
    }
    result.push_back(std::move(t));
  }
  quotient = from_terms(std::move(result));
  return true;
}

}  // namespace

std::size_t detail::interned() {
  std::lock_guard lock(table().mutex);
  return table().index.size();
}

Dim Dim::symbol(std::string_view name) {
  require(!name.empty(), ErrorKind::invalid_argument, "a symbol needs a name");
  expect_text(name.size());
  return intern({.op = Op::symbol, .name = std::string(name), .args = {}, .terms = {}, .text = std::string(name)});
}

bool Dim::is_symbol() const { return expr_ && expr_->op == Op::symbol; }
std::size_t Dim::text_size() const { return expr_ ? expr_->text.size() : std::to_string(constant_).size(); }
std::string Dim::text() const {
  if (!expr_) return std::to_string(constant_);
  const std::string& t = expr_->text;
  return t.front() == '(' ? t.substr(1, t.size() - 2) : t;
}

Dim operator+(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) return Dim(checked_add(a.constant(), b.constant()));
  std::vector<Term> terms = terms_of(a);
  for (Term& t : terms_of(b)) terms.push_back(std::move(t));
  return from_terms(std::move(terms));
}
Dim operator-(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) return Dim(checked_sub(a.constant(), b.constant()));
  return a + Dim(-1) * b;
}
Dim operator*(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) return Dim(checked_mul(a.constant(), b.constant()));
  std::vector<Term> product;
  std::size_t factors = 0;
  const std::vector<Term> all = terms_of(a), others = terms_of(b);
  for (const Term& x : all)
    for (const Term& y : others) {
      factors += 1 + x.atoms.size() + y.atoms.size();
      require(factors <= kMaxFactors, ErrorKind::unsupported, "a product of two shape expressions has more than ", kMaxFactors,
              " factors in its terms; fixed shapes of inputs (--shapes) make it a number");
      Term t{checked_mul(x.coefficient, y.coefficient), x.atoms};
      t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(t.atoms.begin(), t.atoms.end(), text_less);
      product.push_back(std::move(t));
    }
  return from_terms(std::move(product));
}
Dim floor_div(Dim a, Dim b) {
  Dim quotient;
  if (b == Dim(1)) return a;
  if (divide_exactly(a, b, quotient)) return quotient;
  return function(Op::floor_div, a, b);
}
Dim ceil_div(Dim a, Dim b) {
  Dim quotient;
  if (b == Dim(1)) return a;
  if (divide_exactly(a, b, quotient)) return quotient;
  return function(Op::ceil_div, a, b);
}
Dim mod(Dim a, Dim b) {
  Dim quotient;
  if (divide_exactly(a, b, quotient)) return Dim(0);
  return function(Op::mod, a, b);
}
Dim min(Dim a, Dim b) { return extremum(Op::min, a, b); }
Dim max(Dim a, Dim b) { return extremum(Op::max, a, b); }
Dim equal(Dim a, Dim b) {
  if (const std::optional<int> order = constant_order(a, b)) return Dim(*order == 0);
  return function(Op::equal, a, b);
}
Dim less(Dim a, Dim b) {
  if (const std::optional<int> order = constant_order(a, b)) return Dim(*order < 0);
  return function(Op::less, a, b);
}

std::int64_t Dim::evaluate(const SymbolValues& values) const {
  if (!expr_) return constant_;
  if (expr_->op == Op::symbol) {
    auto it = values.find(expr_->name);
    require(it != values.end(), ErrorKind::invalid_argument, "dimension '", expr_->name, "' has no value");
    return it->second;
  }
  if (expr_->op != Op::sum) {
    std::int64_t result = expr_->args[0].evaluate(values);
    for (std::size_t i = 1; i < expr_->args.size(); ++i) result = apply(expr_->op, result, expr_->args[i].evaluate(values));
    return result;
  }
  std::int64_t sum = 0;
  for (const Term& t : expr_->terms) {
    std::int64_t value = t.coefficient;
    for (const Dim& atom : t.atoms) value = checked_mul(value, atom.evaluate(values));
    sum = checked_add(sum, value);
  }
  return sum;
}

Dim Dim::substitute(const std::map<std::string, Dim, std::less<>>& replacements) const {
  if (!expr_) return *this;
  if (expr_->op == Op::symbol) {
    auto it = replacements.find(expr_->name);
    return it == replacements.end() ? *this : it->second;
  }
  if (expr_->op == Op::sum) {
    Dim sum(0);
    for (const Term& t : expr_->terms) {
      Dim value(t.coefficient);
      for (const Dim& atom : t.atoms) value = value * atom.substitute(replacements);
      sum = sum + value;
    }
    return sum;
  }
  const auto both = [op = expr_->op](Dim x, Dim y) {
    switch (op) {
      case Op::floor_div: return floor_div(x, y);
      case Op::ceil_div: return ceil_div(x, y);
      case Op::mod: return mod(x, y);
      case Op::min: return min(x, y);
      case Op::max: return max(x, y);
      case Op::equal: return equal(x, y);
      default: return less(x, y);
    }
  };
  Dim result = expr_->args[0].substitute(replacements);
  for (std::size_t i = 1; i < expr_->args.size(); ++i) result = both(result, expr_->args[i].substitute(replacements));
  return result;
}

bool Dim::divisible_by(std::int64_t n) const {
  if (n == 1) return true;
  if (n <= 0) return false;
  const std::vector<Term> terms = terms_of(*this);
  return std::all_of(terms.begin(), terms.end(), [n](const Term& t) { return t.coefficient % n == 0; });
}

namespace {
void collect(const Dim& d, std::set<std::string>& names) {
  const Expr* e = Expr::of(d);
  if (!e) return;
  if (e->op == Op::symbol) names.insert(e->name);
  for (const Term& t : e->terms)
    for (const Dim& atom : t.atoms) collect(atom, names);
  for (const Dim& arg : e->args) collect(arg, names);
}
}  // namespace

std::vector<std::string> Dim::symbols() const {
  std::set<std::string> names;
  collect(*this, names);
  return {names.begin(), names.end()};
}

}  // namespace tenfold::ir
