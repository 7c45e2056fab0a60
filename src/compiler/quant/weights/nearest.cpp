// Each weight becomes the level that is nearest, with scales of the least squared error.
#include "quant/weights/groups.h"

namespace tenfold::quant {

GroupedWeights round_to_nearest(const Columns& weights, const GroupForm& form, std::span<const double> importance) {
  GroupedWeights q = with_scales(weights, importance, form);
  for (std::int64_t c = 0; c < q.columns; ++c)
    for (std::int64_t r = 0; r < q.rows; ++r) {
      const auto g = static_cast<std::size_t>(c * q.groups + r / form.group);
      const auto at = static_cast<std::size_t>(c * q.rows + r);
      q.values[at] =
          static_cast<std::uint8_t>(Steps{q.scales[g], q.zeros[g]}.level(static_cast<double>(weights.values[at]), form.largest()));
    }
  return q;
}

}  // namespace tenfold::quant
