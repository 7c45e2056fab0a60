// CenterCropPad: crops or zero-pads axes to the extents in operand 1, alike on both sides; an odd element goes to the end.
#include <cstring>

#include "ops/dim_rules.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

Ints axes_of(const Attributes& attributes, std::size_t rank) {
  Ints axes(rank);
  for (std::size_t d = 0; d < rank; ++d) axes[d] = static_cast<std::int64_t>(d);
  return attributes.ints("axes", axes);
}

void infer(InferCall& call) {
  Dims dims = call.dims(0);
  const Ints axes = axes_of(call.attributes(), dims.size());
  const Dims* target = call.contents(1);
  call.check_shape(ops::need_length(call, 1, "shape") == static_cast<int>(axes.size()), "shape has not one entry for each of ", axes.size(),
            " axes");
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto d = static_cast<std::size_t>(call.axis(axes[k], call.rank(0)));
    if (target)
      call.check_shape(!(*target)[k].is_constant() || (*target)[k].constant() >= 0, "extent ", (*target)[k].text(), " is negative");
    dims[d] = target ? (*target)[k] : call.new_symbol(cat("extent", d), 0, kUnbounded);
  }
  call.out(0, call.dtype(0), std::move(dims));
}

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  const Shape strides = ops::row_major_strides(from.shape);
  const Ints axes = axes_of(call.attributes(), from.shape.size()), target = ops::read_ints(call.in[1]);
  Shape shape = from.shape;
  for (std::size_t k = 0; k < axes.size(); ++k)
    shape[static_cast<std::size_t>(ops::wrap_axis(axes[k], static_cast<int>(shape.size())))] = target.at(k);
  ops::set_output_shape(call, 0, shape);
  if (call.out[0].size() == 0) return;
  ops::IndexMap map;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t cropped = std::max<std::int64_t>(0, from.shape[d] - shape[d]) / 2;
    const std::int64_t padded = std::max<std::int64_t>(0, shape[d] - from.shape[d]) / 2;
    map.add_dim(shape[d], 0, ops::IndexMap::kNone);
    for (std::int64_t i = padded; i < std::min(shape[d], padded + from.shape[d]); ++i)
      map.offsets[d][static_cast<std::size_t>(i)] = (i - padded + cropped) * strides[d];
  }
  std::memset(call.out[0].data, 0, static_cast<std::size_t>(byte_size(from.dtype, call.out[0].size())));
  copy(map, from, call.out[0]);
}

}  // namespace

OpDef op_center_crop_pad() {
  return {.name = "CenterCropPad",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, int -> T; T: dense",
          .optional_attributes = "axes: ints",
          .infer = infer,
          .reference = reference,
          .onnx_since = 18,
          .cases = {"f32[5,4] i64[2]{2,3}", "f32[3,2] i64[2]{6,5}", "f16[4,9] i64[1]{4} axes=[-1]"}};
}

}  // namespace tenfold::ir
