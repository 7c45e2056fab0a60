// The norms of the difference of two tensors.
#include "compare/distance.h"

#include <algorithm>
#include <cmath>

namespace tenfold::cli {

Distance distance(const std::string& name, const Tensor& a, const Tensor& b) {
  Distance d{.name = name};
  if (a.shape() != b.shape()) return d.problem = "shapes differ: " + text(a.shape()) + " and " + text(b.shape()), d;
  if (a.dtype() == DType::string || b.dtype() == DType::string) return d.problem = "strings are not compared", d;
  double aa = 0, bb = 0, ab = 0, largest = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = a.as_double(i), y = b.as_double(i);
    if ((std::isnan(x) && std::isnan(y)) || x == y) {
      if (!std::isfinite(x)) continue;  // equal infinities and NaNs agree and have no norm
    } else {
      const double gap = std::abs(x - y);
      d.l0 += 1, d.l1 += gap, d.l2 += gap * gap;
      d.l_inf = std::isnan(gap) || std::isnan(d.l_inf) ? std::nan("") : std::max(d.l_inf, gap);
    }
    aa += x * x, bb += y * y, ab += x * y, largest = std::max(largest, std::abs(y));
  }
  d.l2 = std::sqrt(d.l2);
  d.cosine = aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : aa == bb ? 1 : 0;
  d.relative = d.l_inf == 0 ? 0 : d.l_inf / std::max(largest, 1e-30);
  return d;
}

}  // namespace tenfold::cli
