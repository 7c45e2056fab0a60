// Turns of runs that go on side by side: whose look at a value is next.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::builder {

// Runs 0, 1, 2 and so on begin in this order. Each looks at a value once the one before has, or is over. Of a value that a loop makes more
// than once only the first looks are in this order.
class ValueTurns {
 public:
  explicit ValueTurns(std::size_t runs) : over_(runs, false) {}

  template <class Look>
  void take(std::size_t run, std::string_view value, Look&& look) {
    Turn* turn = nullptr;
    {
      std::unique_lock lock(mutex_);
      turn = &turns_[std::string(value)];
      changed_.wait(lock, [&] { return run == 0 || over_[run - 1] || turn->seen >= run; });
    }
    {
      const std::lock_guard one_at_a_time(turn->mutex);   // a value in a loop is seen more than once in a run
      look();
    }
    const std::lock_guard lock(mutex_);
    turn->seen = std::max(turn->seen, run + 1);
    changed_.notify_all();
  }
  void end(std::size_t run) {
    const std::lock_guard lock(mutex_);
    over_[run] = true;
    changed_.notify_all();
  }

 private:
  struct Turn {
    std::size_t seen = 0;   // runs that have
    std::mutex mutex;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Turn, std::less<>> turns_;
  std::vector<bool> over_;
};

}  // namespace tenfold::builder
