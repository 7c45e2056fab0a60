// Who is timed again, and what two times that differ mean.
#include "tune/second_round.h"

#include <algorithm>
#include <utility>

namespace tenfold::tune {
namespace {

constexpr double kNear = 1.15;            // of the best: a repetition can change the order
constexpr std::size_t kFinalists = 2;
constexpr double kDisturbed = 1.3, kLeastNs = 2000;   // of two times, and between them: less is the clock's and the caches'
constexpr double kManyDisturbed = 0.1;
constexpr double kMostShared = 4;   // times slower, that other programs made all; one outlier may be larger

}  // namespace

void SecondRound::note(const TimingKey& key, const backends::Tactic& tactic, const backends::Problem& problem,
                       const backends::Config& config, double nanoseconds) {
  std::unique_ptr<Group>& group = groups_[key.problem];
  if (!group) {
    group = std::make_unique<Group>();
    group->problem = problem;
    if (problem.attributes) group->attributes = *problem.attributes, group->problem.attributes = &group->attributes;
    if (problem.body) group->body = std::make_shared<ir::Body>(*problem.body), group->problem.body = group->body.get();
  }
  group->measured.push_back({key, &tactic, config, nanoseconds});
}

void SecondRound::time_near(Group& group, double factor, std::size_t most, Timer& timer, TimingCache& cache, Result& result) {
  const auto faster = [](const Measured& a, const Measured& b) { return a.nanoseconds < b.nanoseconds; };
  std::stable_sort(group.measured.begin(), group.measured.end(), faster);
  const double limit = factor * group.measured.front().nanoseconds;
  for (std::size_t i = 0; i < std::min(most, group.measured.size()) && group.measured[i].nanoseconds <= limit; ++i) {
    Measured& m = group.measured[i];
    if (std::exchange(m.again, true)) continue;
    const double first = m.nanoseconds, second = timer.again(*m.tactic, group.problem, m.config);
    ++result.timed;
    const auto [less, more] = std::minmax(first, second);
    if (more > kDisturbed * less && more > less + kLeastNs) {
      ++result.disturbed;
      group.slower = std::max(group.slower, first / less);
      result.factor = std::max(result.factor, more / less);
    }
    m.nanoseconds = less;
    cache.insert(m.key, less);
  }
}

SecondRound::Result SecondRound::run(Timer& timer, TimingCache& cache, const std::function<void()>& between) {
  Result result;
  for (auto& [line, group] : groups_) {
    between();
    if (group->measured.size() > 1) time_near(*group, kNear, kFinalists, timer, cache, result);
  }
  // A short disturbance hits one problem; a long one hits many, and some whose best came through.
  const bool long_one = result.disturbed > result.timed * kManyDisturbed;
  const double longest = std::min(result.factor, kMostShared);
  for (auto& [line, group] : groups_) {
    between();
    if (const double slower = long_one ? longest : group->slower; slower > 1)
      time_near(*group, kNear * slower, group->measured.size(), timer, cache, result);
  }
  groups_.clear();
  return result;
}

}  // namespace tenfold::tune
