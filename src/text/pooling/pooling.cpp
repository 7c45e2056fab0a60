#include "text/pooling/pooling.h"

#include <limits>

namespace tenfold::encoders {

const std::vector<Pooling>& poolings() {
  static const std::vector<Pooling> all{pool_cls(),           pool_max(),       pool_mean(), pool_mean_sqrt_length(),
                                        pool_weighted_mean(), pool_last_token()};
  return all;
}

NetworkTensor counted(const Blocks& b, NetworkTensor x, std::int64_t skipped) {
  if (skipped == 0) return x;
  return b.net.add_node("Slice", {x, b.integers({skipped}), b.integers({std::numeric_limits<std::int64_t>::max()}), b.integers({1})})[0];
}

NetworkTensor token_count(const Blocks& b, NetworkTensor x) {
  const NetworkTensor count = b.net.cast(b.length(x), DType::f32);
  return b.net.add_node("Squeeze", {count, b.integers({0})})[0];
}

}  // namespace tenfold::encoders
