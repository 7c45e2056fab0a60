// EfficientNMS and BatchedNMS of TensorRT as SelectBoxes.
#include "onnx_ops/tensorrt/select_boxes_common.h"

#include <algorithm>

namespace tenfold::onnx_ops {
namespace {

// The four coordinates, each [.., 1].
std::vector<Value*> coordinates(OnnxImport& call, Value* boxes) {
  return call.add("Split", {boxes, call.ints({1, 1, 1, 1})}, {{"axis", -1}}, 4);
}
Value* joined(OnnxImport& call, std::vector<Value*> parts) { return one(call, "Concat", std::move(parts), {{"axis", -1}}); }
Value* add(OnnxImport& call, Value* a, Value* b) { return one(call, "Add", {a, b}); }
Value* mul(OnnxImport& call, Value* a, Value* b) { return one(call, "Mul", {a, b}); }

// Corners in their order: the smaller one first.
Value* ordered(OnnxImport& call, Value* boxes) {
  const std::vector<Value*> c = coordinates(call, boxes);
  return joined(call, {one(call, "Min", {c[0], c[2]}), one(call, "Min", {c[1], c[3]}), one(call, "Max", {c[0], c[2]}),
                       one(call, "Max", {c[1], c[3]})});
}

// What a network predicts for each anchor, as a box in the same coding.
Value* decoded(OnnxImport& call, Value* boxes, Value* anchors, bool centers) {
  if (!centers) return add(call, ordered(call, boxes), ordered(call, anchors));
  const std::vector<Value*> b = coordinates(call, boxes), a = coordinates(call, anchors);
  return joined(call, {add(call, mul(call, b[0], a[2]), a[0]), add(call, mul(call, b[1], a[3]), a[1]),
                       mul(call, a[2], one(call, "Exp", {b[2]})), mul(call, a[3], one(call, "Exp", {b[3]}))});
}

std::int64_t positive_field(OnnxImport& call, std::string_view name, std::int64_t otherwise) {
  const std::int64_t value = integer_field(call, name, otherwise);
  validate(value > 0, name, " is ", value, ", a positive number expected");
  return value;
}

}  // namespace

Value* boxes_of_classes(OnnxImport& call) {
  expect_float(call, 0);
  const int rank = known_rank(call, 0);
  check_shape(rank == 3 || rank == 4, "the boxes have rank ", rank, ", 3 or 4 expected");
  return rank == 4 ? call.in(0) : unsqueezed(call, call.in(0), {2});
}

Value* scores_of_classes(OnnxImport& call) {
  expect_float(call, 1);
  const int rank = known_rank(call, 1);
  check_shape(rank == 3 || rank == 4, "the scores have rank ", rank, ", 3 or 4 expected");
  return rank == 3 ? call.in(1) : one(call, "Squeeze", {call.in(1), call.ints({3})});
}

Value* corners_of_centers(OnnxImport& call, Value* boxes) {
  const std::vector<Value*> c = coordinates(call, boxes);
  Value* half = call.scalar(boxes->dtype(), 0.5);
  Value *h = mul(call, c[2], half), *w = mul(call, c[3], half);
  return joined(call, {one(call, "Sub", {c[0], h}), one(call, "Sub", {c[1], w}), add(call, c[0], h), add(call, c[1], w)});
}

Value* clipped_to_one(OnnxImport& call, Value* boxes) {
  return one(call, "Clip", {boxes, call.scalar(boxes->dtype(), 0), call.scalar(boxes->dtype(), 1)});
}

std::vector<Value*> efficient_nms(OnnxImport& call, Value* boxes, Value* scores, Attributes more) {
  more.set("iou_threshold", number_field(call, "iou_threshold", 0.5f));
  more.set("score_threshold", number_field(call, "score_threshold", 0.5f));
  more.set("candidates", 4096);   // of each image
  return call.add("SelectBoxes", {boxes, scores}, std::move(more), 5);
}

std::vector<Value*> efficient_nms_of_anchors(OnnxImport& call) {
  expect_fields(call, {"score_threshold", "iou_threshold", "max_output_boxes", "background_class", "score_activation", "class_agnostic",
                       "box_coding"});
  Value *boxes = boxes_of_classes(call), *scores = scores_of_classes(call);
  const std::int64_t coding = integer_field(call, "box_coding", 0);
  validate(coding == 0 || coding == 1, "box_coding is ", coding, ", 0 (corners) or 1 (center and size) expected");
  if (Value* anchors = call.in(2)) {
    check_shape(known_rank(call, 2) == 3, "the anchors have rank ", known_rank(call, 2), ", 3 expected");
    boxes = decoded(call, boxes, unsqueezed(call, anchors, {2}), coding == 1);
  }
  if (coding == 1) boxes = corners_of_centers(call, boxes);
  if (integer_field(call, "score_activation", 0) != 0) scores = one(call, "Sigmoid", {scores});
  return efficient_nms(call, boxes, scores,
                       {{"max_boxes", positive_field(call, "max_output_boxes", 100)},
                        {"background", integer_field(call, "background_class", -1)},
                        {"agnostic", integer_field(call, "class_agnostic", 0) != 0 ? 1 : 0}});
}

std::vector<Value*> efficient_nms_of_tensorflow(OnnxImport& call) {
  expect_fields(call, {"max_output_size_per_class", "max_total_size", "iou_threshold", "score_threshold", "pad_per_class", "clip_boxes"});
  Value *boxes = boxes_of_classes(call), *scores = scores_of_classes(call);
  const std::int64_t of_class = integer_field(call, "max_output_size_per_class", -1);
  std::int64_t max = positive_field(call, "max_total_size", 100);
  if (integer_field(call, "pad_per_class", 0) != 0 && of_class > 0) {
    const Dim classes = scores->dims()[2];
    supported(classes.is_constant() && classes.constant() < 1 << 20, "pad_per_class with a number of classes that only the run knows");
    max = std::min(max, of_class < max ? of_class * classes.constant() : max);
    check_shape(max > 0, "the scores are of no class");
  }
  std::vector<Value*> results = efficient_nms(call, boxes, scores, {{"max_boxes", max}, {"max_per_class", of_class}});
  if (integer_field(call, "clip_boxes", 0) != 0) results[1] = clipped_to_one(call, results[1]);
  results.pop_back();
  return results;
}

std::vector<Value*> batched_nms(OnnxImport& call) {
  expect_fields(call, {"shareLocation", "backgroundLabelId", "numClasses", "topK", "keepTopK", "scoreThreshold", "iouThreshold",
                       "isNormalized", "clipBoxes", "scoreBits", "caffeSemantics"});
  Value *boxes = boxes_of_classes(call), *scores = scores_of_classes(call);
  for (const char* needed : {"backgroundLabelId", "topK", "keepTopK", "scoreThreshold", "iouThreshold"})
    validate(call.attributes.has(needed), "attribute '", needed, "' is missing");
  const std::int64_t top = positive_field(call, "topK", 0), keep = positive_field(call, "keepTopK", 0);
  validate(keep <= top, "keepTopK is ", keep, ", more than topK, ", top);
  const bool pixels = integer_field(call, "isNormalized", 1) == 0, caffe = integer_field(call, "caffeSemantics", 1) != 0;
  std::vector<Value*> results =
      call.add("SelectBoxes", {boxes, scores},
               {{"max_boxes", keep},
                {"candidates", top},
                {"per_class", 1},
                {"inclusive", 0},
                {"empty_class", -1},
                {"background", integer_field(call, "backgroundLabelId", -1)},
                {"iou_threshold", number_field(call, "iouThreshold", 0)},
                {"score_threshold", number_field(call, "scoreThreshold", 0)},
                {"border", pixels ? 1.0f : 0.0f},                       // a box of whole pixels has its last one, too
                {"border_of_overlap", pixels && caffe ? 1.0f : 0.0f}},
               5);
  if (integer_field(call, "clipBoxes", 1) != 0) results[1] = clipped_to_one(call, results[1]);
  results[3] = one(call, "Cast", {results[3]}, {{"to", std::string(name(boxes->dtype()))}});
  results.pop_back();
  return results;
}

}  // namespace tenfold::onnx_ops
