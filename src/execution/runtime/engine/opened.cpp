// Sizes of an opened plan's bindings, and where the host stands to its device.
#include "runtime/engine/opened.h"

#include "backends/backend.h"
#include "base/checked.h"
#include "plan/extent.h"

namespace tenfold::runtime {

bool is_staged(const EngineState& engine) noexcept { return !engine.backend->memory().host_reads(); }

std::int64_t max_bytes(const plan::Operand& o, const OpenTop& top) {
  std::int64_t elements = 1;
  for (plan::DimIndex d : o.dims)
    elements = checked_mul(elements, top.body.program->dims[static_cast<std::size_t>(d)].bounds(top.box).upper);
  return byte_size(o.dtype, elements);
}

std::int64_t largest_bytes(const EngineState& engine, std::size_t binding) {
  const auto inputs = static_cast<std::size_t>(engine.inputs);
  std::int64_t largest = 0;
  for (const OpenTop& top : engine.programs) {
    const plan::Program& p = *top.body.program;
    const plan::Operand& formal = binding < inputs ? p.inputs[binding] : p.outputs[binding - inputs];
    if (!output_grows(p, formal, top.box)) largest = std::max(largest, max_bytes(formal, top));
  }
  return largest;
}

bool output_grows(const plan::Program& top, const plan::Operand& formal, const ir::SymbolBounds& box) {
  ir::Dim bytes = (bits(formal.dtype) + 7) / 8;
  for (plan::DimIndex d : formal.dims) bytes = bytes * top.dims[static_cast<std::size_t>(d)];
  return plan::must_grow(bytes, box, [&](const std::string& symbol) {
    return std::any_of(top.box.begin(), top.box.end(), [&](const plan::Range& r) { return r.symbol == symbol; });
  });
}

std::size_t operands_on_host(const OpenStep& open) {
  switch (open.step->kind) {
    case plan::StepKind::host: return open.step->in.size();
    case plan::StepKind::branch: return 1;
    case plan::StepKind::loop: return open.loop.header;
    case plan::StepKind::kernel:
    case plan::StepKind::copy:
    case plan::StepKind::count_: break;
  }
  return 0;
}

namespace {
std::int64_t staging_bytes(const EngineState& engine, const OpenTop& top, const OpenProgram& program) {
  std::int64_t sum = 0;
  const auto add = [&](const plan::Operand& o) {
    const bool fixed = plan::is_memory(o.at.space) && o.at.space != plan::Space::weights;
    if (fixed && !output_grows(*top.body.program, o, top.box)) sum += max_bytes(o, top);
  };
  for (const OpenStep& open : program.steps) {
    for (std::size_t i = 0; i < operands_on_host(open); ++i) add(open.step->in[i]);
    if (open.step->kind == plan::StepKind::host && !open.grows && !open.on_values)
      for (const plan::Operand& o : open.step->out) add(o);
    for (const OpenProgram& nested : open.programs) sum += staging_bytes(engine, top, nested);
  }
  return sum;
}
}  // namespace
std::int64_t staging_bytes(const EngineState& engine, const OpenTop& top) { return staging_bytes(engine, top, top.body); }

}  // namespace tenfold::runtime
