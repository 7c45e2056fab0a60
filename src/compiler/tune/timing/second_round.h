// The second round: what may win is timed again, later and side by side. A program that took the processor for a while made what was
// timed meanwhile look slow, and the plan would stay slow; here it shows as two times that differ.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tune/timing/timer.h"
#include "tune/timing/timing_cache.h"

namespace tenfold::tune {

class SecondRound {
 public:
  // A time of the first round. The problem's attributes and body are copied: its node may be gone before the second.
  void note(const TimingKey& key, const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config& config,
            double nanoseconds);
  bool empty() const { return groups_.empty(); }

  struct Result {
    int timed = 0;       // again
    int disturbed = 0;   // of them: so many took clearly longer in one round than in the other ...
    double factor = 1;   // ... and the worst so much longer
  };
  // The best of every problem, the next if it is near and one more as a witness; where one of them was disturbed, also what as large a
  // disturbance may have kept from winning. The cache keeps the lesser time of each. Forgets all. `between` is told each problem
  // that is done, and of how many, and may throw.
  Result run(Timer& timer, TimingCache& cache, const std::function<void(int done, int total)>& between);

 private:
  struct Measured {
    TimingKey key;
    const backends::Tactic* tactic;
    backends::Config config;
    double nanoseconds;
    std::size_t turn;   // in which it was timed first
    bool again = false;
  };
  struct Group {   // candidates of one problem
    backends::Problem problem;
    ir::Attributes attributes;
    std::shared_ptr<const ir::Body> body;
    std::vector<Measured> measured;
    double slower = 1;   // than the second, a disturbed first time of one of them
  };
  void time_again(Group& group, Measured& m, Timer& timer, TimingCache& cache, Result& result);
  void time_witness(Group& group, Timer& timer, TimingCache& cache, Result& result);
  void time_near(Group& group, double factor, std::size_t max, Timer& timer, TimingCache& cache, Result& result);

  std::map<std::string, std::unique_ptr<Group>> groups_;   // by problem line
};

}  // namespace tenfold::tune
