// Trilu: keeps the upper or lower triangle of the last two dims, shifted by k, and zeroes the rest.
#include <cstring>

#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) >= 2, "the input has rank ", call.rank(0), ", at least 2 expected");
  call.out(0, call.dtype(0), call.dims(0));
}

void reference(Call& call) {
  const TensorRef &from = call.in[0], &to = call.out[0];
  call.check_shape(!call.has(1) || call.in[1].size() == 1, "k is no single number");
  const std::int64_t k = call.has(1) ? ops::read_ints(call.in[1]).at(0) : 0;
  const bool upper = call.attributes().integer("upper") != 0;
  std::memset(to.data, 0, static_cast<std::size_t>(byte_size(to.dtype, to.size())));
  ops::for_each_index(from.shape, [&](const Shape& index, std::int64_t i) {
    const std::int64_t distance = index.back() - index[index.size() - 2];
    if (upper ? distance >= k : distance <= k) ops::move_elements(from.dtype, from.data, i, to.data, i, 1);
  });
}

}  // namespace

OpDef op_trilu() {
  return {.name = "Trilu",
          .max_inputs = 2,
          .types = "T, int -> T; T: dense",
          .attributes = {{"upper", 1}},
          .infer = infer,
          .reference = reference,
          .onnx_since = 14,
          .cases = {"f32[4,5]", "f32[2,3,3] i64[]{1}", "i64[4,5] i64[]{-1} upper=0", "f16[3,4] i64[]{-10} upper=0", "bool[3,3] i64[]{10}"}};
}

}  // namespace tenfold::ir
