// Host copies of what host steps read and write, and device copies of bindings, where host and device do not share memory.
#include "base/checked.h"
#include "runtime/state.h"

namespace tenfold::runtime {
namespace {

std::int64_t most_bytes(const plan::Operand& o, const OpenTop& top) {
  std::int64_t elements = 1;
  for (plan::DimIndex d : o.dims)
    elements = checked_mul(elements, top.body.program->dims[static_cast<std::size_t>(d)].bounds(top.box).upper);
  return byte_size(o.dtype, elements);
}

std::int64_t bytes_now(const backends::Bound& bound, DType dtype) noexcept {
  std::int64_t elements = 1;
  for (int d = 0; d < bound.rank; ++d) elements *= bound.dims[d];
  return (elements * bits(dtype) + 7) / 8;
}

// Memory that is not owned: constants lie on the host anyway.
std::shared_ptr<void> constant_on_host(const EngineState& engine, const plan::Operand& o) {
  const std::byte* data = engine.plan.bytes_of(static_cast<std::size_t>(o.at.index)) + o.at.offset;
  return {std::shared_ptr<void>(), const_cast<std::byte*>(data)};
}

}  // namespace

bool is_staged(const EngineState& engine) noexcept { return !engine.backend->host_reads_memory(); }

std::int64_t largest_bytes(const EngineState& engine, std::size_t binding) {
  const auto inputs = static_cast<std::size_t>(engine.inputs);
  std::int64_t largest = 0;
  for (const OpenTop& top : engine.programs) {
    const plan::Program& p = *top.body.program;
    const plan::Operand& formal = binding < inputs ? p.inputs[binding] : p.outputs[binding - inputs];
    if (!output_grows(p, formal, top.box)) largest = std::max(largest, most_bytes(formal, top));
  }
  return largest;
}

void make_mirrors(ContextState& c) {
  for (std::size_t b = 0; b < c.engine->bindings.size(); ++b) c.mirrors.push_back(c.engine->backend->allocate(largest_bytes(*c.engine, b)));
}

void make_staging(Frame& frame, const EngineState& engine, const OpenTop& top) {
  for (BoundStep& bound : frame.steps) {
    const plan::Step& step = *bound.open->step;
    const auto stage = [&](const plan::Operand& o) {
      if (o.at.space == plan::Space::none)
        bound.staged.push_back(nullptr);
      else if (o.at.space == plan::Space::weights)
        bound.staged.push_back(constant_on_host(engine, o));
      else
        bound.staged.push_back(engine.backend->allocate_host(most_bytes(o, top)));
    };
    if (step.kind == plan::StepKind::host) {
      for (const plan::Operand& o : step.in) stage(o);
      for (const plan::Operand& o : step.out) stage(o);
    }
    if (step.kind == plan::StepKind::branch) stage(step.in[0]);
    for (Frame& nested : bound.frames) make_staging(nested, engine, top);
  }
}

Status stage_in(ContextState& c, BoundStep& bound) noexcept {
  if (bound.staged.empty()) return {};
  const plan::Step& step = *bound.open->step;
  for (std::size_t i = 0; i < step.in.size() && i < bound.staged.size(); ++i) {
    const plan::Space space = step.in[i].at.space;
    if (space == plan::Space::none || space == plan::Space::weights) continue;
    const Status::Code code = c.stream->copy(bound.staged[i].get(), bound.in[i].data, bytes_now(bound.in[i], step.in[i].dtype));
    if (code != Status::ok) return {code, -1};
  }
  return {c.stream->wait(), -1};
}

Status stage_out(ContextState& c, BoundStep& bound) noexcept {
  if (bound.staged.empty()) return {};
  const plan::Step& step = *bound.open->step;
  for (std::size_t o = 0; o < step.out.size(); ++o) {
    if (step.out[o].at.space == plan::Space::none) continue;
    const Status::Code code =
        c.stream->copy(bound.out[o].data, bound.staged[step.in.size() + o].get(), bytes_now(bound.out[o], step.out[o].dtype));
    if (code != Status::ok) return {code, -1};
  }
  return {c.stream->wait(), -1};  // the next run of this step writes the same host memory
}

}  // namespace tenfold::runtime
