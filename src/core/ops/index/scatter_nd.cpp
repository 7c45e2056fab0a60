// ScatterND: a copy of the data in which the slices that the last dim of the indices names have been updated.
#include "ir/fault.h"
#include "ops/dim_rules.h"
#include "ops/index/index_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims &data = call.dims(0), &indices = call.dims(1);
  ops::expect_reduction(call);
  call.check_shape(!data.empty() && !indices.empty(), "data and indices need at least one dim");
  call.supported(indices.back().is_constant(), "the last dim of the indices is ", indices.back().text());
  const std::int64_t depth = indices.back().constant();
  call.check_shape(depth >= 1 && depth <= call.rank(0), "indices name ", depth, " dims, 1 to ", call.rank(0), " expected");
  const std::int64_t rank = call.rank(1) - 1 + call.rank(0) - depth;
  call.check_shape(call.rank(2) == rank, "updates have rank ", call.rank(2), ", ", rank, " expected");
  call.out(0, call.dtype(0), data);
}

void reference(Call& call) {
  const TensorRef &to = call.out[0], &updates = call.in[2];
  ops::copy_whole(call);
  const ops::Reduction reduction = ops::reduction_of(call.attributes());
  const Ints indices = ops::read_ints(call.in[1]);
  const Shape strides = ops::row_major_strides(to.shape), rows(call.in[1].shape.begin(), call.in[1].shape.end() - 1);
  const auto depth = static_cast<std::size_t>(call.in[1].shape.back());
  Shape expected = rows;
  expected.insert(expected.end(), to.shape.begin() + static_cast<std::ptrdiff_t>(depth), to.shape.end());
  call.check_shape(updates.shape == expected, "updates have shape ", text(updates.shape), ", ", text(expected), " expected");
  const std::int64_t count = element_count(rows), block = strides[depth - 1];
  for (std::int64_t row = 0; row < count; ++row) {
    std::int64_t target = 0;
    for (std::size_t k = 0; k < depth; ++k)
      target += ops::wrap_index(call, 1, indices[static_cast<std::size_t>(row) * depth + k], to.shape[k]) * strides[k];
    for (std::int64_t i = 0; i < block; ++i) ops::combine(reduction, to.dtype, to.data, target + i, updates.data, row * block + i);
  }
}

}  // namespace

OpDef op_scatter_nd() {
  return {.name = "ScatterND",
          .min_inputs = 3,
          .max_inputs = 3,
          .types = "T, i32|i64, T -> T; T: any",
          .attributes = {{"reduction", "none"}},
          .infer = infer,
          .reference = reference,
          .onnx_since = 11,
          .cases = {"f32[8] i64[4,1]{4,3,1,7} f32[4]", "f32[4,4,2] i64[2,1]{0,-2} f32[2,4,2]",
                    "f32[4] i64[3,1]{1,1,2} f32[3] reduction=\"add\"", "i8[2,3] i64[2,2]{0,1,1,2} i8[2] reduction=\"max\"",
                    "f16[4] i64[2,1]{3,3} f16[2] reduction=\"mul\""}};
}

}  // namespace tenfold::ir
