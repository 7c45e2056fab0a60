// max: the largest of each channel.
#include "text/encoders/pooling/pooling.h"

namespace tenfold::encoders {
namespace {

NetworkTensor make(const Blocks& b, NetworkTensor x, std::int64_t skipped) {
  return b.net.reduce(Reduce::max, counted(b, x, skipped), {1}, false);
}

}  // namespace

Pooling pool_max() { return {"max", "pooling_mode_max_tokens", make}; }

}  // namespace tenfold::encoders
