// ExecutionContext: shapes, bindings and runs of one caller.
#include "backends/backend.h"
#include "base/checked.h"
#include "base/threads/float_state.h"
#include "ops/cases.h"
#include "plan/weights.h"
#include "runtime/bindings/extras.h"
#include "runtime/context.h"
#include "runtime/device/link.h"
#include "runtime/device/replay.h"
#include "runtime/device/transfers.h"
#include "tenfold/engine.h"

namespace tenfold {

using runtime::ContextState;
using runtime::GraphPhase;
using runtime::Launch;

ExecutionContext::ExecutionContext(std::unique_ptr<ContextState> state) : state_(std::move(state)) {}
ExecutionContext::~ExecutionContext() {
  state_->completer.reset();   // waits for the run in its thread, which uses all the rest
  // A plug-in frees what it keeps for steps on a GPU: nothing may use that any more.
  if (state_->engine->options.plugins && state_->device) state_->stream->wait();
}

Status ExecutionContext::set_profile(int profile) noexcept {
  state_->shapes.refused_profile.reset();
  if (profile < -1 || profile >= static_cast<int>(state_->frames.size())) {
    state_->shapes.refused_profile = profile;
    return {Status::invalid_shape, -1};
  }
  state_->shapes.profile = profile;
  state_->shapes.changed = true;
  return {};
}

Status ExecutionContext::set_input_shape(int binding, std::span<const std::int64_t> shape) noexcept {
  ContextState& c = *state_;
  if (binding < 0 || binding >= c.engine->inputs) return {Status::invalid_binding, binding};
  const auto b = static_cast<std::size_t>(binding);
  Shape& stored = c.shapes.inputs[b];
  const Shape& declared = c.engine->bindings[b].shape;
  if (shape.size() != declared.size()) return {Status::invalid_shape, binding};
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] < 0 || (declared[d] >= 0 && shape[d] != declared[d])) return {Status::invalid_shape, binding};
  if (c.extras) runtime::before_changes(c);
  if (c.extras) runtime::forget_next_shape(c, b);
  if (c.shapes.set[b] && std::equal(shape.begin(), shape.end(), stored.begin())) return {};
  std::copy(shape.begin(), shape.end(), stored.begin());
  c.shapes.set[b] = true;
  c.shapes.changed = true;
  return {};
}

Status ExecutionContext::shape(int binding, std::span<std::int64_t> out, int& rank) const noexcept {
  ContextState& c = *state_;
  if (binding < 0 || binding >= static_cast<int>(c.engine->bindings.size())) return {Status::invalid_binding, binding};
  if (c.shapes.changed)
    if (Status s = runtime::resolve_shapes(c); !s) return s;
  const plan::Program& program = c.program();
  const bool input = binding < c.engine->inputs;
  const plan::Operand& formal = input ? program.inputs[static_cast<std::size_t>(binding)]
                                      : program.outputs[static_cast<std::size_t>(binding - c.engine->inputs)];
  rank = static_cast<int>(formal.dims.size());
  if (out.size() < formal.dims.size()) return {Status::invalid_shape, binding};
  for (std::size_t d = 0; d < formal.dims.size(); ++d)
    out[d] = runtime::is_known(c, std::span(&formal.dims[d], 1)) ? c.shapes.dims[static_cast<std::size_t>(formal.dims[d])] : -1;
  return {};
}

Shape ExecutionContext::shape(int binding) const {
  std::array<std::int64_t, 64> extents;
  int rank = 0;
  const Status status = shape(binding, extents, rank);
  require(status.code == Status::ok, ErrorKind::invalid_argument, describe(status));
  return Shape(extents.begin(), extents.begin() + rank);
}

Status ExecutionContext::bind(int binding, void* memory, std::int64_t bytes) noexcept {
  ContextState& c = *state_;
  if (binding < 0 || binding >= static_cast<int>(c.bindings.memory.size())) return {Status::invalid_binding, binding};
  const auto b = static_cast<std::size_t>(binding);
  if (!c.objects.bound.empty() && memory && runtime::is_object(*c.engine, b)) return {Status::invalid_binding, binding};
  const bool settled = !c.shapes.changed && !c.bindings.changed && runtime::is_plain(c, b);   // the next run needs no preparation
  if (settled && memory && memory == c.bindings.memory[b] && bytes == c.bindings.bytes[b] && runtime::lies_as_before(c, b)) return {};
  if (c.extras) runtime::forget_extras(c, b);
  c.bindings.memory[b] = memory;
  c.bindings.bytes[b] = memory ? bytes : 0;
  c.bindings.changed = true;
  return {};
}

