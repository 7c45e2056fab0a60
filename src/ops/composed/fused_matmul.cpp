// FusedMatMul: a product of operands that may be transposed, times a number.
#include <numeric>

#include "ops/composed/composed_common.h"

namespace tenfold::ir {
namespace {

Value* turned(OnnxImport& call, int i, const char* flag) {
  const int rank = ops::known_rank(call, i);
  if (call.attributes.integer(flag, 0) == 0 || rank < 2) return call.in(i);
  Ints perm(static_cast<std::size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return ops::transposed(call, call.in(i), perm);
}

std::vector<Value*> from_onnx(OnnxImport& call) {
  for (const char* flag : {"transBatchA", "transBatchB"})
    require(call.attributes.integer(flag, 0) == 0, ErrorKind::unsupported, flag, " is not supported");
  Value* product = ops::one(call, "MatMul", {turned(call, 0, "transA"), turned(call, 1, "transB")});
  const float alpha = call.attributes.number("alpha", 1.0f);
  return {alpha == 1 ? product : ops::one(call, "Mul", {product, call.scalar(product->dtype(), alpha)})};
}

}  // namespace

OpDef op_fused_matmul() {
  return ops::composed({{"FusedMatMul", 1, from_onnx, ops::kMicrosoft}, {"TransposeMatMul", 1, from_onnx, ops::kMicrosoft}});
}

}  // namespace tenfold::ir
