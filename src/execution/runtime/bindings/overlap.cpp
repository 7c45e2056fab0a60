// Bindings that share memory: refused, but for an output that takes the place of an input which nobody reads any more.
#include <algorithm>

#include "backends/backend.h"
#include "plan/step_problem.h"
#include "runtime/context.h"

namespace tenfold::runtime {
namespace {

using plan::Operand;
using plan::Program;
using plan::Space;

bool is_binding(const Operand& o, std::size_t b) { return o.at.space == Space::binding && static_cast<std::size_t>(o.at.index) == b; }
bool touches(const std::vector<Operand>& side, std::size_t b) {
  return std::any_of(side.begin(), side.end(), [&](const Operand& o) { return is_binding(o, b); });
}

// The step's result in binding `out` lies element for element where its operand in binding `in` does, and may.
bool replaces(const EngineState& engine, const OpenTop& top, const OpenStep& open, std::size_t in, std::size_t out) {
  const plan::Step& step = *open.step;
  const bool kernel = open.tactic && open.tactic->may_alias;
  if (!kernel && step.kind != plan::StepKind::copy) return false;
  const backends::Problem problem =
      kernel ? plan::step_problem(step, top.body.program->dims, top.box, engine.backend->info(), *engine.registry) : backends::Problem{};
  for (std::size_t o = 0; o < step.out.size(); ++o)
    for (std::size_t i = 0; i < step.in.size(); ++i) {
      const Operand &result = step.out[o], &operand = step.in[i];
      if (!is_binding(result, out) || !is_binding(operand, in)) continue;
      const bool same = result.at.offset == operand.at.offset && result.dims == operand.dims && result.strides == operand.strides &&
                        bits(result.dtype) == bits(operand.dtype);
      if (!same || (kernel && !open.tactic->may_alias(problem, static_cast<int>(i), static_cast<int>(o)))) return false;
    }
  return true;
}

}  // namespace

bool may_take_place(const EngineState& engine, const OpenTop& top, std::size_t in, std::size_t out, bool exactly) {
  std::ptrdiff_t last_read = -1, first_write = static_cast<std::ptrdiff_t>(top.body.steps.size());
  for (std::ptrdiff_t s = first_write - 1; s >= 0; --s) {
    const plan::Step& step = *top.body.steps[static_cast<std::size_t>(s)].step;
    if (last_read < 0 && touches(step.in, in)) last_read = s;
    if (touches(step.out, out)) first_write = s;
  }
  if (last_read < first_write) return true;
  return exactly && last_read == first_write && replaces(engine, top, top.body.steps[static_cast<std::size_t>(last_read)], in, out);
}

namespace {

// Outputs without a bound may take all that was bound.
Occupied occupied(const ContextState& c, std::size_t b) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(c.bindings.memory[b]);
  const std::int64_t bytes = output_grows(c, b) ? c.bindings.bytes[b] : bytes_of_binding(c, b);
  return {at, at + static_cast<std::uintptr_t>(std::max<std::int64_t>(bytes, 0)), b};
}

bool legal(const ContextState& c, const Occupied& a, const Occupied& b) {
  const auto inputs = static_cast<std::size_t>(c.engine->inputs);
  const bool a_read = a.binding < inputs, b_read = b.binding < inputs;
  if (a_read && b_read) return true;
  if (a_read == b_read) return false;
  const OpenTop& top = c.top();
  return may_take_place(*c.engine, top, a_read ? a.binding : b.binding, a_read ? b.binding : a.binding, a.first == b.first);
}

}  // namespace

Status check_overlaps(ContextState& c) noexcept {
  try {
    std::vector<Occupied>& all = c.bindings.occupied;   // its room was set aside with the context
    all.clear();
    for (std::size_t b = 0; b < c.bindings.memory.size(); ++b)
      if (const Occupied o = occupied(c, b); o.first < o.end) all.push_back(o);
    std::sort(all.begin(), all.end(), [](const Occupied& a, const Occupied& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = i + 1; j < all.size() && all[j].first < all[i].end; ++j) {
        if (legal(c, all[i], all[j])) continue;
        const auto [low, high] = std::minmax(all[i].binding, all[j].binding);
        c.bindings.overlapping[0] = static_cast<int>(high), c.bindings.overlapping[1] = static_cast<int>(low);
        return {Status::invalid_binding, static_cast<int>(high)};   // an output
      }
    return {};
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, -1};
  } catch (const std::exception& e) {
    c.run.last_error = e.what();
    return {Status::failed, -1};
  }
}

}  // namespace tenfold::runtime
