// IReduceLayer.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  static constexpr const char* kOps[] = {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean"};
  const std::size_t op = call.choice("op", {"SUM", "PROD", "MAX", "MIN", "AVG"});
  const Shape axes = call.axes("axes", call.rank(0));
  if (axes.empty()) call.refuse("axes names no dimension");
  return {call.node(kOps[op], {call.in(0), call.integers(axes)}, {{"keepdims", call.number("keep_dims")}})};
}

}  // namespace

LayerKind layer_reduce() {
  return {.name = "reduce",
          .min_inputs = 1,
          .max_inputs = 1,
          .options = {{"op", std::string("SUM")}, {"axes", std::int64_t{0}}, {"keep_dims", std::int64_t{0}}},
          .make = make};
}

}  // namespace tenfold::layers
