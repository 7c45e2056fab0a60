// DFT: a Fourier transform along one axis, as a product with its matrix. Operands: data [..., 1 or 2], length, axis (from opset 20).
#include <algorithm>
#include <numeric>

#include "onnx_ops/ai_onnx/fourier_common.h"
#include "onnx_ops/ai_onnx/fourier_run_common.h"
#include "ops/reduce/reduce_common.h"

namespace tenfold::onnx_ops {
namespace {

struct Transform {
  std::int64_t in, parts, length, out, out_parts;   // parts: real, or real and imaginary
  bool inverse, from_half;                          // from the half of a real signal's spectrum that says it all
};

// [in, parts, out, parts]: what an element of the data adds to one of the result. What the length cuts off adds nothing.
template <class T>
void write_matrix(const Transform& t, T* at) {
  const T* end = at + t.in * t.parts * t.out * t.out_parts;
  if (at == end) return;
  const Circle circle(t.length);
  const double turn = t.inverse ? 1 : -1, all = t.inverse ? 1 / static_cast<double>(t.length) : 1;
  for (std::int64_t i = 0; i < std::min(t.in, t.from_half ? t.length / 2 + 1 : t.length); ++i) {
    const bool twice = t.from_half && i != 0 && 2 * i != t.length;   // stands for its conjugate, too
    const double scale = twice ? 2 * all : all;
    for (std::int64_t part = 0; part < t.parts; ++part) {
      circle.along(i, t.out, [&](double cosine, double sine) {
        *at++ = static_cast<T>(scale * (part ? -turn * sine : cosine));
        if (t.out_parts == 2) *at++ = static_cast<T>(scale * (part ? cosine : turn * sine));
      });
    }
  }
  while (at != end) *at++ = 0;
}

// The matrix is a constant.
std::vector<Value*> transformed(OnnxImport& call, std::int64_t axis) {
  const int rank = call.in(0)->rank();
  const Dims& dims = call.in(0)->dims();
  check_shape(axis >= -rank && axis < rank, "axis ", axis, " of data of rank ", rank);
  if (axis < 0) axis += rank;
  check_shape(axis != rank - 1, "the last dim holds real and imaginary parts, and is no axis to transform");
  const Dim extent = dims[static_cast<std::size_t>(axis)], parts = dims.back();
  supported(extent.constant() < kMaxFourier, "a transform of ", extent.text(), " elements is too large to be done by a matrix");
  Transform t{.in = extent.constant(), .parts = parts.constant(), .inverse = call.attributes.integer("inverse", 0) != 0};
  const bool onesided = call.attributes.integer("onesided", 0) != 0;
  t.from_half = onesided && t.inverse;
  t.length = constant_integer(call, 1, "the length of a transform", t.from_half ? 2 * (t.in - 1) : t.in);
  check_shape(t.length > 0, "the length of a transform is ", t.length);
  t.out = onesided && !t.inverse ? t.length / 2 + 1 : t.length;
  t.out_parts = t.from_half ? 1 : 2;
  supported(t.length < kMaxFourier && t.in * t.parts * t.out_parts <= kMaxFourier / t.out, "a transform of ", t.in,
            " elements to ", t.out, " is too large to be done by a matrix");
  Value* m = filled(call, call.in(0)->dtype(), {t.in, t.parts, t.out, t.out_parts}, [&](auto* to) { write_matrix(t, to); });
  std::string from, to;
  for (int d = 0; d < rank - 1; ++d)
    from += d == axis ? 'N' : static_cast<char>('a' + d), to += d == axis ? 'K' : static_cast<char>('a' + d);
  return {exact(one(call, "Einsum", {call.in(0), m}, {{"equation", cat(from, "C,NCKD->", to, "D")}}))};
}

// What the axis, the extent or the length is, the run knows. The axis comes to the middle of [outer, axis, inner, parts] by reshapes alone.
std::vector<Value*> transformed_at_run(OnnxImport& call, Value* axis) {
  const auto rank = static_cast<std::int64_t>(call.in(0)->rank());
  const std::int64_t parts = call.in(0)->dims().back().constant();
  const bool onesided = call.attributes.integer("onesided", 0) != 0, inverse = call.attributes.integer("inverse", 0) != 0;
  Value *unit = call.ints({1}), *two = call.ints({2}), *dims = one(call, "Shape", {call.in(0)});
  axis = single(call, axis);
  axis = one(call, "Where", {one(call, "Less", {axis, call.ints({0})}), one(call, "Add", {axis, call.ints({rank})}), axis});
  Ints places(static_cast<std::size_t>(rank));
  std::iota(places.begin(), places.end(), 0);
  Value* place = call.ints(places);
  const auto product_where = [&](Value* chosen) {
    return reshaped(call, one(call, "ReduceProd", {one(call, "Where", {chosen, dims, unit})}, {{"axes", Ints{0}}}), {1});
  };
  Value* outer = product_where(one(call, "Less", {place, axis}));
  Value* inner = product_where(one(call, "And", {one(call, "Greater", {place, axis}), one(call, "Less", {place, call.ints({rank - 1})})}));
  Value* elements = one(call, "Gather", {dims, axis}, {{"axis", 0}});
  Value* x = one(call, "Reshape", {call.in(0), one(call, "Concat", {outer, elements, inner, call.ints({parts})}, {{"axis", 0}})});
  RunTransform t{.length = elements, .bins = nullptr, .inverse = inverse, .from_half = onesided && inverse};
  if (call.in(1)) t.length = single(call, call.in(1));
  else if (t.from_half) t.length = one(call, "Mul", {one(call, "Sub", {elements, unit}), two});
  t.bins = onesided && !inverse ? one(call, "Add", {one(call, "Div", {t.length, two}), unit}) : t.length;
  Value* y = transformed_at_run(call, x, parts, t);
  Value* shape = one(call, "Where", {one(call, "Equal", {place, axis}), t.bins, dims});
  shape = one(call, "Slice", {shape, call.ints({0}), call.ints({rank - 1}), call.ints({0})});
  return {one(call, "Reshape", {y, one(call, "Concat", {shape, call.ints({t.from_half ? 1 : 2})}, {{"axis", 0}})})};
}

// `axis` null: it is `otherwise`.
std::vector<Value*> transform(OnnxImport& call, Value* axis, std::int64_t otherwise) {
  const int rank = known_rank(call, 0);
  expect_float(call, 0);
  check_shape(rank >= 2 && rank < 20, "data of rank ", rank);
  const Dim parts = call.in(0)->dims().back();
  supported(parts.is_constant(), "the last dim is ", parts.text(), ", a constant one is supported");
  check_shape(parts == Dim(1) || parts == Dim(2), "the last dim is ", parts.text(), ", 1 or 2 expected");
  const auto known = axis ? known_integers(*axis) : Ints{otherwise};
  if (!known) return transformed_at_run(call, axis);
  check_shape(known->size() == 1, "the axis of a transform has ", known->size(), " elements, one expected");
  const std::int64_t at = known->front();
  check_shape(at >= -rank && at < rank, "axis ", at, " of data of rank ", rank);
  const bool constant = call.in(0)->dims()[static_cast<std::size_t>(at < 0 ? at + rank : at)].is_constant() &&
                        (!call.in(1) || call.in(1)->is_constant());
  return constant ? transformed(call, at) : transformed_at_run(call, call.ints({at}));
}

std::vector<Value*> from_17(OnnxImport& call) { return transform(call, nullptr, call.attributes.integer("axis", 1)); }
std::vector<Value*> from_20(OnnxImport& call) { return transform(call, call.in(2), -2); }

}  // namespace

OnnxOp onnx_ai_onnx_dft() { return {.name = "DFT", .forms = {{17, from_17}, {20, from_20}}}; }

}  // namespace tenfold::onnx_ops
