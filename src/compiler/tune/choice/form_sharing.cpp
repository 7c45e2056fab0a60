// Sets of forms for each group, and the steps between them in the order of what a byte costs.
#include "tune/choice/form_sharing.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>

namespace tenfold::tune::sharing {
namespace {

using Forms = std::uint64_t;   // a bit for each
constexpr int kMaxForms = 64, kMaxOfAllSets = 10, kMaxTogether = 3;

struct Point {
  double cost = 0;
  std::int64_t bytes = 0;
  std::vector<int> options;
};

bool has_all(Forms set, const Option& option) {
  return std::all_of(option.forms.begin(), option.forms.end(), [&](int form) { return set >> form & 1; });
}

// Every reader's cheapest option among those that need no other forms.
std::optional<Point> point_of(const Group& group, Forms set) {
  Point point;
  for (const std::vector<Option>& options : group.readers) {
    int best = -1;
    for (int i = 0; i < static_cast<int>(options.size()); ++i)
      if (has_all(set, options[static_cast<std::size_t>(i)]) &&
          (best < 0 || options[static_cast<std::size_t>(i)].cost < options[static_cast<std::size_t>(best)].cost))
        best = i;
    if (best < 0) return std::nullopt;
    point.cost += options[static_cast<std::size_t>(best)].cost;
    point.options.push_back(best);
  }
  point.bytes = bytes_of(group, point.options);
  return point;
}

// Adds those of all sets, or of sets of a few.
void add_points(const Group& group, std::vector<Point>& points) {
  const auto forms = static_cast<int>(group.bytes.size());
  const auto add = [&](Forms set) {
    if (std::optional<Point> point = point_of(group, set)) points.push_back(std::move(*point));
  };
  if (forms <= kMaxOfAllSets) {
    for (Forms set = 1; set < Forms{1} << forms; ++set) add(set);
    return;
  }
  static_assert(kMaxTogether == 3);
  for (int a = 0; a < forms; ++a)
    for (int b = a; b < forms; ++b)
      for (int c = b; c < forms; ++c) add(Forms{1} << a | Forms{1} << b | Forms{1} << c);
}

// From the cheapest point to that of the fewest bytes: each next one is that whose saved bytes cost least.
std::vector<Point> steps_of(const Group& group) {
  std::vector<Point> points;
  if (const auto forms = static_cast<int>(group.bytes.size()); forms <= kMaxForms) {
    points.push_back(*point_of(group, forms == kMaxForms ? ~Forms{0} : (Forms{1} << forms) - 1));
    add_points(group, points);
  } else {   // left as it is
    Point& point = points.emplace_back();
    for (const std::vector<Option>& options : group.readers) {
      const auto best = std::min_element(options.begin(), options.end(), [](const auto& a, const auto& b) { return a.cost < b.cost; });
      point.cost += best->cost, point.options.push_back(static_cast<int>(best - options.begin()));
    }
    point.bytes = bytes_of(group, point.options);
  }
  std::vector<Point> steps;
  steps.push_back(*std::min_element(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.bytes < b.bytes;
  }));
  for (;;) {
    const Point& from = steps.back();
    const Point* next = nullptr;
    double least = std::numeric_limits<double>::max();
    for (const Point& to : points) {
      if (to.bytes >= from.bytes) continue;
      const double each = (to.cost - from.cost) / static_cast<double>(from.bytes - to.bytes);
      if (!next || each < least || (each == least && to.bytes < next->bytes)) next = &to, least = each;
    }
    if (!next) return steps;
    steps.push_back(*next);
  }
}

// What a byte costs that this step saves.
double slope(const Point& from, const Point& to) { return (to.cost - from.cost) / static_cast<double>(from.bytes - to.bytes); }

}  // namespace

std::int64_t bytes_of(const Group& group, const std::vector<int>& options) {
  std::set<int> used;
  for (std::size_t r = 0; r < options.size(); ++r) {
    const std::vector<int>& forms = group.readers[r][static_cast<std::size_t>(options[r])].forms;
    used.insert(forms.begin(), forms.end());
  }
  std::int64_t bytes = 0;
  for (const int form : used) bytes += group.bytes[static_cast<std::size_t>(form)];
  return bytes;
}

std::vector<std::vector<int>> solve(const std::vector<Group>& groups, std::int64_t limit) {
  struct Step {
    std::size_t group, number;   // to steps[group][number]
    double slope;
  };
  std::vector<std::vector<Point>> all;
  std::vector<Step> order;
  std::int64_t bytes = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<Point>& steps = all.emplace_back(steps_of(groups[g]));
    bytes += steps.front().bytes;
    for (std::size_t i = 1; i < steps.size(); ++i) order.push_back({g, i, slope(steps[i - 1], steps[i])});
  }
  std::stable_sort(order.begin(), order.end(), [](const Step& a, const Step& b) { return a.slope < b.slope; });
  std::vector<std::size_t> at(groups.size(), 0);
  std::size_t taken = 0;
  const auto saved = [&](const Step& s) { return all[s.group][s.number - 1].bytes - all[s.group][s.number].bytes; };
  for (; taken < order.size() && bytes > limit; ++taken) {
    at[order[taken].group] = order[taken].number;
    bytes -= saved(order[taken]);
  }
  while (taken-- > 0) {   // what the last ones made room for beyond need
    const Step& step = order[taken];
    if (at[step.group] != step.number || bytes + saved(step) > limit) continue;
    at[step.group] = step.number - 1, bytes += saved(step);
  }
  std::vector<std::vector<int>> options;
  for (std::size_t g = 0; g < groups.size(); ++g) options.push_back(std::move(all[g][at[g]].options));
  return options;
}

}  // namespace tenfold::tune::sharing
