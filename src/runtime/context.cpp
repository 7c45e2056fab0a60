// ExecutionContext: shapes, bindings and runs of one caller.
#include "base/checked.h"
#include "base/float_state.h"
#include "ops/cases.h"
#include "plan/weights.h"
#include "runtime/state.h"
#include "tenfold/engine.h"

namespace tenfold {

using runtime::ContextState;

namespace {
// What lies between steps, at the largest shapes of all profiles, and behind it the scratch of each worker.
std::shared_ptr<void> allocate_arena(const runtime::EngineState& engine, std::int64_t arena_bytes, std::int64_t workers) try {
  return engine.backend->allocate(arena_bytes + engine.scratch_stride * workers);
} catch (const Error& error) {
  if (error.kind() != ErrorKind::out_of_memory) throw;
  const std::string parts = cat("results of steps take ", arena_bytes, " at the largest shapes of the profiles, the scratch of ", workers,
                                " threads ", engine.scratch_stride * workers);
  throw Error(ErrorKind::out_of_memory,
              cat(error.what(), " for a context: ", parts, "; smaller shapes (--maxShapes) or fewer threads take less"));
}
}  // namespace

ExecutionContext::ExecutionContext(std::shared_ptr<runtime::EngineState> engine) : state_(std::make_unique<ContextState>()) {
  ContextState& c = *state_;
  c.engine = std::move(engine);
  c.stream = c.engine->backend->open_stream({.threads = c.engine->options.threads, .pin_threads = c.engine->options.pin_threads});
  const std::int64_t arena_bytes = backends::scratch_stride(c.engine->info.arena_bytes);
  c.arena = allocate_arena(*c.engine, arena_bytes, c.stream->parallel().workers());
  c.scratch = static_cast<std::byte*>(c.arena.get()) + arena_bytes;
  std::size_t symbols = 0, dims = 0, grown = 0;
  for (const runtime::OpenTop& top : c.engine->programs) {
    c.frames.push_back(runtime::make_frame(top.body));
    c.frames.back().arena = static_cast<std::byte*>(c.arena.get());
    if (runtime::is_staged(*c.engine)) runtime::make_staging(c.frames.back(), *c.engine, top);
    symbols = std::max(symbols, top.symbols.size());
    dims = std::max(dims, top.dims.size());
    grown = std::max(grown, top.body.program->grown.size());
  }
  c.symbols.assign(symbols, 0);
  c.dims.assign(dims, 0);
  c.known.assign(symbols, ir::DimCode::Known::value);
  c.grown.resize(grown);
  c.grown_bytes.assign(grown, -1);
  const std::size_t bindings = c.engine->bindings.size();
  c.memory.assign(bindings, nullptr);
  c.memory_bytes.assign(bindings, 0);
  c.own.resize(bindings);
  if (runtime::is_staged(*c.engine)) runtime::make_mirrors(c);
  for (const BindingInfo& b : c.engine->bindings) {
    if (!b.is_input) break;
    c.input_shapes.push_back(b.shape);
    c.input_set.push_back(std::find(b.shape.begin(), b.shape.end(), -1) == b.shape.end());
  }
}
ExecutionContext::~ExecutionContext() = default;

Status ExecutionContext::set_profile(int profile) noexcept {
  if (profile < -1 || profile >= static_cast<int>(state_->frames.size())) return {Status::invalid_shape, -1};
  state_->profile = profile;
  state_->shapes_dirty = true;
  return {};
}

Status ExecutionContext::set_input_shape(int binding, std::span<const std::int64_t> shape) noexcept {
  ContextState& c = *state_;
  if (binding < 0 || binding >= c.engine->inputs) return {Status::invalid_binding, binding};
  const auto b = static_cast<std::size_t>(binding);
  Shape& stored = c.input_shapes[b];
  const Shape& declared = c.engine->bindings[b].shape;
  if (shape.size() != declared.size()) return {Status::invalid_shape, binding};
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] < 0 || (declared[d] >= 0 && shape[d] != declared[d])) return {Status::invalid_shape, binding};
  if (c.input_set[b] && std::equal(shape.begin(), shape.end(), stored.begin())) return {};
  std::copy(shape.begin(), shape.end(), stored.begin());
  c.input_set[b] = true;
  c.shapes_dirty = true;
  return {};
}

