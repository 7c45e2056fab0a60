// A run on a device with memory of its own: the steps, and the copies of bindings in pinned memory, as one graph where that is
// possible.
#include "runtime/device/replay.h"

#include <algorithm>
#include <chrono>

#include "backends/stream.h"
#include "base/log.h"
#include "runtime/context.h"
#include "runtime/device/staging.h"
#include "runtime/device/graph_branches.h"
#include "runtime/device/transfers.h"

namespace tenfold::runtime {
namespace {

constexpr std::size_t kMaxGraphs = 32;       // by shape and addresses; the one unused for longest goes first
constexpr std::size_t kMaxOfOneShape = 4;        // with other addresses: the one unused for longest is changed
constexpr std::size_t kMaxSeenShapes = 256;

bool can_capture(const ContextState& c, const Frame& frame) noexcept {
  if (c.watch.step_timer || c.watch.observer || !c.device->capturer || c.device->graph == GraphPhase::off) return false;
  for (std::size_t i = frame.open->prologue; i < frame.steps.size(); ++i) {
    const OpenStep& step = *frame.steps[i].open;
    if (step.step->kind != plan::StepKind::kernel && step.step->kind != plan::StepKind::copy) return false;
    if (step.tactic && !step.tactic->capturable) return false;
  }
  return true;
}

std::span<const std::int64_t> active_dims(const ContextState& c) noexcept {
  return {c.shapes.dims.data(), c.top().dims.size()};
}
template <class Seen>
bool same_shape(const ContextState& c, const Seen& r) noexcept {
  const auto dims = active_dims(c);
  return r.program == c.shapes.active && std::equal(dims.begin(), dims.end(), r.dims.begin(), r.dims.end());
}
bool same_addresses(const ContextState& c, const CapturedGraph& r) noexcept {
  const bool copies = c.frame().open->prologue == 0;  // in the graph
  const std::vector<Transfer>& now = c.device->transfers;
  return std::equal(now.begin(), now.end(), r.transfers.begin(), r.transfers.end(),
                    [&](const Transfer& a, const Transfer& b) { return a.used == b.used && (!copies || a.pinned == b.pinned); });
}

// Recordings are in order of use, the last used last.
const void* known(ContextState& c) noexcept {
  std::vector<CapturedGraph>& all = c.device->graphs;
  for (auto it = all.rbegin(); it != all.rend(); ++it)
    if (same_shape(c, *it) && same_addresses(c, *it)) {
      if (it != all.rbegin()) std::rotate(it.base() - 1, it.base(), all.end());
      all.back().used = c.device->runs;
      return all.back().steps.get();
    }
  return nullptr;
}

void bind_frame(ContextState& c, Frame& frame, bool to_mirrors) noexcept {
  const DeviceLink& device = *c.device;
  for (std::size_t b = 0; b < device.mirrors.size(); ++b)
    frame.bindings[b] = to_mirrors ? device.mirrors[b].memory.get() : device.transfers[b].used;
  resolve_addresses(c, frame);
}

Status run_after_prologue(ContextState& c, Frame& frame) noexcept { return run_steps(c, frame, frame.open->prologue, frame.steps.size()); }

// Results of steps of the prologue: nothing counted, and as many of everything as can be.
Status clear_prologue(ContextState& c, Frame& frame) noexcept {
  for (std::size_t s = 0; s < frame.open->prologue; ++s)
    for (std::size_t o = 0; o < frame.steps[s].out.size(); ++o) {
      const backends::Bound& out = frame.steps[s].out[o];
      std::int64_t elements = 1;
      for (int d = 0; d < out.rank; ++d) elements *= out.dims[d];
      const std::int64_t bytes = (elements * bits(frame.steps[s].open->step->out[o].dtype) + 7) / 8;
      if (const Status::Code code = c.stream->fill(out.data, 0, bytes); code != Status::ok) return {code, -1};
    }
  return {};
}

// Step by step on zeros, in memory of the context's own, so that libraries set up what they need at these shapes.
Status warm_up(ContextState& c, Frame& frame) noexcept {
  for (std::size_t b = 0; b < static_cast<std::size_t>(c.engine->inputs); ++b)
    if (const Status::Code code = c.stream->fill(c.device->mirrors[b].memory.get(), 0, largest_bytes(*c.engine, b)); code != Status::ok)
      return {code, -1};
  bind_frame(c, frame, true);
  Status status = clear_prologue(c, frame);
  if (status) status = run_after_prologue(c, frame);
  const Status::Code code = c.stream->wait();   // zeros need not be good indices: the caller's own values will be looked at
  bind_frame(c, frame, false);
  return !status || code == Status::bad_index ? status : Status{code, -1};
}

// One of this shape (or of these steps, where what is counted makes the shapes) that is to be changed, out of the list; null if there is
// room for another.
std::shared_ptr<const void> retired(ContextState& c) noexcept {
  std::vector<CapturedGraph>& all = c.device->graphs;
  const auto same = [&](const CapturedGraph& r) { return same_shape(c, r); };
  const bool many = std::count_if(all.begin(), all.end(), same) >= static_cast<std::ptrdiff_t>(kMaxOfOneShape);
  if (!many && all.size() < kMaxGraphs) return nullptr;
  const auto it = many ? std::find_if(all.begin(), all.end(), same) : all.begin();
  const bool alike = same(*it) || (it->program == c.shapes.active && c.frame().open->prologue > 0);
  std::shared_ptr<const void> steps = alike ? std::move(it->steps) : nullptr;
  all.erase(it);
  return steps;
}

// The steps, all behind each other or in branches.
Status capture_steps(ContextState& c, Frame& frame, const BranchPlan* branches) noexcept {
  c.device->branches = branches;
  Status status = run_after_prologue(c, frame);
  c.device->branches = nullptr;
  if (!branches) return status;
  for (int end : branches->joined_at_end)
    if (status) status.code = c.device->capturer->follow(0, end);
  if (status) status.code = c.device->capturer->use_branch(0);
  return status;
}

// Milliseconds of the steps recorded in one way or the other, in memory of the context's own; 0 if that fails.
double time_of(ContextState& c, Frame& frame, const BranchPlan* branches) noexcept {
  backends::GraphCapturer& capturer = *c.device->capturer;
  if (!capturer.start()) return 0;
  const Status status = capture_steps(c, frame, branches);
  const std::shared_ptr<const void> steps = capturer.finish();
  if (!status || !steps) return 0;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    c.stream->mark(0);
    if (capturer.replay(steps.get()) != Status::ok) return 0;
    c.stream->mark(1);
    if (const Status::Code code = c.stream->wait(); code != Status::ok && code != Status::bad_index) return 0;
    if (const double ms = c.stream->between(0, 1); i > 0 && (best == 0 || ms < best)) best = ms;
  }
  return best;
}

// Whether branches pay is measured: branches may be too small, or fill the device each for itself.
bool branches_pay(ContextState& c, Frame& frame) {
  const int branches = c.device->capturer->branches();
  if (branches < 2) return false;
  bind_frame(c, frame, true);
  const BranchPlan plan = plan_branches(frame, branches);
  bool pay = false;
  if (plan.several) {
    const double in_branches = time_of(c, frame, &plan), in_order = time_of(c, frame, nullptr);
    pay = in_branches > 0 && in_branches < 0.98 * in_order;
  }
  bind_frame(c, frame, false);
  return pay;
}

bool stopped_by_user(Status status) noexcept { return status.code == Status::cancelled || status.code == Status::deadline; }

// From now on this context launches its steps one by one, and the log says why. A run that cannot work either has its own error.
void give_up(ContextState& c, const char* what) noexcept {
  c.device->graph = GraphPhase::off;
  try {
    const std::string why = c.run.last_error.empty() ? std::string(c.stream->error()) : c.run.last_error;
    Log(c.engine->options.log)(Severity::warning, "the steps of '", c.engine->info.model_name, "' are launched one by one, for ", what,
                               why.empty() ? "" : ": ", why);
  } catch (...) {   // a log that throws stops no run
  }
  c.run.last_error.clear();
}

// With the copies of what is pinned, but behind a prologue: those begin before the number of tokens is known, and stand apart. No error of
// a graph is one of the run: without one, the run goes on step by step.
Status capture(ContextState& c, Frame& frame) noexcept {
  try {
    const auto dims = active_dims(c);
    const bool copies = frame.open->prologue == 0;
    std::vector<CapturedGraph>& all = c.device->graphs;
    backends::GraphCapturer& capturer = *c.device->capturer;
    CapturedGraph made{c.shapes.active, {dims.begin(), dims.end()}, c.device->transfers, nullptr, false};
    const auto known_shape = std::find_if(all.begin(), all.end(), [&](const CapturedGraph& r) { return same_shape(c, r); });
    if (known_shape != all.end()) {
      made.branches = known_shape->branches;
    } else if (copies) {
      if (Status s = warm_up(c, frame); stopped_by_user(s)) return s;
      else if (!s) return give_up(c, "they failed on zeros, ahead of a CUDA graph"), Status{};
      made.branches = branches_pay(c, frame);
    }
    const BranchPlan plan = made.branches ? plan_branches(frame, capturer.branches()) : BranchPlan{};
    std::shared_ptr<const void> previous = retired(c);
    all.reserve(kMaxGraphs);
    if (!capturer.start()) return c.device->graph = GraphPhase::off, Status{};
    Status status = copies ? copy_pinned(c, true) : Status{};
    if (status) status = capture_steps(c, frame, made.branches ? &plan : nullptr);
    if (status && copies) status = copy_pinned(c, false);
    made.steps = capturer.finish(std::move(previous));
    if (stopped_by_user(status)) return status;
    if (status && made.steps) all.push_back(std::move(made));
    else give_up(c, "a CUDA graph of them could not be captured");
  } catch (const std::bad_alloc&) {
    give_up(c, "no memory was left for a CUDA graph");
  }
  return {};
}

// A graph costs as much as some runs: the first shapes of a program get one at once, others when they come again, and then only in
// place of shapes that came less lately. So a caller whose shapes are all different pays for none.
bool pays(ContextState& c) noexcept try {
  DeviceLink& d = *c.device;
  const auto of_program = [&](const CapturedGraph& r) { return r.program == c.shapes.active; };
  const auto of_shape = [&](const auto& r) { return same_shape(c, r); };
  if (std::none_of(d.graphs.begin(), d.graphs.end(), of_program)) return true;
  if (std::any_of(d.graphs.begin(), d.graphs.end(), of_shape)) return true;   // at other addresses
  const auto seen = std::find_if(d.seen_shapes.begin(), d.seen_shapes.end(), of_shape);
  const bool again = seen != d.seen_shapes.end();
  const bool record = again && (d.graphs.size() < kMaxGraphs || d.graphs.front().used < seen->run);
  if (again) d.seen_shapes.erase(seen);
  else if (d.seen_shapes.size() == kMaxSeenShapes) d.seen_shapes.erase(d.seen_shapes.begin());
  const auto dims = active_dims(c);
  if (!record) d.seen_shapes.push_back({c.shapes.active, {dims.begin(), dims.end()}, d.runs});
  return record;
} catch (const std::bad_alloc&) {
  return false;
}

Status run_device_steps(ContextState& c, Frame& frame) noexcept {
  const bool capturable = can_capture(c, frame), copies = frame.open->prologue == 0;
  ++c.device->runs;
  if (const void* graph = capturable ? known(c) : nullptr) return {c.device->capturer->replay(graph), -1};
  if (copies)
    if (Status s = copy_pinned(c, true); !s) return s;
  if (Status s = run_after_prologue(c, frame); !s) return s;
  if (copies) return copy_pinned(c, false);
  c.device->decide(capturable && pays(c) ? GraphPhase::capture_next : GraphPhase::decided);
  return {};
}

}  // namespace

