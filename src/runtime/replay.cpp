// A run on a device with memory of its own: the steps, and the copies of bindings in pinned memory, as one recording where that is
// possible.
#include <algorithm>

#include "runtime/state.h"

namespace tenfold::runtime {
namespace {

constexpr std::size_t kMostRecordings = 32;       // by shape and addresses; the one unused for longest goes first
constexpr std::size_t kMostOfOneShape = 4;        // with other addresses: the one unused for longest is changed

bool may_record(const ContextState& c) noexcept { return !c.profiler && !c.observer && !c.stream_cannot_record; }
bool can_record(const ContextState& c, const Frame& frame) noexcept {
  if (!may_record(c)) return false;
  for (const BoundStep& bound : frame.steps)
    if (bound.open->step->kind != plan::StepKind::kernel && bound.open->step->kind != plan::StepKind::copy) return false;
  return true;
}

// Where packed tokens have been counted on the host, and kernels and copies are all that is left; 0: nowhere.
std::size_t behind_count(const Frame& frame) noexcept {
  for (std::size_t i = frame.steps.size(); i-- > 0;) {
    const plan::Step& step = *frame.steps[i].open->step;
    if (step.kind == plan::StepKind::kernel || step.kind == plan::StepKind::copy) continue;
    return step.kind == plan::StepKind::host && step.op == "TokenPositions" ? i + 1 : 0;
  }
  return 0;
}

Frame& active_frame(ContextState& c) noexcept { return c.frames[static_cast<std::size_t>(c.active)]; }
std::span<const std::int64_t> active_dims(const ContextState& c) noexcept {
  return {c.dims.data(), c.engine->programs[static_cast<std::size_t>(c.active)].dims.size()};
}
bool same_shape(const ContextState& c, const Recording& r) noexcept {
  const auto dims = active_dims(c);
  return r.program == c.active && std::equal(dims.begin(), dims.end(), r.dims.begin(), r.dims.end());
}
bool same_addresses(const ContextState& c, const Recording& r) noexcept {
  return std::equal(c.transfers.begin(), c.transfers.end(), r.transfers.begin(), r.transfers.end(),
                    [](const Transfer& a, const Transfer& b) { return a.used == b.used && a.pinned == b.pinned; });
}

// Recordings are in order of use, the last used last.
Recording* find_known(ContextState& c) noexcept {
  for (auto it = c.recordings.rbegin(); it != c.recordings.rend(); ++it)
    if (same_shape(c, *it) && same_addresses(c, *it)) {
      if (it != c.recordings.rbegin()) std::rotate(it.base() - 1, it.base(), c.recordings.end());
      return &c.recordings.back();
    }
  return nullptr;
}
const void* known(ContextState& c) noexcept {
  const Recording* found = find_known(c);
  return found ? found->steps.get() : nullptr;
}

void bind_frame(ContextState& c, Frame& frame, bool to_mirrors) noexcept {
  for (std::size_t b = 0; b < c.mirrors.size(); ++b) frame.bindings[b] = to_mirrors ? c.mirrors[b].memory.get() : c.transfers[b].used;
  resolve_addresses(c, frame);
}

// Step by step on zeros, in memory of the context's own, so that libraries set up what they need at these shapes.
Status warm_up(ContextState& c, Frame& frame) noexcept {
  for (std::size_t b = 0; b < static_cast<std::size_t>(c.engine->inputs); ++b)
    if (const Status::Code code = c.stream->fill(c.mirrors[b].memory.get(), 0, largest_bytes(*c.engine, b)); code != Status::ok)
      return {code, -1};
  bind_frame(c, frame, true);
  Status status = run_frame(c, frame);
  const Status::Code code = c.stream->wait();   // zeros need not be good indices: the caller's own values will be looked at
  bind_frame(c, frame, false);
  return !status || code == Status::bad_index ? status : Status{code, -1};
}

// One of this shape that is to be changed, out of the list; null if there is room for another.
std::shared_ptr<const void> retired(ContextState& c) noexcept {
  const auto same = [&](const Recording& r) { return same_shape(c, r); };
  const bool many = std::count_if(c.recordings.begin(), c.recordings.end(), same) >= static_cast<std::ptrdiff_t>(kMostOfOneShape);
  if (!many && c.recordings.size() < kMostRecordings) return nullptr;
  const auto it = many ? std::find_if(c.recordings.begin(), c.recordings.end(), same) : c.recordings.begin();
  std::shared_ptr<const void> steps = same(*it) ? std::move(it->steps) : nullptr;
  c.recordings.erase(it);
  return steps;
}

// The steps, all behind each other or in lanes.
Status record_steps(ContextState& c, Frame& frame, const LanePlan* lanes) noexcept {
  c.lanes = lanes;
  Status status = run_frame(c, frame);
  c.lanes = nullptr;
  if (!lanes) return status;
  for (int end : lanes->joined_at_end)
    if (status) status.code = c.stream->follow(0, end);
  if (status) status.code = c.stream->use_lane(0);
  return status;
}

// Milliseconds of the steps recorded in one way or the other, in memory of the context's own; 0 if that fails.
double time_of(ContextState& c, Frame& frame, const LanePlan* lanes) noexcept {
  if (!c.stream->start_recording()) return 0;
  const Status status = record_steps(c, frame, lanes);
  const std::shared_ptr<const void> steps = c.stream->finish_recording();
  if (!status || !steps) return 0;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    c.stream->mark(0);
    if (c.stream->replay(steps.get()) != Status::ok) return 0;
    c.stream->mark(1);
    if (const Status::Code code = c.stream->wait(); code != Status::ok && code != Status::bad_index) return 0;
    if (const double ms = c.stream->between(0, 1); i > 0 && (best == 0 || ms < best)) best = ms;
  }
  return best;
}

// Whether lanes pay is measured: branches may be too small, or fill the device each for itself.
bool lanes_pay(ContextState& c, Frame& frame) {
  if (c.stream->lanes() < 2) return false;
  bind_frame(c, frame, true);
  const LanePlan plan = plan_lanes(frame, c.stream->lanes());
  bool pay = false;
  if (plan.several) {
    const double in_lanes = time_of(c, frame, &plan), in_order = time_of(c, frame, nullptr);
    pay = in_lanes > 0 && in_lanes < 0.98 * in_order;
  }
  bind_frame(c, frame, false);
  return pay;
}

Status record(ContextState& c, Frame& frame) noexcept {
  try {
    const auto dims = active_dims(c);
    Recording made{c.active, {dims.begin(), dims.end()}, c.transfers, nullptr, false};
    const auto known_shape = std::find_if(c.recordings.begin(), c.recordings.end(), [&](const Recording& r) { return same_shape(c, r); });
    if (known_shape != c.recordings.end())
      made.lanes = known_shape->lanes;
    else if (Status s = warm_up(c, frame); !s)
      return s;
    else
      made.lanes = lanes_pay(c, frame);
    const LanePlan plan = made.lanes ? plan_lanes(frame, c.stream->lanes()) : LanePlan{};
    std::shared_ptr<const void> previous = retired(c);
    c.recordings.reserve(kMostRecordings);
    if (!c.stream->start_recording()) return c.stream_cannot_record = true, Status{};
    Status status = copy_pinned(c, true);
    if (status) status = record_steps(c, frame, made.lanes ? &plan : nullptr);
    if (status) status = copy_pinned(c, false);
    made.steps = c.stream->finish_recording(std::move(previous));
    if (!status) return status;
    if (made.steps) c.recordings.push_back(std::move(made));
    else c.stream_cannot_record = true;
    return status;
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, -1};
  }
}

