// ReverseRows: the input with its rows (first dim) in reverse order. Recipe 1 of CONTRIBUTING.md, tried by recipes_test.
#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) >= 1, "a scalar has no rows");
  call.out(0, call.dtype(0), call.dims(0));
}

void reference(Call& call) {
  const TensorRef &from = call.in[0], &to = call.out[0];
  const std::int64_t rows = from.shape[0], row = rows ? from.size() / rows : 0;
  for (std::int64_t i = 0; i < rows; ++i) ops::move_elements(from.dtype, from.data, (rows - 1 - i) * row, to.data, i * row, row);
}

}  // namespace

OpDef op_reverse_rows() {
  return {.name = "ReverseRows", .infer = infer, .reference = reference,
          .onnx_since = 1, .cases = {"f32[4,5]", "i64[3]", "f32[0,4]", "f16[1,2,3]"}};
}

}  // namespace tenfold::ir