Status prepare_staged(ContextState& c, bool in_advance) noexcept {
  Frame& frame = c.frame();
  c.device->decide(GraphPhase::decided);
  if (Status s = choose_transfers(c); !s) return s;
  bind_frame(c, frame, false);
  note_largest_results(frame);
  if (!can_capture(c, frame)) return {};
  if (frame.open->prologue == 0) {
    if (known(c)) return {};
    if (in_advance || pays(c)) return capture(c, frame);
    return c.device->decide(GraphPhase::seen_once), Status{};
  }
  const std::vector<CapturedGraph>& all = c.device->graphs;
  const bool any = std::any_of(all.begin(), all.end(), [&](const CapturedGraph& r) { return r.program == c.shapes.active; });
  const Status status = any ? Status{} : warm_up(c, frame);
  return status || stopped_by_user(status) ? status : (give_up(c, "they failed on zeros, ahead of a CUDA graph"), Status{});
}

Status start_staged(ContextState& c) noexcept {
  Frame& frame = c.frame();
  const bool prologue = frame.open->prologue > 0;
  // The host writes what an earlier run may still read, and reads what the caller's stream may still write.
  if (c.device->prologue_uploads || (prologue && c.device->launch != Launch::run))
    if (const Status::Code code = c.stream->wait(); code != Status::ok) return {code, -1};
  c.device->prologue_uploads = false;
  copy_by_host(c, true);
  const auto mark = [&](int moment) {
    if (c.watch.parts) c.stream->mark(moment);
  };
  mark(0);
  if (Status s = copy_apart(c, true); !s) return s;
  if (prologue)
    if (Status s = copy_pinned(c, true); !s) return s;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point enqueue_start = c.watch.parts ? Clock::now() : Clock::time_point{};
  if (prologue)
    if (Status s = run_steps(c, frame, 0, frame.open->prologue); !s) return s;
  mark(1);
  if (Status s = run_device_steps(c, frame); !s) return s;
  if (c.watch.parts) c.device->enqueue_ms = std::chrono::duration<double, std::milli>(Clock::now() - enqueue_start).count();
  mark(2);
  if (prologue)
    if (Status s = copy_pinned(c, false); !s) return s;
  if (Status s = copy_apart(c, false); !s) return s;
  mark(3);
  return {};
}

void capture_seen(ContextState& c) noexcept {
  if (c.device->graph != GraphPhase::capture_next) return;
  c.device->graph = GraphPhase::decided;
  capture(c, c.frame());
}

Status finish_staged(ContextState& c) noexcept {
  capture_seen(c);
  const Status status{c.stream->wait(), -1};
  c.device->prologue_uploads = false;
  if (status) copy_by_host(c, false);
  return status;
}

}  // namespace tenfold::runtime
