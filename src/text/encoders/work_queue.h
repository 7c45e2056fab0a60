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

#include "tenfold/encoder.h"
#include "text/encoders/batches.h"

namespace tenfold::encoders {

class WorkQueue {
 public:
  // What dealing goes by, of one device: any positive number, of which the shares of all count.
  struct Member {
    bool here = true;  // takes pieces
    double room = 1;   // for DeviceStrategy::memory
    double speed = 1;  // for DeviceStrategy::utilization: tokens a second
  };
  // `turn`: the device that gets the first piece of round_robin.
  WorkQueue(DeviceStrategy strategy, std::vector<Member> members, std::size_t turn);

  // Of the thread that hands out.
  void add(std::vector<WorkItem> pieces);
  void close();                                   // nothing more comes
  std::size_t waiting(std::size_t member) const;  // pieces that it may take now
  bool here(std::size_t member) const;
  bool anyone_here() const;
  bool anyone_beside(std::size_t member) const;
  struct State {
    std::size_t ready = 0, open = 0;  // texts that are done; pieces that are not
    bool stopped = false;
    int returned = 0;                  // how often a member gave back what it had
  };
  // The state, once it is another one, or so much later.
  State wait_for_change(const State& known, std::chrono::milliseconds most);
  State state() const;
  std::exception_ptr why() const;  // what stopped it

  // Of the devices' threads. Nothing: all is done, the member has left, or all was stopped.
  std::optional<WorkItem> take(std::size_t member);
  void done(std::size_t member, const WorkItem& piece, double seconds);
  // The member leaves; its pieces, with the one that it had taken, go to the others. False: nobody is left, and all is
  // stopped.
  bool leave(std::size_t member, std::optional<WorkItem> piece, std::exception_ptr why);
  void put_back(WorkItem piece);   // for others, or the same member, to take again
  void stop(std::exception_ptr why);

 private:
  bool anyone(std::size_t beside) const;
  void deal(WorkItem piece);
  std::size_t next_member() const;
  std::deque<WorkItem>& queue_of(std::size_t member) { return strategy_ == DeviceStrategy::automatic ? shared_ : own_[member]; }
  const DeviceStrategy strategy_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, work_;
  std::vector<Member> members_;
  std::vector<double> dealt_;               // tokens that a member has got
  std::vector<double> done_tokens_, busy_;  // and done, in so many seconds
  std::vector<std::deque<WorkItem>> own_;
  std::deque<WorkItem> shared_;
  State state_;
  std::size_t turn_;
  bool closed_ = false;
  std::exception_ptr why_;
};

}  // namespace tenfold::encoders
