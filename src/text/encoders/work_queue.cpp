#include "text/encoders/work_queue.h"

#include "text/fail.h"

namespace tenfold::encoders {

WorkQueue::WorkQueue(DeviceStrategy strategy, std::vector<Member> members, std::size_t turn)
    : strategy_(strategy),
      members_(std::move(members)),
      dealt_(members_.size()),
      done_tokens_(members_.size()),
      busy_(members_.size()),
      own_(members_.size()),
      turn_(turn) {}

// The member whose share is the smallest beside what it has got already: by turns, by memory, or by when it will be done.
std::size_t WorkQueue::next_member() const {
  std::size_t best = members_.size();
  double least = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::size_t at = (turn_ + i) % members_.size();
    const Member& m = members_[at];
    if (!m.here) continue;
    double load = 0;
    if (strategy_ == DeviceStrategy::memory) load = dealt_[at] / m.room;
    if (strategy_ == DeviceStrategy::utilization)
      load = (dealt_[at] - done_tokens_[at]) / (busy_[at] > 0 ? done_tokens_[at] / busy_[at] : m.speed);
    if (best == members_.size() || load < least) best = at, least = load;
  }
  return best;
}

void WorkQueue::deal(WorkItem piece) {
  if (strategy_ == DeviceStrategy::automatic) return shared_.push_back(std::move(piece));
  const std::size_t member = next_member();
  dealt_[member] += static_cast<double>(piece.tokens());
  if (strategy_ == DeviceStrategy::round_robin) turn_ = member + 1;
  own_[member].push_back(std::move(piece));
}

void WorkQueue::add(std::vector<WorkItem> pieces) {
  const std::lock_guard lock(mutex_);
  if (state_.stopped) return;
  state_.open += pieces.size();
  for (WorkItem& piece : pieces) deal(std::move(piece));
  work_.notify_all();
}

void WorkQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  work_.notify_all();
}

std::size_t WorkQueue::waiting(std::size_t member) const {
  const std::lock_guard lock(mutex_);
  return strategy_ == DeviceStrategy::automatic ? shared_.size() : own_[member].size();
}

bool WorkQueue::anyone(std::size_t beside) const {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (i != beside && members_[i].here) return true;
  return false;
}

bool WorkQueue::here(std::size_t member) const {
  const std::lock_guard lock(mutex_);
  return members_[member].here;
}

bool WorkQueue::anyone_here() const { return anyone_beside(members_.size()); }

bool WorkQueue::anyone_beside(std::size_t member) const {
  const std::lock_guard lock(mutex_);
  return anyone(member);
}

WorkQueue::State WorkQueue::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

WorkQueue::State WorkQueue::wait_for_change(const State& known, std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [&] {
    return state_.ready != known.ready || state_.open != known.open || state_.returned != known.returned || state_.stopped;
  });
  return state_;
}

std::exception_ptr WorkQueue::why() const {
  const std::lock_guard lock(mutex_);
  return why_;
}

std::optional<WorkItem> WorkQueue::take(std::size_t member) {
  std::unique_lock lock(mutex_);
  std::deque<WorkItem>& queue = queue_of(member);
  const auto over = [&] { return state_.stopped || !members_[member].here || (closed_ && state_.open == 0); };
  work_.wait(lock, [&] { return over() || !queue.empty(); });
  if (over()) return std::nullopt;
  std::optional<WorkItem> piece = std::move(queue.front());
  queue.pop_front();
  return piece;
}

void WorkQueue::done(std::size_t member, const WorkItem& piece, double seconds) {
  const std::lock_guard lock(mutex_);
  state_.ready += piece.texts.size(), --state_.open;
  done_tokens_[member] += static_cast<double>(piece.tokens()), busy_[member] += seconds;
  changed_.notify_all();
  if (closed_ && state_.open == 0) work_.notify_all();
}

bool WorkQueue::leave(std::size_t member, std::optional<WorkItem> piece, std::exception_ptr why) {
  const std::lock_guard lock(mutex_);
  members_[member].here = false, ++state_.returned;
  std::deque<WorkItem> back;
  back.swap(own_[member]);
  if (piece) back.push_front(std::move(*piece));
  const bool others = anyone(member);
  if (!others) {
    if (!why_) why_ = std::move(why);
    state_.stopped = true;
  } else if (strategy_ == DeviceStrategy::automatic) {
    if (!back.empty()) shared_.push_front(std::move(back.front()));  // it was taken before all that waits
  } else {
    for (WorkItem& one : back) deal(std::move(one));
  }
  changed_.notify_all(), work_.notify_all();
  return others;
}

void WorkQueue::put_back(WorkItem piece) {
  const std::lock_guard lock(mutex_);
  if (state_.stopped) return;
  ++state_.returned;
  if (strategy_ == DeviceStrategy::automatic)
    shared_.push_front(std::move(piece));
  else
    deal(std::move(piece));
  changed_.notify_all(), work_.notify_all();
}

void WorkQueue::stop(std::exception_ptr why) {
  const std::lock_guard lock(mutex_);
  if (!why_) why_ = std::move(why);
  state_.stopped = true;
  changed_.notify_all(), work_.notify_all();
}

}  // namespace tenfold::encoders

namespace tenfold {

DeviceStrategy parse_device_strategy(std::string_view name) {
  if (name == "auto") return DeviceStrategy::automatic;
  if (name == "round_robin") return DeviceStrategy::round_robin;
  if (name == "memory") return DeviceStrategy::memory;
  if (name == "utilization") return DeviceStrategy::utilization;
  if (name == "pipeline") return DeviceStrategy::pipeline;
  tokenizing::fail(ErrorKind::invalid_argument,
                   "the strategy of devices is auto, round_robin, memory, utilization or pipeline, not '" + std::string(name) + "'");
}

}  // namespace tenfold
