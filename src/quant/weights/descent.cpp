#include "quant/weights/descent.h"

#include <cmath>

namespace tenfold::quant {

void descend(const std::vector<float>& moments, Stepped& column) {
  const std::size_t n = column.weights.size();
  std::vector<float> error(n), pull(n);   // of each weight; the moments times all errors
  const auto add = [&](std::size_t i, float by) {
    const float* const row = moments.data() + i * n;
    for (std::size_t j = 0; j < n; ++j) pull[j] += by * row[j];
  };
  for (std::size_t i = 0; i < n; ++i) error[i] = column.levels[i] * column.steps[i] - column.weights[i], add(i, error[i]);
  constexpr int kTurns = 3;
  for (int turn = 0; turn < kTurns; ++turn) {
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) {
      const float step = column.steps[i], change = error[i] > 0 ? -step : step;
      const float other = column.levels[i] + (change > 0 ? 1.0F : -1.0F);
      if (other < column.least[i] || other > column.most[i] || std::fabs(error[i]) > step) continue;
      if (!(change * change * moments[i * n + i] + 2 * change * pull[i] < 0)) continue;
      column.levels[i] = other, error[i] += change, any = true;
      add(i, change);
    }
    if (!any) return;
  }
}

}  // namespace tenfold::quant
