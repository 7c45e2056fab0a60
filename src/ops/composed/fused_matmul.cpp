// FusedMatMul: a product of operands that may be transposed, times a number.
#include <algorithm>
#include <numeric>

#include "ops/composed/composed_common.h"

namespace tenfold::ir {
namespace {

// [rows, batch.., columns] comes with the batch turned; then rows and columns may change places.
Value* turned(OnnxImport& call, int i, const char* flag, const char* batch_flag) {
  const int rank = ops::known_rank(call, i);
  Ints perm(static_cast<std::size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  const Ints plain = perm;
  if (rank > 2 && call.attributes.integer(batch_flag, 0) != 0) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (rank > 1 && call.attributes.integer(flag, 0) != 0) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return perm == plain ? call.in(i) : ops::transposed(call, call.in(i), perm);
}

std::vector<Value*> from_onnx(OnnxImport& call) {
  Value* a = turned(call, 0, "transA", "transBatchA");
  Value* product = ops::one(call, "MatMul", {a, turned(call, 1, "transB", "transBatchB")});
  const float alpha = call.attributes.number("alpha", 1.0f);
  return {alpha == 1 ? product : ops::one(call, "Mul", {product, call.scalar(product->dtype(), alpha)})};
}

}  // namespace

OpDef op_fused_matmul() {
  return ops::composed({{"FusedMatMul", 1, from_onnx, ops::kMicrosoft}, {"TransposeMatMul", 1, from_onnx, ops::kMicrosoft}});
}

}  // namespace tenfold::ir