Status ExecutionContext::shape(int binding, std::span<std::int64_t> out, int& rank) const noexcept {
  ContextState& c = *state_;
  if (binding < 0 || binding >= static_cast<int>(c.engine->bindings.size())) return {Status::invalid_binding, binding};
  if (c.shapes_dirty)
    if (Status s = runtime::resolve_shapes(c); !s) return s;
  const plan::Program& program = *c.engine->programs[static_cast<std::size_t>(c.active)].body.program;
  const bool input = binding < c.engine->inputs;
  const plan::Operand& formal = input ? program.inputs[static_cast<std::size_t>(binding)]
                                      : program.outputs[static_cast<std::size_t>(binding - c.engine->inputs)];
  rank = static_cast<int>(formal.dims.size());
  if (out.size() < formal.dims.size()) return {Status::invalid_shape, binding};
  for (std::size_t d = 0; d < formal.dims.size(); ++d)
    out[d] = runtime::is_known(c, std::span(&formal.dims[d], 1)) ? c.dims[static_cast<std::size_t>(formal.dims[d])] : -1;
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
  if (binding < 0 || binding >= static_cast<int>(c.memory.size())) return {Status::invalid_binding, binding};
  const auto b = static_cast<std::size_t>(binding);
  c.memory[b] = memory;
  c.memory_bytes[b] = memory ? bytes : 0;
  c.addresses_dirty = true;
  return {};
}

void* ExecutionContext::own_memory(int binding) {
  ContextState& c = *state_;
  require(binding >= 0 && binding < static_cast<int>(c.own.size()), ErrorKind::invalid_argument, "there is no binding ", binding);
  const auto b = static_cast<std::size_t>(binding);
  if (!c.own[b].memory) {
    const std::int64_t largest = runtime::largest_bytes(*c.engine, b);
    c.own[b] = {c.engine->backend->allocate_host(largest), largest};
    c.memory[b] = c.own[b].memory.get();
    c.memory_bytes[b] = largest;
    c.addresses_dirty = true;
  }
  return c.own[b].memory.get();
}

namespace {
// Caller's memory must hold the shapes set; checked whenever shapes or addresses changed.
Status check_sizes(const ContextState& c) noexcept {
  for (std::size_t b = 0; b < c.memory.size(); ++b) {
    const std::int64_t bytes = runtime::bytes_of_binding(c, b);
    if (bytes < 0) return {Status::invalid_shape, static_cast<int>(b)};
    if (bytes > c.memory_bytes[b]) return {Status::invalid_binding, static_cast<int>(b)};
  }
  return {};
}

// Shapes and addresses for the run that comes.
Status settle(ContextState& c) noexcept {
  if (!c.shapes_dirty && !c.addresses_dirty) return {};
  if (c.shapes_dirty)
    if (Status s = runtime::resolve_shapes(c); !s) return s;
  runtime::Frame& frame = c.frames[static_cast<std::size_t>(c.active)];
  for (std::size_t b = 0; b < c.memory.size(); ++b) {
    if (!c.memory[b]) {
      if (!c.own[b].memory) return {Status::not_ready, static_cast<int>(b)};
      c.memory[b] = c.own[b].memory.get();
      c.memory_bytes[b] = c.own[b].bytes;
    }
    if (c.mirrors.empty()) frame.bindings[b] = c.memory[b];
  }
  c.addresses_dirty = true;   // until all that follows went well
  if (Status s = runtime::forget_symbols(c, *frame.open); !s) return s;
  if (Status s = check_sizes(c); !s) return s;
  if (c.mirrors.empty()) runtime::resolve_addresses(c, frame);
  else if (Status s = runtime::prepare_staged(c); !s) return s;
  c.addresses_dirty = false;
  return {};
}

// Up to the point where a GPU computes by itself; on a CPU all of the run.
Status start(ContextState& c) noexcept {
  const runtime::MarkedRange range(c, c.engine->info.model_name.c_str());
  if (Status s = settle(c); !s) return s;
  runtime::Frame& frame = c.frames[static_cast<std::size_t>(c.active)];
  if (!frame.open->counts_in_front)
    if (Status s = runtime::forget_symbols(c, *frame.open); !s) return s;
  const FloatState flush_denormals;   // restored on return
  if (!c.mirrors.empty()) return runtime::start_staged(c);
  if (c.measured) c.stream->mark(1);
  const Status status = runtime::run_frame(c, frame);
  if (c.measured) c.stream->mark(2);
  return status;
}

void set_enqueuing(ContextState& c, bool on) noexcept {
  if (c.enqueuing == on) return;
  c.enqueuing = on;
  if (!c.mirrors.empty()) c.addresses_dirty = true;
}
}  // namespace

