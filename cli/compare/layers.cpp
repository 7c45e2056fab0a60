// Recording one run, and comparing another with it value by value.
#include "compare/layers.h"

namespace tenfold::cli {

ObserverCallback Layers::record() {
  return [this](std::string_view step, std::string_view value, const Tensor& result) {
    const auto [it, fresh] = index_.try_emplace(std::string(value), recorded_.size());
    if (fresh) recorded_.push_back({std::string(value), std::string(step), result.clone(), {}});   // later ones are copies in other layouts
  };
}

ObserverCallback Layers::compare() {
  return [this](std::string_view, std::string_view value, const Tensor& result) {
    const auto it = index_.find(value);
    if (it == index_.end()) return;
    Recorded& mine = recorded_[it->second];
    if (mine.distance) return;
    mine.distance = distance(mine.name, mine.value, result);
    mine.value = {};
    ++compared_;
  };
}

std::optional<Layers::Difference> Layers::first_difference(double tolerance) const {
  for (const Recorded& r : recorded_)
    if (r.distance && (!r.distance->problem.empty() || !(r.distance->relative <= tolerance))) return Difference{r.step, *r.distance};
  return std::nullopt;
}

}  // namespace tenfold::cli
