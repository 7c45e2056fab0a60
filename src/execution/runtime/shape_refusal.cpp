// What each profile allows, and which axes of two inputs disagree.
#include "runtime/shape_refusal.h"

#include <algorithm>

#include "base/checked.h"

namespace tenfold::runtime {
namespace {

const ir::Dim& dim_of(const plan::Program& program, std::size_t input, std::size_t axis) {
  return program.dims[static_cast<std::size_t>(program.inputs[input].dims[axis])];
}

// "1..8x64"; `fits`: whether the shape lies inside.
std::string range_text(const OpenTop& top, std::size_t input, const Shape& given, bool& fits) {
  std::string ranges;
  fits = true;
  for (std::size_t d = 0; d < given.size(); ++d) {
    const ir::Interval range = dim_of(*top.body.program, input, d).bounds(top.box);
    fits &= given[d] >= range.lower && given[d] <= range.upper;
    ranges += cat(d ? "x" : "", range.lower);
    if (range.upper != range.lower) ranges += cat("..", range.upper);
  }
  return ranges;
}

std::string extent_text(const ContextState& c, const plan::Program& program, std::size_t input, std::size_t axis) {
  const ir::Dim& dim = dim_of(program, input, axis);
  return cat("'", c.engine->bindings[input].name, "' axis ", axis, dim.is_constant() ? "" : cat(" ('", dim.text(), "')"), " is ",
             c.shapes.inputs[input][axis]);
}

// An axis of another input that is the same dimension and has another extent; or what the dimensions of others make of an axis of `b`.
std::string disagreement(const ContextState& c, const OpenTop& top, std::size_t b) {
  const plan::Program& program = *top.body.program;
  ir::SymbolValues known;
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    for (std::size_t d = 0; d < program.inputs[i].dims.size(); ++d)
      if (const ir::Dim& dim = dim_of(program, i, d); dim.is_symbol()) known.try_emplace(dim.text(), c.shapes.inputs[i][d]);
  for (std::size_t axis = 0; axis < program.inputs[b].dims.size(); ++axis) {
    const ir::Dim& mine = dim_of(program, b, axis);
    const std::int64_t given = c.shapes.inputs[b][axis];
    for (std::size_t i = 0; i < program.inputs.size(); ++i)
      for (std::size_t d = 0; d < program.inputs[i].dims.size(); ++d)
        if (!mine.is_constant() && dim_of(program, i, d) == mine && c.shapes.inputs[i][d] != given)
          return cat(": ", extent_text(c, program, b, axis), "; ", extent_text(c, program, i, d));
    const std::vector<std::string> symbols = mine.symbols();
    if (!std::all_of(symbols.begin(), symbols.end(), [&](const std::string& s) { return known.contains(s); })) continue;
    if (const std::int64_t expected = mine.evaluate(known); expected != given)
      return cat(": ", extent_text(c, program, b, axis), ", and the other inputs make it ", expected);
  }
  return "";
}

}  // namespace

std::string shape_refusal(const ContextState& c, std::size_t b) {
  if (!c.shapes.changed) return cat(": it is declared as ", declared_text(c.engine->bindings[b].shape));   // another was not even kept
  if (!c.shapes.set[b]) return "";
  const Shape& given = c.shapes.inputs[b];
  std::string allowed, why;
  bool inside = false;
  for (std::size_t p = 0; p < c.engine->programs.size(); ++p) {
    if (c.shapes.profile >= 0 && static_cast<int>(p) != c.shapes.profile) continue;
    bool fits = false;
    allowed += (allowed.empty() ? "" : ", ") + range_text(c.engine->programs[p], b, given, fits);
    inside |= fits;
    if (fits && why.empty()) why = disagreement(c, c.engine->programs[p], b);
  }
  const int profile = c.shapes.profile;
  if (!inside) return cat(": ", text(given), " lies outside ", profile < 0 ? "every profile: " : cat("profile ", profile, ": "), allowed);
  if (!why.empty()) return cat(": ", text(given), " disagrees with the shapes of other inputs", why);
  return cat(": no profile covers ", text(given), " together with the shapes of the other inputs; it allows here ", allowed);
}

}  // namespace tenfold::runtime
