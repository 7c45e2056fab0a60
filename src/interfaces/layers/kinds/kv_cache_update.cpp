// IKVCacheUpdateLayer: cache [batch, heads, most, size] with update [batch, heads, new, size] written from write_indices[batch] on.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  static_cast<void>(call.choice("cache_mode", {"LINEAR"}));
  if (call.rank(0) != 4 || call.rank(1) != 4)
    call.refuse("cache and update are [batch, heads, places, size], they are " + call.net.describe(call.in(0)) + " and " +
                call.net.describe(call.in(1)));
  return {call.node("TensorScatter", {call.in(0), call.in(1), call.as_i64(call.in(2))}, {{"axis", std::int64_t{2}}})};
}

}  // namespace

LayerKind layer_kv_cache_update() {
  return {.name = "kv_cache_update", .min_inputs = 3, .max_inputs = 3, .options = {{"cache_mode", std::string("LINEAR")}}, .make = make};
}

}  // namespace tenfold::layers
