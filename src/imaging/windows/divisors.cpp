// Sums of maps, in their order.
#include "windows/divisors.h"

#include <algorithm>

#include "windows/blend_kernels.h"

namespace tenfold::windows {

const float* Divisors::over(std::int64_t at, std::int64_t count) {
  const float* all = maps[0] + at;
  if (maps.size() > 1) {
    if (sum.size() < static_cast<std::size_t>(count)) sum.resize(static_cast<std::size_t>(count));
    std::vector<BlendTerm> terms;
    for (const float* map : maps) terms.push_back({map + at, nullptr});
    const BlendStretch stretch{0, count, 0, static_cast<std::int64_t>(terms.size()), true, false};
    blend_kernels().blend({sum.data(), 1, count, count, 1, 0, 0, {&stretch, 1}, terms.data()});
    all = sum.data();
  }
  if (!surely_positive) positive &= blend_kernels().positive(all, count);
  return all;
}

}  // namespace tenfold::windows
