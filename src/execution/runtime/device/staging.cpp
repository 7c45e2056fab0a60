// Host copies of what host steps read and write, and device copies of bindings, where host and device do not share memory.
#include "runtime/device/staging.h"

#include "backends/backend.h"
#include "base/checked.h"
#include "runtime/context.h"
#include "runtime/device/link.h"

namespace tenfold::runtime {
namespace {

std::int64_t bytes_now(const backends::Bound& bound, DType dtype) noexcept {
  std::int64_t elements = 1;
  for (int d = 0; d < bound.rank; ++d) elements *= bound.dims[d];
  return (elements * bits(dtype) + 7) / 8;
}

// Memory that is not owned: constants lie on the host anyway.
DynamicBuffer constant_on_host(const EngineState& engine, const plan::Operand& o) {
  static const std::byte nothing[64]{};   // where a plan has constants without elements alone: null would mean that one is left out
  const std::byte* data = engine.plan.bytes_of(static_cast<std::size_t>(o.at.index));
  return {{std::shared_ptr<void>(), const_cast<std::byte*>(data ? data + o.at.offset : nothing)}, 0};
}

DynamicBuffer staging_for(const EngineState& engine, const plan::Operand& o, const OpenTop& top) {
  if (!plan::is_memory(o.at.space)) return {};
  if (o.at.space == plan::Space::weights) return constant_on_host(engine, o);
  if (output_grows(*top.body.program, o, top.box)) return {};
  const std::int64_t bytes = max_bytes(o, top);
  return {engine.backend->memory().allocate_host(bytes), bytes};
}

}  // namespace

void* on_host(const BoundStep& bound, std::size_t i, void* data) noexcept {
  return data && bound.on_device && i < bound.on_device->staged.size() ? bound.on_device->staged[i].memory.get() : data;
}

void make_staging(Frame& frame, const EngineState& engine, const OpenTop& top) {
  for (BoundStep& bound : frame.steps) {
    const plan::Step& step = *bound.open->step;
    if (step.kind != plan::StepKind::kernel && step.kind != plan::StepKind::copy) bound.on_device = std::make_shared<StepOnDevice>();
    std::vector<DynamicBuffer>* const staged = bound.on_device ? &bound.on_device->staged : nullptr;
    for (std::size_t i = 0; i < operands_on_host(*bound.open); ++i) staged->push_back(staging_for(engine, step.in[i], top));
    if (step.kind == plan::StepKind::host && !bound.open->grows && !bound.open->on_values)
      for (const plan::Operand& o : step.out) staged->push_back(staging_for(engine, o, top));
    if (step.kind == plan::StepKind::loop) bound.on_device->loop_header = engine.backend->memory().allocate(3 * 64);
    for (Frame& nested : bound.frames) make_staging(nested, engine, top);
  }
}

const void* decided_by(const BoundStep& bound, std::size_t i) noexcept {
  return on_host(bound, i, bound.in[i].data);
}

namespace {
bool lies_on_device(const plan::Operand& o) { return plan::is_memory(o.at.space) && o.at.space != plan::Space::weights; }

// An input where the caller has it, if that is on the host: of steps of the prologue alone, for later an output may lie there.
const void* read_on_host(const ContextState& c, const BoundStep& bound, std::size_t i) noexcept {
  const plan::Address& at = bound.open->step->in[i].at;
  if (!bound.open->prologue || at.space != plan::Space::binding) return nullptr;
  const void* memory = c.device->transfers[static_cast<std::size_t>(at.index)].on_host;
  return memory ? static_cast<const std::byte*>(memory) + at.offset : nullptr;
}

// Staged operands and results of a host step have the room that they need now.
Status make_room(ContextState& c, BoundStep& bound) noexcept {
  const plan::Step& step = *bound.open->step;
  std::vector<DynamicBuffer>& staged = bound.on_device->staged;
  for (std::size_t i = 0; i < staged.size(); ++i) {
    const bool input = i < step.in.size();
    const std::size_t o = input ? i : i - step.in.size();
    const plan::Operand& operand = input ? step.in[o] : step.out[o];
    if (!lies_on_device(operand)) continue;
    if (const void* here = input ? read_on_host(c, bound, o) : nullptr) {
      bound.call.in[o].data = const_cast<void*>(here);
      continue;
    }
    const std::int64_t bytes = bytes_now(input ? bound.in[o] : bound.out[o], operand.dtype);
    if (!grow_on_host(c, staged[i], bytes)) return {Status::out_of_memory, -1};
    if (step.kind == plan::StepKind::host) (input ? bound.call.in : bound.call.out)[o].data = staged[i].memory.get();
  }
  return {};
}
}  // namespace

Status stage_in(ContextState& c, BoundStep& bound) noexcept {
  if (!bound.on_device || bound.on_device->staged.empty()) return {};
  const std::vector<DynamicBuffer>& staged = bound.on_device->staged;
  if (Status s = make_room(c, bound); !s) return s;
  const plan::Step& step = *bound.open->step;
  bool copies = false;
  for (std::size_t i = 0; i < step.in.size() && i < staged.size(); ++i) {
    if (!lies_on_device(step.in[i]) || read_on_host(c, bound, i)) continue;
    const Status::Code code = c.stream->copy(staged[i].memory.get(), bound.in[i].data, bytes_now(bound.in[i], step.in[i].dtype));
    if (code != Status::ok) return {code, -1};
    copies = true;
  }
  if (bound.open->prologue)
    for (std::size_t o = 0; o < bound.call.out.size(); ++o) bound.call.out[o].shape = bound.result_shapes[o].shape;
  return copies ? Status{c.stream->wait(), -1} : Status{};
}

void note_largest_results(Frame& frame) noexcept {
  for (std::size_t s = 0; s < frame.open->prologue; ++s) {
    BoundStep& bound = frame.steps[s];
    for (std::size_t o = 0; o < bound.out.size(); ++o)
      std::copy_n(bound.out[o].dims, bound.out[o].rank, bound.result_shapes[o].shape.begin());
  }
}

Status stage_out(ContextState& c, BoundStep& bound) noexcept {
  if (!bound.on_device) return {};
  const plan::Step& step = *bound.open->step;
  for (std::size_t o = 0; o < step.out.size(); ++o) {
    if (step.out[o].at.space == plan::Space::none) continue;
    const void* const from = bound.on_device->staged[step.in.size() + o].memory.get();
    const Status::Code code = c.stream->copy(bound.out[o].data, from, bytes_now(bound.out[o], step.out[o].dtype));
    if (code != Status::ok) return {code, -1};
  }
  if (bound.open->prologue) return c.device->prologue_uploads = true, Status{};  // the next run waits for it
  return {c.stream->wait(), -1};  // the next run of this step writes the same host memory
}

}  // namespace tenfold::runtime
