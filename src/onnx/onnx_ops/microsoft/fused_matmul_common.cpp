// A product of operands that may be transposed, times a number.
#include "onnx_ops/microsoft/fused_matmul_common.h"

#include <algorithm>
#include <numeric>

namespace tenfold::onnx_ops {
namespace {

// [rows, batch.., columns] comes with the batch turned; then rows and columns may change places.
Value* turned(OnnxImport& call, int i, const char* flag, const char* batch_flag) {
  const int rank = known_rank(call, i);
  Ints perm(static_cast<std::size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  const Ints plain = perm;
  if (rank > 2 && call.attributes.integer(batch_flag, 0) != 0) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (rank > 1 && call.attributes.integer(flag, 0) != 0) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return perm == plain ? call.in(i) : transposed(call, call.in(i), perm);
}

}  // namespace

std::vector<Value*> from_fused_matmul(OnnxImport& call) {
  Value* a = turned(call, 0, "transA", "transBatchA");
  Value* product = one(call, "MatMul", {a, turned(call, 1, "transB", "transBatchB")});
  const float alpha = call.attributes.number("alpha", 1.0f);
  return {alpha == 1 ? product : one(call, "Mul", {product, call.scalar(product->dtype(), alpha)})};
}

}  // namespace tenfold::onnx_ops
