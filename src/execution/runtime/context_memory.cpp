// Contexts in the caller's memory: how much they need for which shapes, and that they are not asked for more.
#include "base/checked.h"
#include "plan/extent.h"
#include "runtime/context.h"
#include "tenfold/engine.h"
#include "tenfold/internal/idle_contexts.h"

namespace tenfold::runtime {
namespace {

// Bytes of the arena that the program's steps touch for these dims; -1: not to be counted. Programs that control flow owns lie in the
// workspace of their step, which is as large as they can be.
std::int64_t arena_end(const plan::Program& program, std::span<const std::int64_t> dims) noexcept {
  std::int64_t end = 0;
  for (const plan::Step& step : program.steps) {
    end = std::max(end, step.workspace_offset + step.workspace_bytes);
    for (const auto* side : {&step.in, &step.out})
      for (const plan::Operand& o : *side) {
        if (o.at.space != plan::Space::arena) continue;
        const auto range = plan::byte_range(o, dims);
        if (!range) return -1;
        if (!range->empty()) end = std::max(end, range->end);
      }
  }
  return end;
}

}  // namespace

Status check_arena(ContextState& c, const plan::Program& program) noexcept {
  if (c.work.arena_room >= program.arena_bytes) return {};
  const std::int64_t needed = arena_end(program, c.shapes.dims);
  if (needed >= 0 && needed <= c.work.arena_room) return {};
  try {
    c.run.last_error = cat("results of steps take ", needed, " bytes at these shapes, the context was given memory for ", c.work.arena_room,
                       " (Engine::arena_bytes tells how much it needs)");
  } catch (...) {
    c.run.last_error.clear();
  }
  return {Status::out_of_memory, -1};
}

std::int64_t scratch_room(const EngineState& engine, std::int64_t workers) {
  return round_up(checked_mul(engine.scratch_stride, workers), kContextAlignment);
}

namespace {

// The arena that the program needs for these shapes; nothing: it does not cover them.
std::optional<std::int64_t> arena_for(const OpenTop& top, const std::vector<Shape>& inputs) {
  std::vector<std::int64_t> symbols(top.symbols.size()), dims(top.dims.size());
  std::vector<ir::DimCode::Known> known(top.symbols.size());
  int bad = 0;
  if (!evaluate_shapes(top, inputs, symbols, known, dims, bad)) return std::nullopt;
  const std::int64_t end = arena_end(*top.body.program, dims);
  return end < 0 ? top.body.program->arena_bytes : std::min(end, top.body.program->arena_bytes);
}

void check_shapes(const EngineState& engine, const std::vector<Shape>& inputs) {
  require(static_cast<int>(inputs.size()) == engine.inputs, ErrorKind::invalid_argument, "the engine has ", engine.inputs,
          " inputs, shapes of ", inputs.size(), " are given");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const BindingInfo& b = engine.bindings[i];
    bool fits = inputs[i].size() == b.shape.size();
    for (std::size_t d = 0; fits && d < b.shape.size(); ++d) fits = inputs[i][d] >= 0 && (b.shape[d] < 0 || b.shape[d] == inputs[i][d]);
    require(fits, ErrorKind::invalid_argument, "input '", b.name, "' has shape ", declared_text(b.shape), ", ", text(inputs[i]),
            " given");
  }
}

}  // namespace
}  // namespace tenfold::runtime

namespace tenfold {

std::int64_t Engine::arena_bytes(int profile, const std::vector<Shape>& inputs) const {
  const runtime::EngineState& engine = *state_;
  const auto count = static_cast<int>(engine.programs.size());
  require(profile >= -1 && profile < count, ErrorKind::invalid_argument, "there is no profile ", profile, "; the engine has ", count);
  if (!inputs.empty()) runtime::check_shapes(engine, inputs);
  std::optional<std::int64_t> arena;
  for (int p = 0; p < count; ++p) {
    if (profile >= 0 && p != profile) continue;
    const runtime::OpenTop& top = engine.programs[static_cast<std::size_t>(p)];
    if (inputs.empty()) arena = std::max(arena.value_or(0), top.body.program->arena_bytes);
    else if (!arena) arena = runtime::arena_for(top, inputs);
  }
  require(arena.has_value(), ErrorKind::invalid_argument, "the shapes given lie outside ",
          profile < 0 ? "every profile" : cat("profile ", profile));
  return round_up(runtime::scratch_room(engine, engine.info.threads) + *arena, runtime::kContextAlignment);
}

std::unique_ptr<ExecutionContext> Engine::create_context() const { return create_context({}); }
std::unique_ptr<ExecutionContext> Engine::create_context(const ContextOptions& options) const {
  try {
    return runtime::ContextAccess::make(runtime::make_context(state_, options));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_memory || !drop_idle_contexts()) throw;
  }
  return runtime::ContextAccess::make(runtime::make_context(state_, options));
}

}  // namespace tenfold
