#include "text/decoders/quantize/layer_rounding.h"

#include <algorithm>
#include <cmath>

namespace tenfold::decoders {

using transformers::RoundedMatrix;

double ProductRounding::error(const RoundedMatrix& of) const {
  if (!(squares > 0)) return 0;
  std::vector<float> differences(matrix.size());
  for (std::int64_t n = 0, i = 0; n < of.out; ++n) {
    const float by = divided.empty() ? 1.0f : divided[static_cast<std::size_t>(n)];
    for (std::int64_t k = 0; k < of.in; ++k, ++i) {
      const auto at = static_cast<std::size_t>(i);
      differences[at] = (of.at(n, k) - matrix[at]) * by;
    }
  }
  return std::sqrt(std::max(moments.held_out.squares(differences), 0.0) / squares);
}

RoundedMatrix RoundingMethod::nearest(const ProductRounding& p) const {
  return transformers::round_to_range(p.matrix, p.layer, form, p.scale_type);
}

RoundedMatrix RoundingMethod::round(const ProductRounding& p) const {
  if (name == "rtn") return nearest(p);
  RoundedMatrix r{.bits = form.bits, .in = p.layer.in, .out = p.layer.out, .block = form.block(p.layer.in), .scale_type = p.scale_type,
                  .values = {}, .scales = {}};
  const RoundingForm steps{.bits = r.bits, .group = r.block, .scales = p.scale_type};
  RoundedColumns columns = name == "gptq" ? round_columns_by_gptq(p.matrix, p.moments.used, steps)
                                          : round_columns_to_nearest(p.matrix, p.moments.used, steps);
  r.values = std::move(columns.values), r.scales = std::move(columns.scales);
  return r;
}

}  // namespace tenfold::decoders