void* ExecutionContext::own_memory(int binding) {
  ContextState& c = *state_;
  require(binding >= 0 && binding < static_cast<int>(c.bindings.own.size()), ErrorKind::invalid_argument, "there is no binding ", binding);
  const auto b = static_cast<std::size_t>(binding);
  require(!runtime::holds_state(c, b), ErrorKind::invalid_argument, "binding ", binding,
          " holds a state, which read_state() and write_state() reach; bind() ends it");
  require(!runtime::is_object(*c.engine, b), ErrorKind::invalid_argument, "binding '", c.engine->bindings[b].name, "' is ",
          ir::text(c.engine->plan.bindings[b].type), ", which has no memory: bind_value() and bound_value()");
  if (!c.bindings.own[b].memory) {
    const std::int64_t largest = runtime::largest_bytes(*c.engine, b);
    c.bindings.own[b] = {c.engine->backend->memory().allocate_host(largest), largest};
    c.bindings.memory[b] = c.bindings.own[b].memory.get();
    c.bindings.bytes[b] = largest;
    c.bindings.changed = true;
  }
  return c.bindings.own[b].memory.get();
}

namespace {
// Caller's memory must hold the shapes set; checked whenever shapes or addresses changed.
Status check_sizes(const ContextState& c) noexcept {
  for (std::size_t b = 0; b < c.bindings.memory.size(); ++b) {
    const std::int64_t bytes = runtime::bytes_of_binding(c, b);
    if (bytes < 0) return {Status::invalid_shape, static_cast<int>(b)};
    if (bytes > c.bindings.bytes[b]) return {Status::invalid_binding, static_cast<int>(b)};
  }
  return {};
}

// Shapes and addresses for the run that comes.
Status prepare_run(ContextState& c, bool in_advance = false) noexcept {
  if (!c.shapes.changed && !c.bindings.changed && !c.bindings.states_moved) return {};
  c.run.precomputed = 0;   // they read what was bound before
  const bool anew = c.shapes.changed || c.bindings.changed;   // places of states that swap are nobody else's
  c.bindings.overlapping[0] = c.bindings.overlapping[1] = -1;
  c.run.last_error.clear();
  c.shapes.refused_profile.reset();
  if (c.shapes.changed)
    if (Status s = runtime::resolve_shapes(c); !s) return s;
  for (std::size_t b = 0; b < c.objects.bound.size() && static_cast<int>(b) < c.engine->inputs; ++b)
    if (!c.objects.bound[b] && runtime::is_object(*c.engine, b)) return {Status::not_ready, static_cast<int>(b)};
  if (c.extras)
    if (Status s = runtime::prepare_borders(c); !s) return s;
  runtime::Frame& frame = c.frame();
  for (std::size_t b = 0; b < c.bindings.memory.size(); ++b) {
    if (!c.bindings.memory[b]) {
      if (!c.bindings.own[b].memory) return {Status::not_ready, static_cast<int>(b)};
      c.bindings.memory[b] = c.bindings.own[b].memory.get();
      c.bindings.bytes[b] = c.bindings.own[b].bytes;
    }
    if (!c.device) frame.bindings[b] = c.bindings.memory[b];
  }
  c.bindings.changed = true;   // until all that follows went well
  if (Status s = runtime::forget_symbols(c, *frame.open); !s) return s;
  if (Status s = check_sizes(c); !s) return s;
  if (anew)
    if (Status s = runtime::check_overlaps(c); !s) return s;
  if (!c.device) runtime::resolve_addresses(c, frame);
  else if (Status s = runtime::prepare_staged(c, in_advance); !s) return s;
  c.bindings.changed = false;
  c.bindings.states_moved = false;
  return {};
}

// Up to the point where a GPU computes by itself; on a CPU all of the run.
Status start(ContextState& c) noexcept {
  const runtime::MarkedRange range(c.watch, c.engine->info.model_name.c_str());
  if (const Status::Code stop = runtime::stopped(c.run); stop != Status::ok) return {stop, -1};
  if (Status s = prepare_run(c); !s) return s;
  if (c.extras)
    if (Status s = runtime::before_steps(c); !s) return s;
  runtime::Frame& frame = c.frame();
  if (!frame.open->counts_in_prologue)
    if (Status s = runtime::forget_symbols(c, *frame.open); !s) return s;
  if (c.watch.step_timer) c.watch.run_start = std::chrono::steady_clock::now();
  const FloatState state(c.engine->plan.keeps_denormals ? Denormals::keep : Denormals::flush);   // the caller's comes back
  if (c.device) return runtime::start_staged(c);
  if (c.watch.parts) c.stream->mark(1);
  const Status status = runtime::run_steps(c, frame, std::exchange(c.run.precomputed, 0), frame.steps.size());
  if (c.watch.parts) c.stream->mark(2);
  return status;
}

Status start_with_extras(ContextState& c) noexcept {
  const Status status = start(c);
  return status && c.extras ? runtime::after_steps(c) : status;
}

Status request_memory(ContextState& c) noexcept { return c.extras ? runtime::before_preparing_run(c) : Status{}; }

// What is enqueued reaches the device in other ways than what the host waits for.
void set_launch(ContextState& c, Launch launch) noexcept {
  if (!c.device) return;
  const Launch last = std::exchange(c.device->launch, launch);
  if ((last == Launch::run) != (launch == Launch::run)) c.bindings.changed = true;
}
}  // namespace

