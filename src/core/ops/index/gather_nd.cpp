// GatherND: the last dim of the indices names a place in the data, after `batch_dims` dims that both share.
#include "ir/fault.h"
#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims &data = call.dims(0), &indices = call.dims(1);
  call.check_shape(!data.empty() && !indices.empty(), "data and indices need at least one dim");
  const std::int64_t batch = call.attributes().integer("batch_dims");
  call.check_shape(batch >= 0 && batch < std::min(call.rank(0), call.rank(1)), "batch_dims is ", batch, ", below ",
            std::min(call.rank(0), call.rank(1)), " expected");
  call.supported(indices.back().is_constant(), "the last dim of the indices is ", indices.back().text());
  const std::int64_t depth = indices.back().constant();
  call.check_shape(depth >= 1 && depth <= call.rank(0) - batch, "indices name ", depth, " dims, 1 to ", call.rank(0) - batch, " expected");
  Dims dims(indices.begin(), indices.end() - 1);
  for (std::int64_t d = 0; d < batch; ++d)
    dims[static_cast<std::size_t>(d)] =
        ops::same_extent(call, data[static_cast<std::size_t>(d)], indices[static_cast<std::size_t>(d)], "batch dims");
  dims.insert(dims.end(), data.begin() + batch + depth, data.end());
  call.out(0, call.dtype(0), std::move(dims));
}

void reference(Call& call) {
  const TensorRef &from = call.in[0], &to = call.out[0];
  const Ints indices = ops::read_ints(call.in[1]);
  const Shape strides = ops::row_major_strides(from.shape);
  const auto batch = static_cast<std::size_t>(call.attributes().integer("batch_dims"));
  const auto depth = static_cast<std::size_t>(call.in[1].shape.back());
  const Shape rows(call.in[1].shape.begin(), call.in[1].shape.end() - 1);
  const std::int64_t block = strides[batch + depth - 1];
  ops::for_each_index(rows, [&](const Shape& index, std::int64_t row) {
    std::int64_t source = 0;
    for (std::size_t d = 0; d < batch; ++d) source += index[d] * strides[d];
    for (std::size_t k = 0; k < depth; ++k)
      source += ops::wrap_index(call, 1, indices[static_cast<std::size_t>(row) * depth + k], from.shape[batch + k]) * strides[batch + k];
    ops::move_elements(from.dtype, from.data, source, to.data, row * block, block);
  });
}

}  // namespace

OpDef op_gather_nd() {
  return {.name = "GatherND",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, i32|i64 -> T; T: any",
          .attributes = {{"batch_dims", 0}},
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::other},
          .onnx_since = 11,
          .cases = {"f32[2,2] i64[2,2]{0,0,1,-1}", "f32[2,3,4] i64[2,1]{1,0}", "f32[2,3,4] i64[2,1]{2,0} batch_dims=1",
                    "i8[2,2,2] i64[2,1,2]{0,1,1,0}"}};
}

}  // namespace tenfold::ir
