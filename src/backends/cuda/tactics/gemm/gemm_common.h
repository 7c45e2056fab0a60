// Products and convolutions, of floats, integers of 8 bits and e4m3, as our tensor-core kernels see them: rows of a against rows of a
// packed constant, and an epilogue.
#pragma once

#include "backends/cuda/codegen/gemm/gemm.h"

namespace tenfold::backends::cuda {

// What the result means and how its operands are read; the body is empty if there is nothing after the sum.
struct Epilogue {
  ir::Body body;
  bool has_body = false;
  std::vector<int> inputs;  // operands of the problem
  std::vector<EpilogueOperand> operands;
};
struct FusedGemm {
  GemmProblem gemm;  // but for its body and epilogue
  Epilogue epilogue;
  std::int64_t rows = 0;  // the most that are likely
};
// What a kernel makes of f32: it takes none, multiplies it as it is, or as tensor cores do: rounded to tf32, which has f16's ten bits of
// fraction, where the build allows it (BuildConfig::tf32). Weights stay f32 in plans; kernels round both operands to the nearest value.
enum class F32 { none, exact, tf32 };
Verdict read_matmul(const Problem& p, FusedGemm& fused, F32 f32 = F32::none);
// What every such reading consists of. Whether our kernels multiply these types, zero points included:
Verdict product_types(const Problem& p, F32 f32 = F32::none);
// what comes before the epilogue, a convolution's bias, or what an integer zero point, multiplied like any element, added to each sum;
void begin_epilogue(const Problem& p, FusedGemm& fused, std::int64_t together = 1);
// and the epilogue behind that. `by_column`: whether an operand has one value for each column of the result.
Verdict match_epilogue(const Problem& p, bool (*by_column)(const OperandDesc&, const OperandDesc& result), FusedGemm& fused);
// Of an integer product whose left operand has a zero point: the sums of the weights' rows, which then lie behind the packed weights.
bool has_zero_point(const Problem& p);
// `together`: groups that share a matrix, which is as many times as large.
std::int64_t weight_sums_at(const Problem& p, std::int64_t together = 1);  // bytes
std::int64_t packed_weight_bytes(const Problem& p, std::int64_t together = 1);
void add_weight_sums(const Problem& p, std::int64_t rows, void* packed, std::int64_t together = 1);  // nothing without a zero point
double gemm_work(const FusedGemm& fused);

std::int64_t matmul_rows(const RunArgs& args);  // that a run has

}  // namespace tenfold::backends::cuda
