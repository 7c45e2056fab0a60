// mean: the mean of the tokens.
#include "text/encoders/pooling/pooling.h"

namespace tenfold::encoders {
namespace {

NetworkTensor make(const Blocks& b, NetworkTensor x, std::int64_t skipped) {
  if (!b.mask.defined()) return b.net.reduce(Reduce::mean, counted(b, x, skipped), {1}, false);
  // The mask's row times the tokens' rows, by how many it keeps.
  const NetworkTensor keep = b.net.cast(b.mask, DType::f32);
  const NetworkTensor sum = b.net.matrix_multiply(b.net.add_node("Unsqueeze", {keep, b.integers({1})})[0], x);
  const NetworkTensor count = b.net.elementwise(Elementwise::max, b.net.reduce(Reduce::sum, keep, {1}, true), b.scalar(1));
  return b.net.elementwise(Elementwise::div, b.net.add_node("Squeeze", {sum, b.integers({1})})[0], count);
}

}  // namespace

Pooling pool_mean() { return {"mean", "pooling_mode_mean_tokens", make, PackTokens::where_equal}; }

}  // namespace tenfold::encoders
