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
GrownBuffer constant_on_host(const EngineState& engine, const plan::Operand& o) {
  const std::byte* data = engine.plan.bytes_of(static_cast<std::size_t>(o.at.index)) + o.at.offset;
  return {{std::shared_ptr<void>(), const_cast<std::byte*>(data)}, 0};
}

GrownBuffer staging_for(const EngineState& engine, const plan::Operand& o, const OpenTop& top) {
  if (!plan::is_memory(o.at.space)) return {};
  if (o.at.space == plan::Space::weights) return constant_on_host(engine, o);
  if (output_grows(*top.body.program, o, top.box)) return {};
  const std::int64_t bytes = most_bytes(o, top);
  return {engine.backend->allocate_host(bytes), bytes};
}

// Operands that the host needs: all of a host step, what a branch or a loop decides by.
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
  for (std::size_t b = 0; b < c.engine->bindings.size(); ++b) {
    const std::int64_t bytes = largest_bytes(*c.engine, b);
    c.mirrors.push_back({c.engine->backend->allocate(bytes), bytes});
  }
}

void make_staging(Frame& frame, const EngineState& engine, const OpenTop& top) {
  for (BoundStep& bound : frame.steps) {
    const plan::Step& step = *bound.open->step;
    for (std::size_t i = 0; i < operands_on_host(*bound.open); ++i) bound.staged.push_back(staging_for(engine, step.in[i], top));
    if (step.kind == plan::StepKind::host && !bound.open->grows && !bound.open->on_values)
      for (const plan::Operand& o : step.out) bound.staged.push_back(staging_for(engine, o, top));
    if (step.kind == plan::StepKind::loop) bound.on_device.header = engine.backend->allocate(3 * 64);
    for (Frame& nested : bound.frames) make_staging(nested, engine, top);
  }
}

namespace {
std::int64_t staging_bytes(const EngineState& engine, const OpenTop& top, const OpenProgram& program) {
  std::int64_t sum = 0;
  const auto add = [&](const plan::Operand& o) {
    const bool fixed = plan::is_memory(o.at.space) && o.at.space != plan::Space::weights;
    if (fixed && !output_grows(*top.body.program, o, top.box)) sum += most_bytes(o, top);
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

const void* decided_by(const BoundStep& bound, std::size_t i) noexcept {
  return bound.staged.empty() || !bound.in[i].data ? bound.in[i].data : bound.staged[i].memory.get();
}

namespace {
bool lies_on_device(const plan::Operand& o) { return plan::is_memory(o.at.space) && o.at.space != plan::Space::weights; }

// An input where the caller has it, if that is on the host: of steps at the front alone, for later an output may lie there.
const void* read_on_host(const ContextState& c, const BoundStep& bound, std::size_t i) noexcept {
  const plan::Address& at = bound.open->step->in[i].at;
  if (!bound.open->front || at.space != plan::Space::binding) return nullptr;
  const void* memory = c.transfers[static_cast<std::size_t>(at.index)].on_host;
  return memory ? static_cast<const std::byte*>(memory) + at.offset : nullptr;
}

// Staged operands and results of a host step have the room that they need now.
Status make_room(ContextState& c, BoundStep& bound) noexcept {
  const plan::Step& step = *bound.open->step;
  for (std::size_t i = 0; i < bound.staged.size(); ++i) {
    const bool input = i < step.in.size();
    const std::size_t o = input ? i : i - step.in.size();
    const plan::Operand& operand = input ? step.in[o] : step.out[o];
    if (!lies_on_device(operand)) continue;
    if (const void* here = input ? read_on_host(c, bound, o) : nullptr) {
      bound.call.in[o].data = const_cast<void*>(here);
      continue;
    }
    const std::int64_t bytes = bytes_now(input ? bound.in[o] : bound.out[o], operand.dtype);
    if (!grow_on_host(c, bound.staged[i], bytes)) return {Status::out_of_memory, -1};
    if (step.kind == plan::StepKind::host) (input ? bound.call.in : bound.call.out)[o].data = bound.staged[i].memory.get();
  }
  return {};
}
}  // namespace

Status stage_in(ContextState& c, BoundStep& bound) noexcept {
  if (bound.staged.empty()) return {};
  if (Status s = make_room(c, bound); !s) return s;
  const plan::Step& step = *bound.open->step;
  bool copies = false;
  for (std::size_t i = 0; i < step.in.size() && i < bound.staged.size(); ++i) {
    if (!lies_on_device(step.in[i]) || read_on_host(c, bound, i)) continue;
    const Status::Code code = c.stream->copy(bound.staged[i].memory.get(), bound.in[i].data, bytes_now(bound.in[i], step.in[i].dtype));
    if (code != Status::ok) return {code, -1};
    copies = true;
  }
  if (bound.open->front)
    for (std::size_t o = 0; o < bound.call.out.size(); ++o) bound.call.out[o].shape = bound.result_shapes[o].shape;
  return copies ? Status{c.stream->wait(), -1} : Status{};
}

void note_largest_results(Frame& frame) noexcept {
  for (std::size_t s = 0; s < frame.open->front; ++s) {
    BoundStep& bound = frame.steps[s];
    for (std::size_t o = 0; o < bound.out.size(); ++o)
      std::copy_n(bound.out[o].dims, bound.out[o].rank, bound.result_shapes[o].shape.begin());
  }
}

Status stage_out(ContextState& c, BoundStep& bound) noexcept {
  if (!is_staged(*c.engine)) return {};
  const plan::Step& step = *bound.open->step;
  for (std::size_t o = 0; o < step.out.size(); ++o) {
    if (step.out[o].at.space == plan::Space::none) continue;
    const Status::Code code =
        c.stream->copy(bound.out[o].data, bound.staged[step.in.size() + o].memory.get(), bytes_now(bound.out[o], step.out[o].dtype));
    if (code != Status::ok) return {code, -1};
  }
  if (bound.open->front) return c.uploading = true, Status{};  // the next run waits for it
  return {c.stream->wait(), -1};  // the next run of this step writes the same host memory
}

}  // namespace tenfold::runtime
