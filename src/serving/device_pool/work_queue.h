// Pieces of work for several devices: who gets which, and what becomes of the pieces of a device that fails.
//
// One thread adds pieces and waits; the devices' threads take them. Thread safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "tenfold/device_strategy.h"

namespace tenfold::serving {

// What dealing goes by, of one device: any positive numbers, of which the shares of all count.
struct PoolMember {
  bool here = true;  // takes pieces
  double room = 1;   // for DeviceStrategy::memory
  double speed = 1;  // for DeviceStrategy::utilization: cost a second
};

struct WorkState {
  std::size_t ready = 0, open = 0;  // units that are done; pieces that are not
  bool stopped = false;
  int returned = 0;                  // how often a member gave back what it had
};

// A piece has units() (what progress counts: texts, windows, requests) and cost() (what takes the time: tokens, voxels).
template <class Piece>
class WorkQueue {
 public:
  // `turn`: the device that gets the first piece of round_robin.
  WorkQueue(DeviceStrategy strategy, std::vector<PoolMember> members, std::size_t turn)
      : strategy_(strategy), members_(std::move(members)), load_(members_.size()), own_(members_.size()), turn_(turn) {}

  // Of the thread that hands out.
  void add(std::vector<Piece> pieces);
  void close();                                   // nothing more comes
  std::size_t waiting(std::size_t member) const;  // pieces that it may take now
  bool here(std::size_t member) const;
  bool anyone_here() const { return anyone_beside(members_.size()); }
  bool anyone_beside(std::size_t member) const;
  bool shared() const { return strategy_ == DeviceStrategy::automatic; }   // all members take from one queue
  // The state, once it is another one, or so much later.
  WorkState wait_for_change(const WorkState& known, std::chrono::milliseconds max);
  WorkState state() const;
  std::exception_ptr why() const;  // what stopped it

  // Of the devices' threads. Nothing: all is done, the member has left, or all was stopped.
  std::optional<Piece> take(std::size_t member);
  void done(std::size_t member, const Piece& piece, double seconds);
  // The member leaves; its pieces, with the one that it had taken, go to the others. False: nobody is left, and all is
  // stopped.
  bool leave(std::size_t member, std::optional<Piece> piece, std::exception_ptr why);
  void put_back(Piece piece);   // for others, or the same member, to take again
  void stop(std::exception_ptr why);

 private:
  struct Load {
    double dealt = 0, done = 0, seconds = 0;  // cost of what a member has got, and done, in so many seconds
  };
  bool anyone(std::size_t beside) const;
  void deal(Piece piece);
  std::size_t next_member() const;
  std::deque<Piece>& queue_of(std::size_t member) { return shared() ? common_ : own_[member]; }
  const DeviceStrategy strategy_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, work_;
  std::vector<PoolMember> members_;
  std::vector<Load> load_;
  std::vector<std::deque<Piece>> own_;
  std::deque<Piece> common_;
  WorkState state_;
  std::size_t turn_;
  bool closed_ = false;
  std::exception_ptr why_;
};

// The member whose share is the smallest beside what it has got already: by turns, by memory, or by when it will be done.
template <class Piece>
std::size_t WorkQueue<Piece>::next_member() const {
  std::size_t best = members_.size();
  double min = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::size_t at = (turn_ + i) % members_.size();
    const PoolMember& m = members_[at];
    const Load& load = load_[at];
    if (!m.here) continue;
    double busy = 0;
    if (strategy_ == DeviceStrategy::memory) busy = load.dealt / m.room;
    if (strategy_ == DeviceStrategy::utilization)
      busy = (load.dealt - load.done) / (load.seconds > 0 ? load.done / load.seconds : m.speed);
    if (best == members_.size() || busy < min) best = at, min = busy;
  }
  return best;
}

template <class Piece>
void WorkQueue<Piece>::deal(Piece piece) {
  if (shared()) return common_.push_back(std::move(piece));
  const std::size_t member = next_member();
  load_[member].dealt += static_cast<double>(piece.cost());
  if (strategy_ == DeviceStrategy::round_robin) turn_ = member + 1;
  own_[member].push_back(std::move(piece));
}

