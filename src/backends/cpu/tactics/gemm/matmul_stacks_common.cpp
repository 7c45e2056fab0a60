// Reading stacks of products.
#include "backends/cpu/tactics/gemm/matmul_stacks_common.h"

#include "backends/cpu/gemm/heuristics.h"

namespace tenfold::backends::cpu {
namespace {

std::size_t axes_of(const OperandDesc& o) { return o.dims.size(); }
ir::Dim from_end(const OperandDesc& o, std::size_t i) { return o.dims[axes_of(o) - i]; }

}  // namespace

Verdict matmul_stacks_supported(const Problem& p) {
  const OperandDesc &a = p.in[0], &b = p.in[1], &y = p.out[0];
  if (axes_of(a) < 2 || axes_of(b) < 2 || axes_of(y) > MatrixRows::kMaxAxes)
    return Verdict::no("operands are not matrices or stacks of them");
  if (axes_of(y) != std::max(axes_of(a), axes_of(b)) || from_end(y, 1) != from_end(b, 1) || from_end(y, 2) != from_end(a, 2))
    return Verdict::no("the epilogue changes the result's extents");
  for (std::size_t i = 3; i <= axes_of(y); ++i) {
    const ir::Dim left = i <= axes_of(a) ? from_end(a, i) : ir::Dim(1), right = i <= axes_of(b) ? from_end(b, i) : ir::Dim(1);
    if (left != ir::Dim(1) && right != ir::Dim(1) && left != right) return Verdict::no("extents of the stacks are not known to be equal");
    if (from_end(y, i) != (left == ir::Dim(1) ? right : left)) return Verdict::no("the epilogue changes the result's extents");
  }
  if (!unit_innermost(a) || !unit_innermost(y)) return Verdict::no("rows are not contiguous");
  if (!b.dense && b.strides.back() != ir::Dim(1) && b.strides[axes_of(b) - 2] != ir::Dim(1))
    return Verdict::no("neither rows nor columns of the right operand are contiguous");
  return Verdict::only_if(uniform_rows(y, 0, static_cast<int>(axes_of(y)) - 1), "rows of the result do not lie at one distance");
}

ir::Dim matmul_stacked(const OperandDesc& o) { return ir::product(std::span(o.dims).first(axes_of(o) - 2)); }

std::int64_t matmul_matrix_of(const Bound& operand, const Bound& y, std::int64_t matrix, bool count) noexcept {
  std::int64_t at = 0, below = 1;
  for (int i = y.rank - 3, j = operand.rank - 3; i >= 0; --i, --j) {
    const std::int64_t index = matrix % y.dims[i];
    matrix /= y.dims[i];
    if (j < 0) continue;
    if (operand.dims[j] != 1) at += index * (count ? below : operand.strides[j]);   // an axis of extent 1 is broadcast
    below *= operand.dims[j];
  }
  return at;
}

double matmul_stacks_work(const Problem& p) {
  double flops = 2.0 * static_cast<double>(likely(p, from_end(p.in[0], 1), 128));
  for (ir::Dim d : p.out[0].dims) flops *= static_cast<double>(likely(p, d, 128));
  return flops;
}

}  // namespace tenfold::backends::cpu
