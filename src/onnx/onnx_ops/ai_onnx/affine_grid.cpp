// AffineGrid: the places that GridSample reads for an affine map of an image: theta times (x, y, z, 1) of each element.
//
// Operands: theta [batch, dims, dims + 1], the image's shape [batch, channels, extents...].
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

Shape extents_of(OnnxImport& call) {
  supported(call.given(1)->contents.has_value(), "the size of an affine grid must be known");
  const Dims& size = *call.in(1)->contents;
  check_shape(size.size() == 4 || size.size() == 5, "the size has ", size.size(), " values, 4 or 5 expected");
  Shape extents;
  for (std::size_t d = 2; d < size.size(); ++d) {
    supported(size[d].is_constant(), "an affine grid must have constant extents, not ", size[d].text());
    extents.push_back(size[d].constant());
    check_shape(extents.back() > 0, "the grid has an extent of ", extents.back());
    supported(extents.back() < 1 << 20, "a grid with an extent of ", extents.back(), ", less than 2^20 are supported");
  }
  const Dims& theta = call.given(0)->dims();
  check_shape(known_rank(call, 0) == 3 && (!theta[0].is_constant() || !size[0].is_constant() || theta[0] == size[0]),
              "theta has the shape [", text(theta), "], expected [", size[0].text(), ",", extents.size(), ",", extents.size() + 1, "]");
  return extents;
}

// Columns of theta times the coordinates, and their sum: no matrix of all places is needed.
std::vector<Value*> from_20(OnnxImport& call) {
  expect_float(call, 0);
  known_rank(call, 0);
  const Shape extents = extents_of(call);
  const auto dims = static_cast<std::int64_t>(extents.size());
  const bool corners = call.attributes.integer("align_corners", 0) != 0;
  const std::vector<Value*> columns = call.add("Split", {call.in(0), call.ints(Ints(extents.size() + 1, 1))}, {{"axis", 2}},
                                               static_cast<int>(dims) + 1);
  Ints shape(extents.size() + 2, 1);   // [batch, 1.., dims]
  shape.front() = 0, shape.back() = dims;
  Value* y = reshaped(call, columns.back(), shape);
  for (std::size_t d = 0; d < extents.size(); ++d) {
    Value* column = reshaped(call, columns[extents.size() - 1 - d], shape);   // of x, the last dim, first
    y = one(call, "Add", {y, one(call, "Mul", {column, coordinates(call, extents, d, corners)})});
  }
  return {y};
}

}  // namespace

OnnxOp onnx_ai_onnx_affine_grid() { return {.name = "AffineGrid", .forms = {{20, from_20}}}; }

}  // namespace tenfold::onnx_ops
