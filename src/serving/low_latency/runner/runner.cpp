// LatencyRunner: what its owner sees of it, and the change of candidates under load.
#include "low_latency/runner/runner.h"

#include <cmath>
#include <utility>

#include "low_latency/port/port.h"
#include "low_latency/ring/ring_window.h"

namespace tenfold {

using low_latency::OpenCandidate;
using low_latency::CandidateSet;
using low_latency::Use;

namespace {

const RunnerOptions& checked(const RunnerOptions& o) {
  require(o.deadline.count() >= 0, ErrorKind::invalid_argument, "deadline is ", o.deadline.count(), " ns, expected 0 or more");
  require(o.first_pause.count() > 0 && o.longest_pause >= o.first_pause, ErrorKind::invalid_argument,
          "pauses between probes are above 0, and longest_pause is no less than first_pause");
  require(!std::isnan(o.tolerance), ErrorKind::invalid_argument, "tolerance is no number");
  require(o.not_finite <= NotFinite::fail, ErrorKind::invalid_argument, "there is no NotFinite of number ", static_cast<int>(o.not_finite));
  require(o.warm_up_runs >= 0, ErrorKind::invalid_argument, "warm_up_runs is ", o.warm_up_runs, ", expected 0 or more");
  require(o.good_answers > 0, ErrorKind::invalid_argument, "good_answers is ", o.good_answers, ", expected 1 or more");
  require(o.longest_silence.count() > 0, ErrorKind::invalid_argument, "longest_silence must be above 0");
  return o;
}

std::vector<EngineCandidate> only(Engine engine) {
  return {{"engine", [engine = std::move(engine)] { return engine; }}};
}

}  // namespace

LatencyRunner::State::State(std::vector<EngineCandidate> candidates, RunnerOptions given)
    : options(checked(given)), log(options.log), current(low_latency::open_candidates(candidates, options, log)) {
  layout = current->layout;
  requested = current.get();
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

LatencyRunner::State::~State() {
  {
    const std::lock_guard lock(mutex);
    watcher_.request_stop();
    for (const auto& port_slot : port_slots) low_latency::serve(*port_slot, false);
  }
  wake_.notify_all();
}

void LatencyRunner::State::free_unused() {
  const CandidateSet* const used = in_use.load(std::memory_order_seq_cst);
  std::erase_if(retired, [&](const auto& set) { return set.get() != used; });
}

LatencyRunner::LatencyRunner(std::vector<EngineCandidate> candidates, RunnerOptions options)
    : state_(std::make_unique<State>(std::move(candidates), std::move(options))) {}
LatencyRunner::LatencyRunner(Engine engine, RunnerOptions options) : LatencyRunner(only(std::move(engine)), std::move(options)) {}
LatencyRunner::~LatencyRunner() = default;

const std::vector<BindingInfo>& LatencyRunner::bindings() const noexcept { return state_->layout.bindings; }
std::int64_t LatencyRunner::input_bytes() const noexcept { return state_->layout.input_bytes; }
std::int64_t LatencyRunner::output_bytes() const noexcept { return state_->layout.output_bytes; }
std::int64_t LatencyRunner::offset(int binding) const { return low_latency::offset_of(state_->layout, binding); }

WindowRows LatencyRunner::window_rows() const {
  const std::lock_guard lock(state_->mutex);
  for (const auto& candidate : state_->current->candidates)
    if (candidate->engine) return tenfold::window_rows(*candidate->engine);
  return {};
}

Answer LatencyRunner::infer(const void* input, void* output, std::int64_t due_ns) noexcept {
  if (state_->has_thread.load(std::memory_order_acquire)) return {.status = {Status::not_ready, -1}};
  if (state_->lacks(input, output)) return {.status = {Status::invalid_binding, -1}};
  return state_->answer(static_cast<const std::byte*>(input), static_cast<std::byte*>(output), due_ns);
}

Answer LatencyRunner::infer(const RowRing& rows, std::int64_t stream, void* output, std::int64_t due_ns) noexcept {
  const low_latency::RingWindow window = low_latency::window_of(rows, stream, input_bytes());
  Answer answer = infer(window.memory, output, due_ns);
  answer.missing_rows = window.missing;
  return answer;
}

Status LatencyRunner::precompute(const void* next_window) noexcept {
  if (state_->has_thread.load(std::memory_order_acquire)) return {Status::not_ready, -1};
  if (!next_window && state_->layout.input_bytes > 0) return {Status::invalid_binding, -1};
  return state_->precompute(static_cast<const std::byte*>(next_window));
}

void LatencyRunner::keep_warm() noexcept {
  if (!state_->has_thread.load(std::memory_order_acquire)) state_->keep_warm();
}

RetiredEngine LatencyRunner::swap(std::vector<EngineCandidate> candidates) {
  std::shared_ptr<CandidateSet> next = low_latency::open_candidates(candidates, state_->options, state_->log);
  const std::string other = low_latency::difference(next->layout, state_->layout);
  require(other.empty(), ErrorKind::invalid_argument, "the new engine's inputs and outputs are not those of the old one: ", other);
  const Engine first = next->slot->get();
  const std::lock_guard lock(state_->mutex);
  state_->retired.push_back(std::exchange(state_->current, next));
  state_->requested.store(next.get(), std::memory_order_seq_cst);
  state_->counters.swaps.fetch_add(1, std::memory_order_relaxed);
  RetiredEngine old = state_->retired.back()->slot->replace(first);
  state_->free_unused();
  return old;
}
RetiredEngine LatencyRunner::swap(Engine engine) { return swap(only(std::move(engine))); }

std::string LatencyRunner::backend() const {
  const std::lock_guard lock(state_->mutex);
  for (const auto& candidate : state_->current->candidates)
    if (candidate->use.load(std::memory_order_acquire) == Use::answers) return candidate->name;
  return "";
}

std::vector<CandidateState> LatencyRunner::candidates() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<CandidateState> all;
  for (const auto& r : state_->current->candidates) {
    const Use use = r->use.load(std::memory_order_acquire);
    all.push_back({r->name, use != Use::refused, use == Use::answers, r->why, r->answered.load(), r->left.load(), r->difference});
  }
  return all;
}

RunnerCounts LatencyRunner::counts() const noexcept {
  const State::Counters& c = state_->counters;
  return {c.answered.load(), c.late.load(),  c.not_finite.load(), c.failed.load(),
          c.fell.load(),     c.swaps.load(), c.late_start.load(),     c.full_recompute.load()};
}

bool LatencyRunner::ready(std::string* why) const {
  const auto say = [&](std::string text) {
    if (why) *why = std::move(text);
    return false;
  };
  if (backend().empty()) return say("no candidate answers: each was left, or its device is lost");
  const std::lock_guard lock(state_->mutex);
  if (!state_->pulse || state_->pulse->asleep.load(std::memory_order_acquire)) return true;
  if (state_->pulse->ended.load(std::memory_order_acquire)) return say("the LatencyRunner's thread has ended");
  const std::int64_t silent = low_latency::now_ns() - state_->pulse->beat_ns.load(std::memory_order_acquire);
  if (silent <= state_->options.longest_silence.count()) return true;
  return say(cat("the LatencyRunner's thread has shown no sign of life for ", static_cast<double>(silent) / 1e6, " ms, ",
                 static_cast<double>(state_->options.longest_silence.count()) / 1e6, " ms are allowed"));
}

}  // namespace tenfold
