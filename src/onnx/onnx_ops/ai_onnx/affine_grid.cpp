// AffineGrid: the places that GridSample reads for an affine map of an image: theta times (x, y, z, 1) of each element.
//
// Operands: theta [batch, dims, dims + 1], the image's shape [batch, channels, extents...].
#include <algorithm>

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

// Dim d of the image as coordinates from -1 to 1, in the shape [1, 1.., extent, ..1, 1] that broadcasts over the grid.
Value* coordinates(OnnxImport& call, const Shape& extents, std::size_t d, bool corners) {
  const auto extent = static_cast<double>(extents[d]);
  Shape shape(extents.size() + 2, 1);
  shape[d + 1] = extents[d];
  return filled(call, call.in(0)->dtype(), shape, [&]<class T>(T* to) {
    for (double at = 0; at < extent; ++at)
      *to++ = static_cast<T>(corners ? (extent > 1 ? 2 * at / (extent - 1) - 1 : 0) : (2 * at + 1) / extent - 1);
  });
}

// The same where only the run knows the size.
Value* coordinates_at_run(OnnxImport& call, std::size_t dims, std::size_t d, bool corners) {
  const DType type = call.in(0)->dtype();
  const auto number = [&](double value) { return call.scalar(DType::f64, value); };
  const auto in_f64 = [&](Value* value) { return one(call, "Cast", {value}, {{"to", "f64"}}); };
  const auto place = static_cast<std::int64_t>(d) + 2;
  Value* extent = one(call, "Slice", {call.in(1), call.ints({place}), call.ints({place + 1}), call.ints({0})});
  Value *at = one(call, "Mul", {in_f64(counted(call, extent)), number(2)}), *all = in_f64(extent);
  if (corners) all = one(call, "Sub", {all, number(1)}), all = one(call, "Max", {all, number(1)});   // one element: at 0, see below
  else at = one(call, "Add", {at, number(1)});
  Value* first = number(-1);
  if (corners) first = one(call, "Where", {one(call, "Equal", {extent, call.ints({1})}), number(0), first});
  Value* y = one(call, "Add", {one(call, "Div", {at, all}), first});
  Ints shape(dims + 2, 1);
  shape[d + 1] = -1;
  return reshaped(call, one(call, "Cast", {y}, {{"to", std::string(name(type))}}), shape);
}

Shape extents_of(OnnxImport& call) {
  const Dims& size = *call.in(1)->contents;
  check_shape(size.size() == 4 || size.size() == 5, "the size has ", size.size(), " values, 4 or 5 expected");
  Shape extents;
  for (std::size_t d = 2; d < size.size(); ++d) {
    extents.push_back(size[d].constant());
    check_shape(extents.back() > 0, "the grid has an extent of ", extents.back());
    supported(extents.back() < 1 << 20, "a grid with an extent of ", extents.back(), ", less than 2^20 are supported");
  }
  const Dims& theta = call.given(0)->dims();
  check_shape(known_rank(call, 0) == 3 && (!theta[0].is_constant() || !size[0].is_constant() || theta[0] == size[0]),
              "theta has the shape [", text(theta), "], expected [", size[0].text(), ",", extents.size(), ",", extents.size() + 1, "]");
  return extents;
}

// Of the image, by the shape of theta.
std::size_t spatial_dims(OnnxImport& call) {
  const Dims& theta = call.in(0)->dims();
  check_shape(theta.size() == 3 && (theta[1] == Dim(2) || theta[1] == Dim(3)), "theta has the shape [", text(theta),
              "], expected [n,2,3] or [n,3,4]");
  return static_cast<std::size_t>(theta[1].constant());
}

// Columns of theta times the coordinates, and their sum: no matrix of all places is needed.
std::vector<Value*> from_20(OnnxImport& call) {
  expect_float(call, 0);
  known_rank(call, 0);
  const std::optional<Dims>& size = call.given(1)->contents;
  const bool known = size && std::all_of(size->begin(), size->end(), [](const Dim& d) { return d.is_constant(); });
  const Shape extents = known ? extents_of(call) : Shape();
  const std::size_t dims = known ? extents.size() : spatial_dims(call);
  const bool corners = call.attributes.integer("align_corners", 0) != 0;
  const std::vector<Value*> columns = call.add("Split", {call.in(0), call.ints(Ints(dims + 1, 1))}, {{"axis", 2}},
                                               static_cast<int>(dims) + 1);
  Ints shape(dims + 2, 1);   // [batch, 1.., dims]
  shape.front() = 0, shape.back() = static_cast<std::int64_t>(dims);
  Value* y = reshaped(call, columns.back(), shape);
  for (std::size_t d = 0; d < dims; ++d) {
    Value* column = reshaped(call, columns[dims - 1 - d], shape);   // of x, the last dim, first
    Value* at = known ? coordinates(call, extents, d, corners) : coordinates_at_run(call, dims, d, corners);
    y = one(call, "Add", {y, one(call, "Mul", {column, at})});
  }
  return {y};
}

}  // namespace

OnnxOp onnx_ai_onnx_affine_grid() { return {.name = "AffineGrid", .forms = {{20, from_20}}}; }

}  // namespace tenfold::onnx_ops