Status run_each(ContextState& c, Frame& frame) noexcept {
  if (Status s = copy_pinned(c, true); !s) return s;
  if (Status s = run_frame(c, frame); !s) return s;
  return copy_pinned(c, false);
}

// Steps behind the count of packed tokens: at a number of tokens first one by one, so that libraries set up what they need, the next time
// they are recorded, then replayed.
Status run_counted(ContextState& c, Frame& frame, std::size_t behind) noexcept {
  if (Status s = copy_pinned(c, true); !s) return s;
  if (Status s = run_steps(c, frame, 0, behind); !s) return s;
  Recording* found = find_known(c);
  if (found && found->steps) return {c.stream->replay(found->steps.get()), -1};
  const bool wanted = found && !c.enqueuing;   // recording leaves the caller's stream
  const bool records = wanted && c.stream->start_recording();
  if (wanted && !records) c.stream_cannot_record = true;
  Status status = run_steps(c, frame, behind, frame.steps.size());
  if (status) status = copy_pinned(c, false);
  if (records) {
    std::shared_ptr<const void> steps = c.stream->finish_recording();
    if (!status) return status;
    if (!steps) {   // nothing ran: once more, step by step, as all runs from now on
      c.stream_cannot_record = true;
      status = run_steps(c, frame, behind, frame.steps.size());
      return status ? copy_pinned(c, false) : status;
    }
    found = find_known(c);   // anew: what grows drops recordings
    if (!found) return {c.stream->replay(steps.get()), -1};
    found->steps = std::move(steps);
    return {c.stream->replay(found->steps.get()), -1};
  }
  if (!status || found) return status;
  try {
    const auto dims = active_dims(c);
    if (c.recordings.size() >= kMostRecordings) c.recordings.erase(c.recordings.begin());
    c.recordings.push_back({c.active, {dims.begin(), dims.end()}, c.transfers, nullptr, false});
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, -1};
  }
  return status;
}

}  // namespace

Status prepare_staged(ContextState& c) noexcept {
  Frame& frame = active_frame(c);
  if (Status s = choose_transfers(c); !s) return s;
  bind_frame(c, frame, false);
  return !can_record(c, frame) || known(c) ? Status{} : record(c, frame);
}

Status start_staged(ContextState& c) noexcept {
  Frame& frame = active_frame(c);
  const void* recording = can_record(c, frame) ? known(c) : nullptr;
  copy_by_host(c, true);
  const auto mark = [&](int moment) {
    if (c.measured) c.stream->mark(moment);
  };
  mark(0);
  if (Status s = copy_apart(c, true); !s) return s;
  mark(1);
  const std::size_t behind = !recording && may_record(c) ? behind_count(frame) : 0;
  if (const Status s = recording    ? Status{c.stream->replay(recording), -1}
                       : behind > 0 ? run_counted(c, frame, behind)
                                    : run_each(c, frame);
      !s)
    return s;
  mark(2);
  if (Status s = copy_apart(c, false); !s) return s;
  mark(3);
  return {};
}

Status finish_staged(ContextState& c) noexcept {
  const Status status{c.stream->wait(), -1};
  if (status) copy_by_host(c, false);
  return status;
}

}  // namespace tenfold::runtime
