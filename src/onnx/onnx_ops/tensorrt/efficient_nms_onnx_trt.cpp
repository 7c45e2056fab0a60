// EfficientNMS_ONNX_TRT: rows of image, class and box in one list of a fixed length, of which the last real one is repeated to its end;
// -1 where there is none.
#include "onnx_ops/tensorrt/select_boxes_common.h"

namespace tenfold::onnx_ops {
namespace {

// The rows of all images behind each other: place p of the list is row `first[p]` of the rows that are real.
Value* compacted(OnnxImport& call, Value* rows, Value* is_real) {
  Value* real = one(call, "Cast", {is_real}, {{"to", "i64"}});
  Value* count = one(call, "ReduceSum", {real}, {{"axes", Ints{0}}, {"keepdims", 1}});
  Value* places = counted(call, extent(call, real, 0));
  // Real rows are first in the order of this key, each kind in its own order.
  Value* key = one(call, "Sub", {one(call, "Mul", {real, extent(call, real, 0)}), places});
  Value* order = call.add("TopK", {key, extent(call, real, 0)}, {{"axis", 0}, {"largest", 1}, {"sorted", 1}}, 2)[1];
  Value* last = one(call, "Max", {one(call, "Sub", {count, call.ints({1})}), call.ints({0})});
  Value* taken = one(call, "Gather", {rows, one(call, "Gather", {order, one(call, "Min", {places, last})}, {{"axis", 0}})}, {{"axis", 0}});
  return one(call, "Where", {one(call, "Greater", {count, call.ints({0})}), taken, call.ints({-1})});
}

std::vector<Value*> from_1(OnnxImport& call) {
  expect_fields(call, {"score_threshold", "iou_threshold", "max_output_boxes_per_class", "center_point_box"});
  const std::int64_t max = integer_field(call, "max_output_boxes_per_class", -1);
  validate(max > 0, "max_output_boxes_per_class is ", max, ", a positive number expected");
  Value *boxes = boxes_of_classes(call), *scores = scores_of_classes(call);
  if (integer_field(call, "center_point_box", 0) != 0) boxes = corners_of_centers(call, boxes);
  const std::vector<Value*> found = efficient_nms(call, boxes, scores, {{"max_boxes", max}, {"max_per_class", max}});
  const auto i64 = [&](Value* value) { return one(call, "Cast", {value}, {{"to", "i64"}}); };
  Value* images = extent(call, scores, 0);
  Value* number = unsqueezed(call, counted(call, images), {1});
  Value* shape = one(call, "Concat", {images, call.ints({max})}, {{"axis", 0}});
  Value* rows = one(call, "Concat", {unsqueezed(call, one(call, "Expand", {number, shape}), {2}), unsqueezed(call, i64(found[3]), {2}),
                                     unsqueezed(call, i64(found[4]), {2})}, {{"axis", 2}});
  Value* is_real = one(call, "Less", {unsqueezed(call, counted(call, call.ints({max})), {0}), i64(found[0])});
  Value* list = compacted(call, reshaped(call, rows, {-1, 3}), reshaped(call, is_real, {-1}));
  return {one(call, "Cast", {list}, {{"to", "i32"}})};
}

}  // namespace

OnnxOp onnx_tensorrt_efficient_nms_onnx_trt() { return {.name = "EfficientNMS_ONNX_TRT", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
