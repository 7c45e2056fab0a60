// cls: the vector of the first token that counts.
#include "text/encoders/pooling/pooling.h"

namespace tenfold::encoders {
namespace {

NetworkTensor make(const Blocks& b, NetworkTensor x, std::int64_t skipped) {
  const NetworkTensor first = b.net.add_node("Slice", {x, b.integers({skipped}), b.integers({skipped + 1}), b.integers({1})})[0];
  return b.net.add_node("Squeeze", {first, b.integers({1})})[0];
}

}  // namespace

Pooling pool_cls() { return {"cls", "pooling_mode_cls_token", make, PackTokens::with_zeros}; }

}  // namespace tenfold::encoders
