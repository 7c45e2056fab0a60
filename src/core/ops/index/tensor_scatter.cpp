// TensorScatter: writes new steps into a cache, for each batch entry from its own position on, around its end if circular.
#include "ir/fault.h"
#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const std::string& mode = call.attributes().string("mode");
  call.validate(mode == "linear" || mode == "circular", "unknown mode '", mode, "'");
  call.check_shape(call.rank(0) == call.rank(1) && call.rank(0) >= 2, "cache and update have ranks ", call.rank(0), " and ", call.rank(1));
  const int axis = call.axis(call.attributes().integer("axis"), call.rank(0));
  call.check_shape(axis != 0, "axis 0 is the batch");
  for (int d = 0; d < call.rank(0); ++d)
    if (d != axis)
      ops::same_extent(call, call.dims(0)[static_cast<std::size_t>(d)], call.dims(1)[static_cast<std::size_t>(d)],
                       "extents beside the axis");
  call.out(0, call.dtype(0), call.dims(0));
}

void reference(Call& call) {
  const TensorRef &update = call.in[1], &to = call.out[0];
  const auto axis = static_cast<std::size_t>(ops::wrap_axis(call.attributes().integer("axis"), static_cast<int>(to.shape.size())));
  const bool circular = call.attributes().string("mode") == "circular";
  Ints starts(static_cast<std::size_t>(to.shape[0]), 0);
  if (call.has(2)) starts = ops::read_ints(call.in[2]);
  call.check_shape(static_cast<std::int64_t>(starts.size()) == to.shape[0], starts.size(), " positions for a batch of ", to.shape[0]);
  ops::copy_whole(call);
  const Shape outer(update.shape.begin(), update.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  const std::int64_t block = ops::row_major_strides(to.shape)[axis], extent = to.shape[axis];
  ops::for_each_index(outer, [&](const Shape& index, std::int64_t row) {
    const std::int64_t start = starts[static_cast<std::size_t>(index[0])];
    call.check_shape(start >= 0 && start < extent && (circular || update.shape[axis] <= extent - start), "position ", start,
              " leaves no room for ", update.shape[axis], " of ", extent, " steps");
    const std::int64_t step = (start + index[axis]) % extent, line = row / update.shape[axis];
    ops::move_elements(to.dtype, update.data, row * block, to.data, (line * extent + step) * block, block);
  });
}

}  // namespace

OpDef op_tensor_scatter() {
  return {
      .name = "TensorScatter",
      .min_inputs = 2,
      .max_inputs = 3,
      .types = "T, T, int -> T; T: any",
      .attributes = {{"axis", -2}, {"mode", "linear"}},
      .infer = infer,
      .reference = reference,
      .traits = {.narrows = true},
      .onnx_since = 24,
      .cases = {"f32[2,4,3] f32[2,1,3] i64[2]{1,3}", "f32[2,2,4,3] f32[2,2,3,3] i64[2]{3,2} mode=\"circular\"", "f16[1,5,2] f16[1,2,2]"}};
}

}  // namespace tenfold::ir
