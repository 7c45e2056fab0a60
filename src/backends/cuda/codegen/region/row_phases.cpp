// Taking a body apart by the reductions that its values depend on.
#include "backends/cuda/codegen/region/row_phases.h"

#include <algorithm>

#include "backends/cuda/codegen/body_text.h"
#include "ops/body_interpret.h"

namespace tenfold::backends::cuda {
namespace {

using ir::Instr;

// How many reductions, one on another, a value depends on.
std::vector<int> levels_of(const ir::Body& body) {
  std::vector<int> level(body.inputs.size(), 0);
  for (const Instr& i : body.code) {
    const int n = ir::arity(i.prim);
    const int max = std::max({n > 0 ? level[i.a] : 0, n > 1 ? level[i.b] : 0, n > 2 ? level[i.c] : 0});
    level.push_back(max + (ir::is_reduction(i.prim) ? 1 : 0));
  }
  return level;
}

class Parts {
 public:
  Parts(const ir::Body& body, std::vector<bool> narrow) : body_(body), narrow_(std::move(narrow)), level_(levels_of(body)) {}

  const std::vector<bool>& narrow() const { return narrow_; }
  int level(int value) const { return level_[static_cast<std::size_t>(value)]; }
  int levels() const { return *std::max_element(level_.begin(), level_.end()); }
  const Instr* instr(int value) const { return value < inputs() ? nullptr : &body_.code[static_cast<std::size_t>(value - inputs())]; }
  int inputs() const { return static_cast<int>(body_.inputs.size()); }
  bool is_narrow(int value) const { return narrow_[static_cast<std::size_t>(value)]; }
  bool is_reduction(int value) const { return instr(value) && ir::is_reduction(instr(value)->prim); }

  // From inputs, reductions and, for elements, what is one number for each row. Constants are written where they are used.
  RowPart part(const std::vector<int>& requested, int own_level, bool of_elements) const {
    const auto is_given = [&](int v) {
      const Instr* i = instr(v);
      if (!i || ir::is_reduction(i->prim)) return true;
      if (kept_[static_cast<std::size_t>(v)]) return true;
      return i->prim != ir::Prim::constant && is_narrow(v) && (of_elements || level(v) < own_level);
    };
    const std::vector<bool> needed = closure(requested, is_given);
    RowPart p;
    p.computed = requested;
    std::vector<std::uint16_t> number(narrow_.size(), 0);
    for (int v = 0; v < static_cast<int>(narrow_.size()); ++v)
      if (needed[static_cast<std::size_t>(v)] && is_given(v)) {
        number[static_cast<std::size_t>(v)] = static_cast<std::uint16_t>(p.given.size());
        p.given.push_back(v), p.body.inputs.push_back(body_.type_of(v));
      }
    for (int v = inputs(); v < static_cast<int>(narrow_.size()); ++v) {
      if (!needed[static_cast<std::size_t>(v)] || is_given(v)) continue;
      Instr i = *instr(v);
      const int n = ir::arity(i.prim);
      i.a = n > 0 ? number[i.a] : std::uint16_t{0}, i.b = n > 1 ? number[i.b] : std::uint16_t{0},
      i.c = n > 2 ? number[i.c] : std::uint16_t{0};
      p.body.code.push_back(i);
      number[static_cast<std::size_t>(v)] = static_cast<std::uint16_t>(p.body.value_count() - 1);
    }
    for (int v : requested) p.body.outputs.push_back(number[static_cast<std::size_t>(v)]);
    return p;
  }
  // What is one number for each row and known once the reductions of this level are.
  RowPart numbers(int own_level) const {
    std::vector<int> requested;
    for (int v = inputs(); v < static_cast<int>(narrow_.size()); ++v)
      if (is_narrow(v) && level(v) == own_level && !is_reduction(v) && instr(v)->prim != ir::Prim::constant) requested.push_back(v);
    return part(requested, own_level, false);
  }

