#include "quant/weights/descent.h"

#include <algorithm>
#include <cmath>

namespace tenfold::quant {

void descend(const std::vector<float>& moments, Stepped& column) {
  const std::size_t n = column.weights.size();
  std::vector<float> pull(n);  // the moments times the errors of all weights
  const auto add = [&](std::size_t i, float by) {
    const float* const row = moments.data() + i * n;
    for (std::size_t j = 0; j < n; ++j) pull[j] += by * row[j];
  };
  for (std::size_t i = 0; i < n; ++i) add(i, column.levels[i] * column.steps[i] - column.weights[i]);
  constexpr int kTurns = 3;
  for (int turn = 0; turn < kTurns; ++turn) {
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) {
      const float own = moments[i * n + i], step = column.steps[i], level = column.levels[i];
      const float best = std::clamp(std::nearbyint(level - pull[i] / (own * step)), column.min[i], column.max[i]);
      const float change = (best - level) * step;
      if (best == level || !(change * change * own + 2 * change * pull[i] < 0)) continue;
      column.levels[i] = best, any = true;
      add(i, change);
    }
    if (!any) return;
  }
}

}  // namespace tenfold::quant