Status ExecutionContext::prepare() noexcept {
  ContextState& c = *state_;
  if (c.extras)
    if (Status s = runtime::before_preparing(c); !s) return s;
  if (Status s = prepare_run(c, true); !s) return s;
  if (c.device) return {};
  const runtime::EngineState& engine = *c.engine;
  if (!engine.options.verify_weights && engine.options.weights <= WeightsMode::map) plan::touch_weights(engine.plan);
  return runtime::check_agreements(c);
}

Status ExecutionContext::precompute() noexcept {
  ContextState& c = *state_;
  c.run.precomputed = 0, c.run.interruptible = interruptible();
  if (c.device || c.extras) return {};   // run() does all
  if (Status s = prepare_run(c); !s) return s;
  const auto precomputed = static_cast<std::size_t>(c.program().precomputed);
  if (precomputed == 0) return {};
  const FloatState state(c.engine->plan.keeps_denormals ? Denormals::keep : Denormals::flush);
  const Status status = runtime::run_steps(c, c.frame(), 0, precomputed);
  if (status) c.run.precomputed = precomputed;
  return status;
}

// A graph is captured before a run, never in the middle of one: a run that is enqueued is settled twice.
void runtime::begin_run(ContextState& c) noexcept {
  c.run.phase.store(Phase::going, std::memory_order_relaxed);
  if (c.device && c.device->graph == GraphPhase::seen_once) c.bindings.changed = true;
}

namespace {

// Whoever was told that the run is cancelled is right, though it may have been behind the last step.
Status end_run(ContextState& c, Status status) noexcept {
  const bool reported = c.run.phase.exchange(runtime::Phase::idle, std::memory_order_relaxed) == runtime::Phase::cancelled;
  const bool tripped = c.run.options && c.run.options->token.cancelled();
  c.run.options = nullptr;
  return status && (reported || tripped) ? Status{Status::cancelled, -1} : status;
}

// Of a run that failed or was cancelled nothing may be under way: the caller's memory is the caller's again. States stay.
Status finish_run(ContextState& c, Status status) noexcept {
  if (status) return c.extras ? runtime::advance_states(c) : status;
  if (c.device) c.stream->wait();
  if (c.extras) c.extras->outputs_wait = false;
  return status;
}

}  // namespace

Status runtime::run_context(ContextState& c, const RunOptions* options) noexcept {
  c.run.outcome_counts = false;
  begin_run(c);
  return run_begun(c, options);
}

Status runtime::run_begun(ContextState& c, const RunOptions* options) noexcept {
  set_launch(c, Launch::run);
  c.run.options = options, c.run.interruptible = interruptible();
  Status status = request_memory(c);
  if (status) status = start_with_extras(c);
  if (status) status = c.device ? runtime::finish_staged(c) : Status{c.stream->wait(), -1};
  if (status && c.extras) status = runtime::after_run(c);
  return finish_run(c, end_run(c, status));
}

