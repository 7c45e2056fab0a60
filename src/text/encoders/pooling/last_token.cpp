// lasttoken: the vector of the last token, as decoders are pooled.
#include <limits>

#include "text/encoders/pooling/pooling.h"

namespace tenfold::encoders {
namespace {

NetworkTensor make(const Blocks& b, NetworkTensor x, std::int64_t) {
  const NetworkTensor behind = b.integers({std::numeric_limits<std::int64_t>::max()});
  return b.net.add_node("Squeeze", {b.net.add_node("Slice", {x, b.integers({-1}), behind, b.integers({1})})[0], b.integers({1})})[0];
}

}  // namespace

Pooling pool_last_token() { return {"lasttoken", "pooling_mode_lasttoken", make}; }

}  // namespace tenfold::encoders
