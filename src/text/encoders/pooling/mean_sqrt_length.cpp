// mean_sqrt_len_tokens: the sum of the tokens by the square root of their number.
#include "text/encoders/pooling/pooling.h"

namespace tenfold::encoders {
namespace {

NetworkTensor make(const Blocks& b, NetworkTensor x, std::int64_t skipped) {
  const NetworkTensor kept = counted(b, x, skipped);
  return b.net.elementwise(Elementwise::div, b.net.reduce(Reduce::sum, kept, {1}, false), b.net.unary(Unary::sqrt, token_count(b, kept)));
}

}  // namespace

Pooling pool_mean_sqrt_length() { return {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", make}; }

}  // namespace tenfold::encoders
