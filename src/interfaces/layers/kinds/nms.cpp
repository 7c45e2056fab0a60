// INMSLayer: boxes [batch, boxes, 4], scores [batch, boxes, classes]; most boxes of a class; thresholds of overlap and score. Results:
// [found, 3] of batch, class and box, and how many.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  if (call.rank(0) != 3) call.refuse(ErrorKind::unsupported, "boxes of their own for each class are not there: give [batch, boxes, 4]");
  const auto center = static_cast<std::int64_t>(call.choice("bounding_box_format", {"CORNER_PAIRS", "CENTER_SIZES"}));
  const NetworkTensor scores = call.node("Transpose", {call.in(1)}, {{"perm", Shape{0, 2, 1}}});
  const NetworkTensor found = call.node("NonMaxSuppression", {call.in(0), scores, call.as_i64(call.in(2)), call.maybe(3), call.maybe(4)},
                                        {{"center_point_box", center}});
  const NetworkTensor rows = call.node("Gather", {call.keep(call.net.shape(found)), call.integer(0)});
  return {call.as_indices(found, "indices_type"), call.cast(rows, DType::i32)};
}

}  // namespace

LayerKind layer_nms() {
  return {.name = "nms",
          .min_inputs = 3,
          .max_inputs = 5,
          .options = {{"bounding_box_format", std::string("CORNER_PAIRS")}, {"indices_type", std::string("INT32")}},
          .make = make};
}

}  // namespace tenfold::layers