Status ExecutionContext::prepare() noexcept {
  ContextState& c = *state_;
  if (Status s = settle(c); !s) return s;
  if (!c.mirrors.empty()) return {};
  const runtime::EngineState& engine = *c.engine;
  if (!engine.options.verify_weights && engine.options.weights <= WeightsMode::map) plan::touch_weights(engine.plan);
  return runtime::check_agreements(c);
}

Status ExecutionContext::run() noexcept {
  ContextState& c = *state_;
  set_enqueuing(c, false);
  Status status = start(c);
  if (status) status = c.mirrors.empty() ? Status{c.stream->wait(), -1} : runtime::finish_staged(c);
  c.cancelled.store(false, std::memory_order_relaxed);
  return status;
}

Status ExecutionContext::enqueue(void* stream) noexcept {
  ContextState& c = *state_;
  if (c.mirrors.empty() && !stream) return run();
  set_enqueuing(c, true);
  if (Status s = settle(c); !s) return s;
  if (!c.stream->use(stream)) {
    c.last_error = "streams of the caller's belong to GPUs";
    return {Status::failed, -1};
  }
  const Status status = start(c);
  c.stream->use(nullptr);
  runtime::record_seen(c);
  c.cancelled.store(false, std::memory_order_relaxed);
  return status;
}

Status ExecutionContext::wait() noexcept { return {state_->stream->wait(), -1}; }
void ExecutionContext::wait_how(Wait how) noexcept { state_->stream->wait_how(how); }
void* ExecutionContext::device_memory(int binding) noexcept {
  const auto& mirrors = state_->mirrors;
  return binding >= 0 && binding < static_cast<int>(mirrors.size()) ? mirrors[static_cast<std::size_t>(binding)].memory.get() : nullptr;
}
void ExecutionContext::replay_runs(bool on) noexcept {
  state_->stream_cannot_record = !on;
  state_->addresses_dirty = true;
}

void ExecutionContext::measure_parts(bool on) noexcept {
  if (!state_->mirrors.empty() && state_->measured != on) state_->addresses_dirty = true;   // copies stand apart to be measured
  state_->measured = on;
}
RunTimes ExecutionContext::last_times() const noexcept {
  const backends::Stream& s = *state_->stream;
  if (state_->mirrors.empty()) return {0, s.between(1, 2), 0, s.between(1, 2)};
  return {s.between(0, 1), s.between(1, 2), s.between(2, 3), state_->enqueue_ms};
}

bool ExecutionContext::mark_ranges(bool on) noexcept {
  state_->ranges = on ? range_marks() : nullptr;
  return state_->ranges != nullptr;
}

void ExecutionContext::cancel() noexcept { state_->cancelled.store(true, std::memory_order_relaxed); }
void ExecutionContext::set_profiler(ProfilerCallback callback) {
  state_->profiler = std::move(callback);
  state_->addresses_dirty = true;   // steps that run one by one find their bindings elsewhere
}
void ExecutionContext::set_observer(ObserverCallback callback) {
  state_->observer = std::move(callback);
  state_->addresses_dirty = true;
}

}  // namespace tenfold