template <class Piece>
void WorkQueue<Piece>::add(std::vector<Piece> pieces) {
  const std::lock_guard lock(mutex_);
  if (state_.stopped) return;
  state_.open += pieces.size();
  for (Piece& piece : pieces) deal(std::move(piece));
  work_.notify_all();
}

template <class Piece>
void WorkQueue<Piece>::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  work_.notify_all();
}

template <class Piece>
std::size_t WorkQueue<Piece>::waiting(std::size_t member) const {
  const std::lock_guard lock(mutex_);
  return shared() ? common_.size() : own_[member].size();
}

template <class Piece>
bool WorkQueue<Piece>::anyone(std::size_t beside) const {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (i != beside && members_[i].here) return true;
  return false;
}

template <class Piece>
bool WorkQueue<Piece>::here(std::size_t member) const {
  const std::lock_guard lock(mutex_);
  return members_[member].here;
}

template <class Piece>
bool WorkQueue<Piece>::anyone_beside(std::size_t member) const {
  const std::lock_guard lock(mutex_);
  return anyone(member);
}

template <class Piece>
WorkState WorkQueue<Piece>::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

template <class Piece>
WorkState WorkQueue<Piece>::wait_for_change(const WorkState& known, std::chrono::milliseconds max) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, max, [&] {
    return state_.ready != known.ready || state_.open != known.open || state_.returned != known.returned || state_.stopped;
  });
  return state_;
}

template <class Piece>
std::exception_ptr WorkQueue<Piece>::why() const {
  const std::lock_guard lock(mutex_);
  return why_;
}

template <class Piece>
std::optional<Piece> WorkQueue<Piece>::take(std::size_t member) {
  std::unique_lock lock(mutex_);
  std::deque<Piece>& queue = queue_of(member);
  const auto over = [&] { return state_.stopped || !members_[member].here || (closed_ && state_.open == 0); };
  work_.wait(lock, [&] { return over() || !queue.empty(); });
  if (over()) return std::nullopt;
  std::optional<Piece> piece = std::move(queue.front());
  queue.pop_front();
  return piece;
}

template <class Piece>
void WorkQueue<Piece>::done(std::size_t member, const Piece& piece, double seconds) {
  const std::lock_guard lock(mutex_);
  state_.ready += piece.units(), --state_.open;
  load_[member].done += static_cast<double>(piece.cost()), load_[member].seconds += seconds;
  changed_.notify_all();
  if (closed_ && state_.open == 0) work_.notify_all();
}

template <class Piece>
bool WorkQueue<Piece>::leave(std::size_t member, std::optional<Piece> piece, std::exception_ptr why) {
  const std::lock_guard lock(mutex_);
  members_[member].here = false, ++state_.returned;
  std::deque<Piece> back;
  back.swap(own_[member]);
  if (piece) back.push_front(std::move(*piece));
  const bool others = anyone(member);
  if (!others) {
    if (!why_) why_ = std::move(why);
    state_.stopped = true;
  } else if (shared()) {
    if (!back.empty()) common_.push_front(std::move(back.front()));  // it was taken before all that waits
  } else {
    for (Piece& one : back) deal(std::move(one));
  }
  changed_.notify_all(), work_.notify_all();
  return others;
}

template <class Piece>
void WorkQueue<Piece>::put_back(Piece piece) {
  const std::lock_guard lock(mutex_);
  if (state_.stopped) return;
  ++state_.returned;
  if (shared())
    common_.push_front(std::move(piece));
  else
    deal(std::move(piece));
  changed_.notify_all(), work_.notify_all();
}

template <class Piece>
void WorkQueue<Piece>::stop(std::exception_ptr why) {
  const std::lock_guard lock(mutex_);
  if (!why_) why_ = std::move(why);
  state_.stopped = true;
  changed_.notify_all(), work_.notify_all();
}

}  // namespace tenfold::serving
