// From the shapes a caller sets to the values of every symbol and dim of the program that covers them.
#include "runtime/shapes.h"

#include "base/check.h"
#include "runtime/context.h"

namespace tenfold::runtime {
namespace {

bool is_within(const plan::Range& range, std::int64_t v) noexcept { return range.min <= v && v <= range.max; }

// Symbol values from the input shapes; false with `bad` set to the input that lies outside, or that contradicts one before it.
bool read_symbols(const std::vector<Shape>& shapes, const OpenTop& top, std::span<std::int64_t> symbols, int& bad) noexcept {
  const plan::Program& program = *top.body.program;
  for (int s = 0; s < top.input_symbols; ++s) symbols[static_cast<std::size_t>(s)] = -1;
  for (std::size_t s = static_cast<std::size_t>(top.input_symbols); s < symbols.size(); ++s) symbols[s] = top.symbol_defaults[s];
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    bad = static_cast<int>(i);
    const plan::Operand& formal = program.inputs[i];
    const Shape& shape = shapes[i];
    for (std::size_t d = 0; d < formal.dims.size(); ++d) {
      const ir::Dim dim = program.dims[static_cast<std::size_t>(formal.dims[d])];
      if (!dim.is_symbol()) continue;
      for (std::size_t s = 0; s < top.symbols.size(); ++s) {
        if (top.symbol_dims[s] != dim) continue;
        if (static_cast<int>(s) < top.input_symbols) {
          if (!is_within(program.box[s], shape[d])) return false;
          if (symbols[s] >= 0 && symbols[s] != shape[d]) return false;
        }
        symbols[s] = shape[d];
      }
    }
  }
  for (std::size_t s = 0; s < static_cast<std::size_t>(top.input_symbols); ++s)   // those that stand in no input alone
    if (!is_within(program.box[s], symbols[s])) return false;
  return true;
}

bool is_outside(const OpenTop& top, std::size_t input, const Shape& shape) noexcept {
  const plan::Program& program = *top.body.program;
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (std::size_t s = 0; s < static_cast<std::size_t>(top.input_symbols); ++s)
      if (program.dims[static_cast<std::size_t>(program.inputs[input].dims[d])] == top.symbol_dims[s] &&
          !is_within(program.box[s], shape[d]))
        return true;
  return false;
}

// The input that no profile takes, whatever the others are; else the one that the last profile refused.
int blamed_input(const ContextState& c, int refused) noexcept {
  const EngineState& engine = *c.engine;
  for (std::size_t i = 0; i < static_cast<std::size_t>(engine.inputs); ++i) {
    bool outside = true;
    for (std::size_t p = 0; p < engine.programs.size(); ++p)
      if (c.shapes.profile < 0 || static_cast<int>(p) == c.shapes.profile)
        outside = outside && is_outside(engine.programs[p], i, c.shapes.inputs[i]);
    if (outside) return static_cast<int>(i);
  }
  return refused;
}

// Every input dim, symbol or expression, must come out as the caller set it.
bool inputs_agree(const std::vector<Shape>& shapes, const plan::Program& program, std::span<const std::int64_t> dims, int& bad) noexcept {
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    for (std::size_t d = 0; d < program.inputs[i].dims.size(); ++d)
      if (dims[static_cast<std::size_t>(program.inputs[i].dims[d])] != shapes[i][d]) {
        bad = static_cast<int>(i);
        return false;
      }
  return true;
}

}  // namespace

std::string declared_text(const Shape& declared) {
  const bool dynamic = std::find(declared.begin(), declared.end(), -1) != declared.end();
  return text(declared) + (dynamic ? " (-1: dynamic)" : "");
}

bool evaluate_shapes(const OpenTop& top, const std::vector<Shape>& shapes, std::span<std::int64_t> symbols,
                     std::span<ir::DimCode::Known> known, std::span<std::int64_t> dims, int& bad) noexcept {
  std::copy(top.unknown.begin(), top.unknown.end(), known.begin());
  return read_symbols(shapes, top, symbols, bad) && top.dims.evaluate(symbols, dims, known) &&
         inputs_agree(shapes, *top.body.program, dims, bad);
}

bool is_known(const ContextState& c, std::span<const plan::DimIndex> dims) noexcept {
  const OpenTop& top = c.top();
  for (plan::DimIndex d : dims)
    for (std::int32_t s : top.defined_by_steps[static_cast<std::size_t>(d)])
      if (c.shapes.known[static_cast<std::size_t>(s)] != ir::DimCode::Known::value) return false;
  return true;
}

Status resolve_shapes(ContextState& c) noexcept {
  const EngineState& engine = *c.engine;
  for (int i = 0; i < engine.inputs; ++i)
    if (!c.shapes.set[static_cast<std::size_t>(i)]) return {Status::not_ready, i};
  ShapeState& s = c.shapes;
  Status status{Status::invalid_shape, 0};
  for (std::size_t p = 0; p < engine.programs.size(); ++p) {
    if (c.shapes.profile >= 0 && static_cast<int>(p) != c.shapes.profile) continue;
    const OpenTop& top = engine.programs[p];
    const std::span symbols(s.symbols.data(), top.symbols.size());
    if (!evaluate_shapes(top, s.inputs, symbols, {s.known.data(), symbols.size()}, {s.dims.data(), top.dims.size()}, status.step))
      continue;
    c.shapes.active = static_cast<int>(p);
    if (const Status settled = ensure_memory(c, false); settled.code == Status::invalid_shape) continue;
    else if (!settled) return settled;
    c.shapes.changed = false;
    c.bindings.changed = true;   // memory has to be compared with the new sizes
    return {};
  }
  status.step = blamed_input(c, status.step);
  return status;
}

