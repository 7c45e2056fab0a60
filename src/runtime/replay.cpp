// A run on a device with memory of its own: bindings in, the steps as one recording where that is possible, bindings out.
#include "runtime/state.h"

namespace tenfold::runtime {
namespace {

constexpr std::size_t kMostRecordings = 32;  // by shape, with copies and without; the oldest goes first

bool can_record(const ContextState& c, const Frame& frame) noexcept {
  if (c.profiler) return false;
  for (const BoundStep& bound : frame.steps)
    if (bound.open->step->kind != plan::StepKind::kernel && bound.open->step->kind != plan::StepKind::copy) return false;
  return true;
}

std::span<const std::int64_t> active_dims(const ContextState& c) noexcept {
  return {c.dims.data(), c.engine->programs[static_cast<std::size_t>(c.active)].dims.size()};
}

const void* known(const ContextState& c, std::span<void* const> memory = {}) noexcept {
  const auto dims = active_dims(c);
  for (const Recording& r : c.recordings)
    if (r.program == c.active && std::equal(dims.begin(), dims.end(), r.dims.begin(), r.dims.end()) &&
        std::equal(memory.begin(), memory.end(), r.memory.begin(), r.memory.end()))
      return r.steps.get();
  return nullptr;
}

Status keep(ContextState& c, std::shared_ptr<const void> steps, std::span<void* const> memory) noexcept {
  try {
    const auto dims = active_dims(c);
    if (c.recordings.size() == kMostRecordings) c.recordings.erase(c.recordings.begin());
    c.recordings.push_back({c.active, {dims.begin(), dims.end()}, {memory.begin(), memory.end()}, std::move(steps)});
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, -1};
  }
  return {};
}

// The first run at these shapes: once step by step, so that libraries set up what they need, then once more to record.
Status record(ContextState& c, Frame& frame) noexcept {
  if (Status s = run_frame(c, frame); !s) return s;
  if (const Status::Code code = c.stream->wait(); code != Status::ok) return {code, -1};
  if (!c.stream->start_recording()) return {};
  const Status status = run_frame(c, frame);
  std::shared_ptr<const void> steps = c.stream->finish_recording();
  return status && steps ? keep(c, std::move(steps), {}) : status;
}

Status copy_bindings(ContextState& c, bool inputs) noexcept {
  const plan::Program& program = *c.engine->programs[static_cast<std::size_t>(c.active)].body.program;
  const auto first_output = static_cast<std::size_t>(c.engine->inputs);
  const std::size_t first = inputs ? 0 : first_output, last = inputs ? first_output : c.mirrors.size();
  for (std::size_t b = first; b < last; ++b) {
    const plan::Operand& formal = inputs ? program.inputs[b] : program.outputs[b - first_output];
    std::int64_t elements = 1;
    for (plan::DimIndex d : formal.dims) elements *= c.dims[static_cast<std::size_t>(d)];
    const std::int64_t bytes = (elements * bits(formal.dtype) + 7) / 8;
    void *host = c.memory[b], *device = c.mirrors[b].get();
    const Status::Code code = inputs ? c.stream->copy(device, host, bytes) : c.stream->copy(host, device, bytes);
    if (code != Status::ok) return {code, -1};
  }
  return {};
}

// Copies in, steps and copies out at once: for bindings in the context's own memory, which stays where it is.
bool owns_all_memory(const ContextState& c) noexcept {
  for (std::size_t b = 0; b < c.memory.size(); ++b)
    if (!c.own[b].memory || c.memory[b] != c.own[b].memory.get()) return false;
  return true;
}
Status record_with_copies(ContextState& c, Frame& frame) noexcept {
  if (!c.stream->start_recording()) return {};
  Status status = copy_bindings(c, true);
  if (status) status = run_frame(c, frame);
  if (status) status = copy_bindings(c, false);
  std::shared_ptr<const void> steps = c.stream->finish_recording();
  return status && steps ? keep(c, std::move(steps), c.memory) : status;
}

Status compute(ContextState& c) noexcept {
  Frame& frame = c.frames[static_cast<std::size_t>(c.active)];
  if (!can_record(c, frame)) return run_frame(c, frame);
  const void* recording = known(c);
  if (!recording) {
    if (Status s = record(c, frame); !s) return s;
    recording = known(c);
    if (!recording) return {};  // the stream does not record: record() has run the steps
  }
  return {c.stream->replay(recording), -1};
}

}  // namespace

Status prepare_staged(ContextState& c) noexcept {
  Frame& frame = c.frames[static_cast<std::size_t>(c.active)];
  if (!can_record(c, frame) || known(c)) return {};
  // Whatever the inputs hold is as good as any: kernels stay inside their memory. Zeros are no surprise to anyone.
  for (std::size_t b = 0; b < static_cast<std::size_t>(c.engine->inputs); ++b)
    if (const Status::Code code = c.stream->fill(c.mirrors[b].get(), 0, largest_bytes(*c.engine, b)); code != Status::ok) return {code, -1};
  Status status = record(c, frame);         // what these inputs make of it is of no interest; run() will try its own
  if (status && known(c) && owns_all_memory(c)) status = record_with_copies(c, frame);
  return status.code == Status::device || status.code == Status::out_of_memory ? status : Status{};
}

Status run_staged(ContextState& c) noexcept {
  if (const void* recording = c.measured || c.profiler || c.observer ? nullptr : known(c, c.memory)) {
    const Status::Code code = c.stream->replay(recording);
    return {code == Status::ok ? c.stream->wait() : code, -1};
  }
  const auto mark = [&](int moment) {
    if (c.measured) c.stream->mark(moment);
  };
  mark(0);
  if (Status s = copy_bindings(c, true); !s) return s;
  mark(1);
  if (Status s = compute(c); !s) return s;
  mark(2);
  if (Status s = copy_bindings(c, false); !s) return s;
  mark(3);
  return {c.stream->wait(), -1};
}

}  // namespace tenfold::runtime
