// The one thread of a process for work behind its callers' backs: one piece after the other, started with the first and
// gone after the last.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace tenfold::background {

class Worker {
 public:
  static Worker& of_process();  // made at first use, and never taken down
  // Must not throw. While it runs, Interrupts (tenfold/internal/interrupts.h) tell it when to end.
  using Work = std::function<void()>;

  // One mutex for the worker and for the tables of those who give it work, so that a fork finds all of them whole.
  // Nothing that takes long, calls back or throws happens under it. `changed` tells of whatever changes under it.
  std::mutex& mutex() noexcept { return mutex_; }
  void wait(std::unique_lock<std::mutex>& lock) { changed_.wait_for(lock, kLook); }  // for a change, or a short while
  void notify() noexcept { changed_.notify_all(); }

  // All under the lock. `owner` tells whose work it is.
  void add(const void* owner, Work work);
  void wake();  // starts the thread where work waits and none is there: a fork leaves it behind
  bool has_work_of(const void* owner) const noexcept;
  bool ended() const noexcept { return ended_; }

  // Without the lock: what waits is forgotten, what runs is interrupted and waited for.
  void drop(const void* owner);
  void end();  // of all owners; then nothing is taken any more

 private:
  struct Item {
    const void* owner;
    Work work;
  };
  static constexpr auto kLook = std::chrono::milliseconds(50);
  Worker();
  void run();
  void interrupt(std::unique_lock<std::mutex>& lock, const void* owner);
  void after_fork();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<const Item>> items_;
  std::shared_ptr<const Item> current_;
  std::thread thread_;  // joinable behind its end, until the next one starts
  bool running_ = false, ended_ = false;
  bool stop_ = false;  // what runs now is to end
};

}  // namespace tenfold::background