namespace {
// Asks the caller's stream for a run.
Status enqueue_run(ContextState& c, void* stream) noexcept {
  if (const Status::Code stop = runtime::stopped(c.run); stop != Status::ok) return {stop, -1};
  if (c.extras)
    if (Status s = runtime::before_enqueuing(c); !s) return s;
  if (Status s = request_memory(c); !s) return s;
  if (Status s = prepare_run(c); !s) return s;
  backends::CallersStreams* const callers = c.stream->callers();
  if (callers ? !callers->use(stream) : stream != nullptr) {
    c.run.last_error = "streams of the caller's belong to GPUs";
    return {Status::failed, -1};
  }
  Status status = start_with_extras(c);
  if (status && callers && c.device && c.device->launch == Launch::enqueue_then) status.code = callers->note_end();
  if (callers) callers->use(nullptr);
  if (c.device) runtime::capture_seen(c);
  return status;
}

}  // namespace

using Capture = backends::CallersStreams::Capture;

Status runtime::enqueue_context(ContextState& c, void* stream, const RunOptions* options, Launch launch) noexcept {
  if (!c.device && !stream) return run_context(c, options);
  c.run.outcome_counts = false;
  backends::CallersStreams* const callers = c.stream->callers();
  if (const Capture capture = callers ? callers->capture_of(stream) : Capture::none; capture != Capture::none) {
    if (capture == Capture::active) return capture_context(c, stream, launch);
    c.run.last_error = "the caller's stream takes no work: an error ended its capture";
    return {Status::device, -1};
  }
  set_launch(c, launch);
  begin_run(c);
  c.run.options = options;
  return finish_run(c, end_run(c, enqueue_run(c, stream)));
}

Status ExecutionContext::run() noexcept { return runtime::run_context(*state_, nullptr); }
Status ExecutionContext::run_with(const RunOptions& options) noexcept { return runtime::run_context(*state_, &options); }
Status ExecutionContext::enqueue(void* stream) noexcept { return runtime::enqueue_context(*state_, stream, nullptr); }
Status ExecutionContext::enqueue(void* stream, const RunOptions& options) noexcept {
  return runtime::enqueue_context(*state_, stream, &options);
}

Status ExecutionContext::wait() noexcept {
  ContextState& c = *state_;
  const Status completed = runtime::wait_completed(c);
  const Status status{c.stream->wait(), -1};
  if (std::exchange(c.run.outcome_counts, false) && !completed) return completed;
  return status && c.extras ? runtime::after_run(c) : status;
}
void ExecutionContext::wait_how(Wait how) noexcept { state_->stream->wait_how(how); }
void* ExecutionContext::device_memory(int binding) noexcept {
  const ContextState& c = *state_;
  const bool there = c.device && binding >= 0 && binding < static_cast<int>(c.device->mirrors.size());
  return there ? c.device->mirrors[static_cast<std::size_t>(binding)].memory.get() : nullptr;
}
void ExecutionContext::replay_runs(bool on) noexcept {
  if (state_->device) state_->device->graph = on ? GraphPhase::decided : GraphPhase::off;
  state_->bindings.changed = true;
}

void ExecutionContext::measure_parts(bool on) noexcept {
  if (state_->device && state_->watch.parts != on) state_->bindings.changed = true;   // copies stand apart to be measured
  state_->watch.parts = on;
}
RunTimes ExecutionContext::last_times() const noexcept {
  const backends::Stream& s = *state_->stream;
  if (!state_->device) return {0, s.between(1, 2), 0, s.between(1, 2)};
  return {s.between(0, 1), s.between(1, 2), s.between(2, 3), state_->device->enqueue_ms};
}

bool ExecutionContext::mark_ranges(bool on) noexcept {
  state_->watch.ranges = on ? range_marks() : nullptr;
  return state_->watch.ranges != nullptr;
}

bool ExecutionContext::cancel() noexcept {
  runtime::Phase met = runtime::Phase::going;
  return state_->run.phase.compare_exchange_strong(met, runtime::Phase::cancelled, std::memory_order_relaxed) ||
         met == runtime::Phase::cancelled;
}
void ExecutionContext::set_profiler(ProfilerCallback callback) {
  if (!callback) return set_step_timer({});
  set_step_timer([callback = std::move(callback)](const StepTime& step) { callback(step.name, step.ms); });
}
void ExecutionContext::set_step_timer(StepTimeCallback callback) {
  state_->watch.step_timer = std::move(callback);
  state_->bindings.changed = true;   // steps that run one by one find their bindings elsewhere
}
void ExecutionContext::set_observer(ObserverCallback callback, std::set<std::string, std::less<>> values) {
  state_->watch.observer = std::move(callback), state_->watch.observed = std::move(values);
  state_->bindings.changed = true;
}

}  // namespace tenfold
