// Who is timed again, and what two times that differ mean.
#include "tune/timing/second_round.h"

#include <algorithm>
#include <span>
#include <utility>

namespace tenfold::tune {
namespace {

constexpr double kNear = 1.15;            // of the best: a repetition can change the order
constexpr std::size_t kFinalists = 2;
constexpr double kDisturbed = 1.3, kMinNs = 2000;   // of two times, and between them: less is the clock's and the caches'
constexpr double kManyDisturbed = 0.1;
constexpr double kMaxShared = 4;   // times slower, that other programs made all; one outlier may be larger

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
  group->measured.push_back({key, &tactic, config, nanoseconds, group->measured.size()});
}

void SecondRound::time_near(Group& group, double factor, std::size_t max, Timer& timer, TimingCache& cache, Result& result) {
  std::ranges::stable_sort(group.measured, {}, &Measured::nanoseconds);
  const double limit = factor * group.measured.front().nanoseconds;
  for (std::size_t i = 0; i < std::min(max, group.measured.size()) && group.measured[i].nanoseconds <= limit; ++i) {
    if (!group.measured[i].again) time_again(group, group.measured[i], timer, cache, result);
  }
}

void SecondRound::time_again(Group& group, Measured& m, Timer& timer, TimingCache& cache, Result& result) {
  m.again = true;
  const double first = m.nanoseconds, second = timer.again(*m.tactic, group.problem, m.config);
  ++result.timed;
  const auto [less, more] = std::minmax(first, second);
  if (more > kDisturbed * less && more > less + kMinNs) {
    ++result.disturbed;
    group.slower = std::max(group.slower, first / less);
    result.factor = std::max(result.factor, more / less);
  }
  m.nanoseconds = less;
  cache.insert(m.key, less);
}

// A disturbance may have hit all but the finalists. It lasts for a while: a candidate from the middle of the longest time between those
// that were timed again tells of it.
void SecondRound::time_witness(Group& group, Timer& timer, TimingCache& cache, Result& result) {
  std::vector<Measured*> in_time;
  for (Measured& m : group.measured) in_time.push_back(&m);
  std::ranges::sort(in_time, {}, &Measured::turn);
  std::span<Measured*> longest;
  for (auto at = in_time.begin(); at != in_time.end();) {
    const auto end = std::find_if(at, in_time.end(), [](const Measured* m) { return m->again; });
    if (static_cast<std::size_t>(end - at) > longest.size()) longest = std::span(at, end);
    at = end == in_time.end() ? end : end + 1;
  }
  const double limit = kMaxShared * group.measured.front().nanoseconds;
  std::vector<Measured*> may_win;
  std::ranges::copy_if(longest, std::back_inserter(may_win), [&](const Measured* m) { return m->nanoseconds <= limit; });
  if (!may_win.empty()) time_again(group, *may_win[may_win.size() / 2], timer, cache, result);
}

SecondRound::Result SecondRound::run(Timer& timer, TimingCache& cache, const std::function<void(int done, int total)>& between) {
  Result result;
  int done = 0;
  const int total = 2 * static_cast<int>(groups_.size());
  for (auto& [line, group] : groups_) {
    between(++done, total);
    if (group->measured.size() < 2) continue;
    time_near(*group, kNear, kFinalists, timer, cache, result);
    time_witness(*group, timer, cache, result);
  }
  // A short disturbance hits one problem; a long one hits many, and some whose best came through.
  const bool long_one = result.disturbed > result.timed * kManyDisturbed;
  const double longest = std::min(result.factor, kMaxShared);
  for (auto& [line, group] : groups_) {
    between(++done, total);
    if (const double slower = long_one ? longest : group->slower; slower > 1)
      time_near(*group, kNear * slower, group->measured.size(), timer, cache, result);
  }
  groups_.clear();
  return result;
}

}  // namespace tenfold::tune
