// The requests that wait, in the order in which they are to run.
#pragma once

#include <deque>

#include "queue/entry.h"

namespace tenfold::serving_queue {

// By level; in a level those in time before those that are late; of these in the order in which they came.
class Waiting {
 public:
  explicit Waiting(const QueueOptions& options);
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  const std::deque<std::unique_ptr<Entry>>& entries() const { return entries_; }

  // The level that a request of this priority waits in, and when its timeout is due.
  std::uint32_t level_of(std::uint32_t priority) const;
  void set_deadline(Entry& entry, std::chrono::microseconds timeout) const;
  bool has_place(std::uint32_t level) const;     // whether one more may wait
  void add(std::unique_ptr<Entry> entry);
  std::unique_ptr<Entry> take(const ServedRequest& request);   // null: it does not wait
  Entries take(std::span<const std::size_t> places);           // which rise
  void note_overtaken(std::span<const std::size_t> places) {
    for (const std::size_t place : places) ++entries_[place]->overtaken;
  }
  // Takes those out that end because their timeout is due, and puts those that are late from now on behind the others of their level.
  Entries expire(Clock::time_point now);
  Clock::time_point next_deadline() const { return next_deadline_; }   // no deadline is earlier

 private:
  void insert(std::unique_ptr<Entry> entry);

  const QueueOptions& options_;
  std::vector<QueuePolicy> policies_;            // by level
  std::vector<std::size_t> sizes_;               // by level
  std::deque<std::unique_ptr<Entry>> entries_;
  Clock::time_point next_deadline_ = Clock::time_point::max();
};

}  // namespace tenfold::serving_queue