  // Dear values among what computes `first` that `later` needs, too.
  std::vector<int> worth_keeping(const std::vector<int>& first, const std::vector<int>& later) const {
    const auto is_given = [&](int v) { return !instr(v) || is_narrow(v) || kept_[static_cast<std::size_t>(v)]; };
    const std::vector<bool> now = closure(first, is_given), then = closure(later, is_given);
    std::vector<int> all;
    for (int v = inputs(); v < static_cast<int>(narrow_.size()); ++v)
      if (now[static_cast<std::size_t>(v)] && then[static_cast<std::size_t>(v)] && !is_given(v) && is_dear(*instr(v))) all.push_back(v);
    return all;
  }
  void keep(int v) { kept_[static_cast<std::size_t>(v)] = true; }

 private:
  static bool is_dear(const Instr& i) {
    if (i.dtype != DType::f32 && i.dtype != DType::f16 && i.dtype != DType::bf16) return false;
    return (i.prim >= ir::Prim::exp && i.prim <= ir::Prim::sigmoid) || (i.prim >= ir::Prim::sin && i.prim <= ir::Prim::atanh) ||
           i.prim == ir::Prim::pow;
  }
  template <class Given>
  std::vector<bool> closure(const std::vector<int>& requested, const Given& is_given) const {
    std::vector<bool> needed(narrow_.size(), false);
    for (int v : requested) needed[static_cast<std::size_t>(v)] = true;
    for (int v = static_cast<int>(narrow_.size()); v-- > inputs();)
      if (needed[static_cast<std::size_t>(v)] && !is_given(v)) each_operand(*instr(v), [&](std::uint16_t a) { needed[a] = true; });
    return needed;
  }
  template <class F>
  static void each_operand(const Instr& i, F&& f) {
    const int n = ir::arity(i.prim);
    if (n > 0) f(i.a);
    if (n > 1) f(i.b);
    if (n > 2) f(i.c);
  }
  const ir::Body& body_;
  std::vector<bool> narrow_, kept_ = std::vector<bool>(narrow_.size(), false);
  std::vector<int> level_;
};

}  // namespace

Verdict can_walk(const ir::Body& body, const std::vector<bool>& narrow_inputs) {
  const std::vector<bool> narrow = ops::narrow_values(body, narrow_inputs);
  ir::Body plain = body;
  for (Instr& i : plain.code) {
    if (!ir::is_reduction(i.prim)) continue;
    if (i.dtype != DType::f32 && i.dtype != DType::f16 && i.dtype != DType::bf16) return Verdict::no(cat("a reduction of ", name(i.dtype)));
    if (narrow[i.a]) return Verdict::no("what is reduced is one number for each row");
    i.prim = ir::Prim::neg;   // what is left can be printed as it is
  }
  return can_print(plain);
}

RowPhases row_phases(const ir::Body& body, const std::vector<bool>& narrow_inputs, bool keeps) {
  Parts parts(body, ops::narrow_values(body, narrow_inputs));
  RowPhases r{.narrow = parts.narrow(), .before = parts.numbers(0), .phases = {}, .results = {}};
  std::vector<int> results;
  for (std::uint16_t v : body.outputs)
    if (!parts.is_narrow(v)) results.push_back(v);
  const auto reduced_at = [&](int level, std::vector<int>* reductions) {
    std::vector<int> operands;
    for (int v = parts.inputs(); v < body.value_count(); ++v)
      if (parts.is_reduction(v) && parts.level(v) == level) {
        operands.push_back(parts.instr(v)->a);
        if (reductions) reductions->push_back(v);
      }
    return operands;
  };
  for (int level = 1; level <= parts.levels(); ++level) {
    RowPhase phase;
    std::vector<int> requested = reduced_at(level, &phase.reductions), later = results;
    for (int next = level + 1; next <= parts.levels(); ++next)
      for (int v : reduced_at(next, nullptr)) later.push_back(v);
    if (keeps) phase.kept = parts.worth_keeping(requested, later);
    r.reductions += static_cast<int>(requested.size());
    requested.insert(requested.end(), phase.kept.begin(), phase.kept.end());
    phase.elements = parts.part(requested, level, true);
    phase.behind = parts.numbers(level);
    for (int v : phase.kept) parts.keep(v);
    r.phases.push_back(std::move(phase));
  }
  r.results = parts.part(results, 0, true);
  return r;
}

}  // namespace tenfold::backends::cuda
