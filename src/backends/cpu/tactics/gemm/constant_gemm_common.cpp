#include "backends/cpu/tactics/gemm/constant_gemm_common.h"

#include "backends/cpu/gemm/f32/f32_epilogue.h"
#include "backends/cpu/gemm/heuristics.h"
#include "backends/cpu/gemm/matrix_rows.h"

namespace tenfold::backends::cpu {
namespace {

bool result_is_product(const Problem& p) {
  const ir::Dims &a = p.in[0].dims, &y = p.out[0].dims;
  return a.size() == y.size() && std::equal(a.begin(), a.end() - 1, y.begin()) && y.back() == p.in[1].dims[1];
}

}  // namespace

Verdict supports_constant_gemm(const Problem& p) {
  const OperandDesc &a = p.in[0], &b = p.in[1];
  if (a.dtype != DType::f32 || b.dtype != DType::f32) return Verdict::no("operands are not f32");
  return supports_rows_times_constant(p);
}

Verdict supports_rows_times_constant(const Problem& p) {
  const OperandDesc &a = p.in[0], &b = p.in[1], &y = p.out[0];
  if (!b.constant) return Verdict::no("the right operand is not a constant");
  if (b.dims.size() != 2 || a.dims.empty() || rank_of(a) > MatrixRows::kMaxAxes) return Verdict::no("the right operand is not one matrix");
  if (!unit_innermost(a) || !unit_innermost(y)) return Verdict::no("rows are not contiguous");
  if (!result_is_product(p)) return Verdict::no("the epilogue broadcasts the output");
  if (!uniform_rows(y, 0, rank_of(y) - 1)) return Verdict::no("rows of the result do not lie at one distance");
  return F32Epilogue::supports(p, rank_of(y) - 1);
}

std::int64_t likely_rows(const Problem& p) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < p.in[0].dims.size(); ++i) rows = std::min<std::int64_t>(rows * likely(p, p.in[0].dims[i], 128), 1 << 20);
  return rows;
}

std::int64_t fewest_rows(const Problem& p) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < p.in[0].dims.size(); ++i) rows = std::min<std::int64_t>(rows * p.bounds(p.in[0].dims[i]).lower, 1 << 20);
  return rows;
}

std::int64_t max_rows(const Problem& p) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < p.in[0].dims.size(); ++i) {
    const std::int64_t upper = p.bounds(p.in[0].dims[i]).upper;
    rows = upper == 0 ? 0 : std::min<std::int64_t>(rows * std::min<std::int64_t>(upper, 1 << 20), 1 << 20);
  }
  return rows;
}

double constant_gemm_work(const Problem& p) {
  return 2.0 * static_cast<double>(likely_rows(p)) * static_cast<double>(k_of(p)) * static_cast<double>(n_of(p));
}

}  // namespace tenfold::backends::cpu
