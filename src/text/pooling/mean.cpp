// mean: the mean of the tokens.
#include "text/pooling/pooling.h"

namespace tenfold::encoders {
namespace {

NetworkTensor make(const Blocks& b, NetworkTensor x, std::int64_t skipped) {
  return b.net.reduce(Reduce::mean, counted(b, x, skipped), {1}, false);
}

}  // namespace

Pooling pool_mean() { return {"mean", "pooling_mode_mean_tokens", make}; }

}  // namespace tenfold::encoders
