// MultilevelCropAndResize_TRT: samples of each region from the feature map that its size belongs to, one in the middle of each of
// pooled_size x pooled_size parts.
//
// Operands: regions (y1, x1, y2, x2) in pixels of the image [images, regions, 4]; five feature maps, the first a quarter of the image in
// each direction, each next one half as large. A region that is empty or leaves the image gives zeros.
#include "onnx_ops/tensorrt/plugin_common.h"

namespace tenfold::onnx_ops {
namespace {

constexpr int kMaps = 5;

struct Build {
  OnnxImport& call;
  std::int64_t pooled;
  Value* number(double v) const { return call.scalar(DType::f32, v); }
  Value* operator()(const char* op, Value* a, Value* b) const { return one(call, op, {a, b}); }
};

// Of samples along one axis, [images, regions, pooled], from edges [images, regions, 1] in pixels of a map: GridSample's coordinates,
// inside of the map.
Value* samples(const Build& b, Value* from, Value* to, Value* extent) {
  OnnxImport& call = b.call;
  Value* middle = filled(call, DType::f32, {b.pooled}, [&](auto* at) {
    for (std::int64_t i = 0; i < b.pooled; ++i) *at++ = (static_cast<float>(i) + 0.5f) / static_cast<float>(b.pooled);
  });
  Value* pixel = b("Add", from, b("Mul", b("Sub", to, from), middle));
  pixel = one(call, "Min", {one(call, "Max", {pixel, b.number(0)}), b("Sub", extent, b.number(1))});
  return b("Sub", b("Div", b("Add", b("Mul", pixel, b.number(2)), b.number(1)), extent), b.number(1));
}

// What all regions have of one map, [images, regions, channels, pooled, pooled].
Value* pooled_of(const Build& b, const std::vector<Value*>& edges, Value* map, double scale) {
  OnnxImport& call = b.call;
  const auto in_map = [&](int i) { return b("Mul", edges[static_cast<std::size_t>(i)], b.number(1 / scale)); };
  const auto size = [&](std::int64_t d) { return one(call, "Cast", {extent(call, map, d)}, {{"to", "f32"}}); };
  Value* y = unsqueezed(call, samples(b, in_map(0), in_map(2), size(2)), {3});   // [images, regions, pooled, 1]
  Value* x = unsqueezed(call, samples(b, in_map(1), in_map(3), size(3)), {2});
  Value* zero = b("Mul", b("Add", y, x), b.number(0));
  Value* grid = one(call, "Concat", {unsqueezed(call, b("Add", x, zero), {4}), unsqueezed(call, b("Add", y, zero), {4})}, {{"axis", 4}});
  grid = reshaped(call, grid, {0, -1, b.pooled, 2});   // the regions' rows behind each other
  Value* taken = one(call, "GridSample", {map, grid}, {{"mode", "linear"}, {"padding_mode", "border"}, {"align_corners", 0}});
  return transposed(call, reshaped(call, taken, {0, 0, -1, b.pooled, b.pooled}), {0, 2, 1, 3, 4});
}

std::vector<Value*> from_1(OnnxImport& call) {
  expect_fields(call, {"pooled_size", "image_size"});
  const std::int64_t pooled = integer_field(call, "pooled_size", 7);
  const Ints image = call.attributes.has("image_size") ? integers_field(call, "image_size") : Ints{3, 1024, 1024};
  validate(pooled > 0 && pooled <= 1 << 10, "pooled_size is ", pooled, ", 1 to 1024 expected");
  validate(image.size() == 3 && image[1] > 0 && image[2] > 0, "image_size has ", image.size(),
           " extents: channels, height and width expected");
  for (int i = 0; i <= kMaps; ++i) {
    expect_float(call, i);
    check_shape(known_rank(call, i) == (i ? 4 : 3), "operand ", i, " has rank ", known_rank(call, i), ", ", i ? 4 : 3, " expected");
  }
  const Build b{call, pooled};
  Value* regions = one(call, "Cast", {call.in(0)}, {{"to", "f32"}});
  const std::vector<Value*> e = call.add("Split", {regions, call.ints({1, 1, 1, 1})}, {{"axis", 2}}, 4);
  Value* area = b("Mul", b("Sub", e[2], e[0]), b("Sub", e[3], e[1]));
  Value* is_inside = b("And", b("Less", e[0], e[2]), b("Less", e[1], e[3]));
  for (std::size_t i = 0; i < 4; ++i) {
    is_inside = b("And", is_inside, b("GreaterOrEqual", e[i], b.number(0)));
    is_inside = b("And", is_inside, b("LessOrEqual", e[i], b.number(static_cast<double>(image[1 + i % 2]))));
  }
  const auto spread = [&](Value* mask) { return unsqueezed(call, mask, {3, 4}); };   // over channels and samples
  double scale = 4, threshold = 224 * 224 / 4.0;
  Value* y = pooled_of(b, e, call.in(1), scale);
  for (int i = 2; i <= kMaps; ++i, threshold *= 4)
    y = one(call, "Where", {spread(b("Greater", area, b.number(threshold))), pooled_of(b, e, call.in(i), scale *= 2), y});
  return call.add("Where", {spread(is_inside), y, call.scalar(y->dtype(), 0)}, {});
}

}  // namespace

OnnxOp onnx_tensorrt_multilevel_crop_and_resize_trt() { return {.name = "MultilevelCropAndResize_TRT", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
