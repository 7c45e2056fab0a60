// Steps of both plans in groups that compute the same nodes of the model.
#include "report/changes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenfold::cli {
namespace {

// Steps of `a`, then those of `b`, joined by the names that both know.
class Groups {
 public:
  Groups(const Json& a, const Json& b) : of_a_(a["steps"].size()), parent_(a["steps"].size() + b["steps"].size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    add(a, 0), add(b, of_a_);
  }
  // Steps of each group, by the first of them.
  std::map<std::size_t, std::pair<std::vector<int>, std::vector<int>>> all() {
    std::map<std::size_t, std::pair<std::vector<int>, std::vector<int>>> groups;
    for (std::size_t s = 0; s < parent_.size(); ++s) {
      auto& [of_a, of_b] = groups[root(s)];
      if (s < of_a_)
        of_a.push_back(static_cast<int>(s));
      else
        of_b.push_back(static_cast<int>(s - of_a_));
    }
    return groups;
  }

 private:
  std::size_t root(std::size_t s) {
    while (parent_[s] != s) s = parent_[s] = parent_[parent_[s]];
    return s;
  }
  void join(const std::string& key, std::size_t s) {
    const auto [it, fresh] = known_.try_emplace(key, s);
    if (fresh) return;
    const std::size_t x = root(it->second), y = root(s);
    parent_[std::max(x, y)] = std::min(x, y);
  }
  void add(const Json& plan, std::size_t first) {
    for (std::size_t s = 0; s < plan["steps"].size(); ++s) {
      const Json& step = plan["steps"][s];
      for (const Json& n : step["nodes"]) join("node " + plan["nodes"][n.get<std::size_t>()].get<std::string>(), first + s);
      if (step["nodes"].empty()) join("step " + step["name"].get<std::string>(), first + s);  // what Tenfold added
    }
  }
  std::size_t of_a_;
  std::vector<std::size_t> parent_;
  std::map<std::string, std::size_t> known_;
};

// A property of steps, one after the other.
Json listed(const Json& plan, const std::vector<int>& steps, const std::string& key) {
  Json list = Json::array();
  for (const int s : steps) list.push_back(plan["steps"][static_cast<std::size_t>(s)].value(key, Json("")));
  return list;
}

Json operands_of(const Json& plan, const std::vector<int>& steps, const char* what) {
  Json list = Json::array();
  for (const int s : steps)
    for (const Json& v : plan["steps"][static_cast<std::size_t>(s)]["outputs"])
      list.push_back(plan["values"][v.get<std::size_t>()].value(what, Json("")));
  return list;
}

Json what_changed(const Json& a, const std::vector<int>& in_a, const Json& b, const std::vector<int>& in_b) {
  Json what = Json::array();
  if (in_a.empty() || in_b.empty()) return {in_a.empty() ? "added" : "removed"};
  if (in_a.size() != in_b.size() || listed(a, in_a, "op") != listed(b, in_b, "op")) what.push_back("fusion");
  if (listed(a, in_a, "kernel") != listed(b, in_b, "kernel"))
    what.push_back("kernel");
  else if (listed(a, in_a, "config") != listed(b, in_b, "config"))
    what.push_back("configuration");
  if (listed(a, in_a, "compute") != listed(b, in_b, "compute") || operands_of(a, in_a, "dtype") != operands_of(b, in_b, "dtype"))
    what.push_back("precision");
  if (operands_of(a, in_a, "layout") != operands_of(b, in_b, "layout")) what.push_back("layout");
  if (operands_of(a, in_a, "dims") != operands_of(b, in_b, "dims")) what.push_back("shape");
  return what;
}

Json time_of(const Json& plan, const std::vector<int>& steps) {
  if (plan["steps_ms"].is_null()) return {};
  double sum = 0;
  for (const int s : steps)
    sum += plan["steps"][static_cast<std::size_t>(s)]["ms"].is_null() ? 0 : plan["steps"][static_cast<std::size_t>(s)]["ms"].get<double>();
  return sum;
}

Json difference(const Json& a, const Json& b) { return a.is_null() || b.is_null() ? Json() : Json(b.get<double>() - a.get<double>()); }

}  // namespace

Json changes_json(const Json& a, const Json& b) {
  Json rows = Json::array();
  for (const auto& [first, group] : Groups(a, b).all()) {
    const auto& [in_a, in_b] = group;
    const Json a_ms = time_of(a, in_a), b_ms = time_of(b, in_b);
    rows.push_back({{"a", in_a},
                    {"b", in_b},
                    {"what", what_changed(a, in_a, b, in_b)},
                    {"a_ms", a_ms},
                    {"b_ms", b_ms},
                    {"delta_ms", difference(a_ms, b_ms)}});
  }
  const auto cost = [](const Json& row) { return row["delta_ms"].is_null() ? 0 : std::abs(row["delta_ms"].get<double>()); };
  std::stable_sort(rows.begin(), rows.end(), [&](const Json& x, const Json& y) { return cost(x) > cost(y); });
  return {{"run_ms", difference(a["run_ms"], b["run_ms"])},
          {"steps_ms", difference(a["steps_ms"], b["steps_ms"])},
          {"weight_bytes", b["weight_bytes"].get<std::int64_t>() - a["weight_bytes"].get<std::int64_t>()},
          {"arena_bytes", b["arena_bytes"].get<std::int64_t>() - a["arena_bytes"].get<std::int64_t>()},
          {"rows", std::move(rows)}};
}

}  // namespace tenfold::cli
