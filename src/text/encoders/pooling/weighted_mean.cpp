// weightedmean: the mean of the tokens, each counted as often as its place says, the first once.
#include "text/encoders/pooling/pooling.h"

namespace tenfold::encoders {
namespace {

constexpr std::int64_t kLongest = 1 << 15;   // as f16 has

NetworkTensor make(const Blocks& b, NetworkTensor x, std::int64_t skipped) {
  Tensor places(DType::f32, {kLongest, 1});
  for (std::int64_t i = 0; i < kLongest; ++i) places.mutable_data<float>()[i] = static_cast<float>(i + 1);
  const NetworkTensor kept = counted(b, x, skipped);
  const NetworkTensor weights = b.rows(b.net.constant(places), skipped, b.length(kept));  // [tokens, 1]
  // Shares of one, and no sum to divide in the end: with fp16 that would be beyond 65504.
  const NetworkTensor shares = b.net.elementwise(Elementwise::div, weights, b.net.reduce(Reduce::sum, weights, {0}, false));
  return b.net.reduce(Reduce::sum, b.net.elementwise(Elementwise::prod, kept, shares), {1}, false);
}

}  // namespace

Pooling pool_weighted_mean() { return {"weightedmean", "pooling_mode_weightedmean_tokens", make}; }

}  // namespace tenfold::encoders