namespace {

Status evaluate_body(ContextState& c, BoundStep& loop) noexcept {
  const LoopSizes& sizes = loop.open->sizes;
  const std::span within(c.shapes.within.data(), sizes.dims.size());
  const std::size_t symbols = c.top().symbols.size();
  if (!sizes.code.evaluate({c.shapes.symbols.data(), symbols}, within, {c.shapes.known.data(), symbols}))
    return {Status::invalid_shape, -1};
  for (std::size_t i = 0; i < within.size(); ++i) c.shapes.dims[static_cast<std::size_t>(sizes.dims[i])] = within[i];
  return ensure_body_memory(c, loop);
}

Status evaluate_dims(ContextState& c, const OpenTop& top) noexcept {
  if (c.work.loop) return evaluate_body(c, *c.work.loop->bound);
  const std::span dims(c.shapes.dims.data(), top.dims.size());
  if (!top.dims.evaluate({c.shapes.symbols.data(), top.symbols.size()}, dims, {c.shapes.known.data(), top.symbols.size()}))
    return {Status::invalid_shape, -1};
  return ensure_memory(c, true);
}

void set_size_error(ContextState& c, const OpenTop& top, std::size_t symbol) noexcept {
  try {
    c.run.last_error = cat("'", top.symbols[symbol], "' is ", c.shapes.symbols[symbol], ", planned for 0 to ", top.symbol_defaults[symbol]);
  } catch (...) {
    c.run.last_error.clear();
  }
}
void set_difference_error(ContextState& c, const OpenTop& top, std::size_t symbol, std::int64_t other) noexcept {
  try {
    c.run.last_error = cat("values that a loop carries have ", c.shapes.symbols[symbol], " and ", other, " elements where both have '",
                           top.symbols[symbol], "'");
  } catch (...) {
    c.run.last_error.clear();
  }
}

}  // namespace

void forget_sizes(ContextState& c, const std::vector<std::int32_t>& symbols) noexcept {
  const OpenTop& top = c.top();
  for (std::int32_t s : symbols) {
    const auto symbol = static_cast<std::size_t>(s);
    c.shapes.symbols[symbol] = top.symbol_defaults[symbol];
    c.shapes.known[symbol] = top.unknown[symbol];
  }
}

Status forget_symbols(ContextState& c, const OpenProgram& program) noexcept {
  if (program.defines.empty()) return {};
  forget_sizes(c, program.defines);
  return evaluate_dims(c, c.top());
}

Status enter_iteration(ContextState& c, BoundStep& loop) noexcept {
  using Known = ir::DimCode::Known;
  const OpenTop& top = c.top();
  const std::vector<LoopSizes::Extent>& extents = loop.open->sizes.extents;
  const OpenProgram& body = *loop.frames[0].open;
  if (extents.empty()) return forget_symbols(c, body);
  forget_sizes(c, body.defines);
  for (const LoopSizes::Extent& e : extents) c.shapes.known[static_cast<std::size_t>(e.symbol)] = Known::nothing;
  for (const LoopSizes::Extent& e : extents) {
    const auto symbol = static_cast<std::size_t>(e.symbol);
    const std::int64_t extent = loop.loop.carried[e.carried][e.dim];
    if (c.shapes.known[symbol] == Known::value && c.shapes.symbols[symbol] != extent) {
      set_difference_error(c, top, symbol, extent);
      return {Status::invalid_input, -1};
    }
    c.shapes.symbols[symbol] = extent;
    if (extent < 0 || extent > top.symbol_defaults[symbol]) {
      set_size_error(c, top, symbol);
      return {Status::too_large, -1};
    }
    c.shapes.known[symbol] = Known::value;
  }
  return evaluate_dims(c, top);
}

Status define_symbols(ContextState& c, const BoundStep& bound, const std::vector<ir::TensorRef>& results) noexcept {
  const OpenTop& top = c.top();
  const plan::Step& step = *bound.open->step;
  const auto forget = [&](const Status& status) {   // dims are not what these symbols make them
    for (std::int32_t s : step.defines) c.shapes.known[static_cast<std::size_t>(s)] = top.unknown[static_cast<std::size_t>(s)];
    return status;
  };
  bool same = true;
  for (std::int32_t s : step.defines) {
    const auto symbol = static_cast<std::size_t>(s);
    const std::int64_t before = c.shapes.known[symbol] == ir::DimCode::Known::value ? c.shapes.symbols[symbol] : -1;
    for (std::size_t o = 0; o < step.out.size() && o < results.size(); ++o)
      for (std::size_t d = 0; d < step.out[o].dims.size(); ++d)
        if (top.body.program->dims[static_cast<std::size_t>(step.out[o].dims[d])] == top.symbol_dims[symbol])
          c.shapes.symbols[symbol] = results[o].shape[d];
    if (c.shapes.symbols[symbol] < 0 || c.shapes.symbols[symbol] > top.symbol_defaults[symbol]) {
      set_size_error(c, top, symbol);
      return forget({Status::too_large, -1});
    }
    c.shapes.known[symbol] = ir::DimCode::Known::value;
    same = same && c.shapes.symbols[symbol] == before;
  }
  if (same) return {};
  const Status status = evaluate_dims(c, top);
  return status ? status : forget(status);
}

}  // namespace tenfold::runtime
