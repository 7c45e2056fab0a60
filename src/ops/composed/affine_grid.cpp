// AffineGrid: the places that GridSample reads for an affine map of an image: theta times (x, y, z, 1) of each element.
//
// Operands: theta [batch, dims, dims + 1], the image's shape [batch, channels, extents...].
#include "ops/composed/composed_common.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

using ops::one;

std::vector<Value*> from_onnx(OnnxImport& call) {
  require(call.need(1)->contents.has_value(), ErrorKind::unsupported, "the size of an affine grid must be known");
  const Dims& size = *call.in(1)->contents;
  const auto dims = static_cast<int>(size.size()) - 2;
  require(dims == 2 || dims == 3, ErrorKind::invalid_model, "the size has ", size.size(), " values, 4 or 5 expected");
  const bool corners = call.attributes.integer("align_corners", 0) != 0;
  Shape extents;
  for (std::size_t d = 2; d < size.size(); ++d) {
    require(size[d].is_constant(), ErrorKind::unsupported, "an affine grid must have constant extents, not ", size[d].text());
    extents.push_back(size[d].constant());
  }
  for (std::int64_t e : extents) require(e > 0 && e < 1 << 20, ErrorKind::invalid_model, "the grid has an extent of ", e);
  const std::int64_t places = element_count(extents);
  require(places <= 1 << 28, ErrorKind::unsupported, "a grid of ", places, " places is too large");
  std::vector<double> grid;   // [places, dims + 1], the last dim of the image first
  ops::for_each_index(extents, [&](const Shape& index, std::int64_t) {
    for (std::size_t d = extents.size(); d-- > 0;) {
      const auto at = static_cast<double>(index[d]), extent = static_cast<double>(extents[d]);
      grid.push_back(corners ? (extents[d] > 1 ? 2 * at / (extent - 1) - 1 : 0) : (2 * at + 1) / extent - 1);
    }
    grid.push_back(1);
  });
  Value* y = one(call, "MatMul",
                 {ops::floats(call, call.need(0)->dtype(), {places, dims + 1}, grid), ops::transposed(call, call.in(0), {0, 2, 1})});
  Ints shape{0};
  shape.insert(shape.end(), extents.begin(), extents.end());
  shape.push_back(dims);
  return {ops::reshaped(call, y, shape)};
}

}  // namespace

OpDef op_affine_grid() { return ops::composed({{"AffineGrid", 20, from_onnx}}); }

}  // namespace tenfold::ir
