// Products and convolutions, of floats, integers of 8 bits and e4m3, as our tensor-core kernels see them: rows of a against rows of a
// packed constant, and an epilogue.
#pragma once

#include "backends/cuda/codegen/gemm.h"

namespace tenfold::backends::cuda {

// What the result means and how its operands are read; the body is empty if there is nothing after the sum.
struct Tail {
  ir::Body body;
  bool has_body = false;
  std::vector<int> inputs;  // operands of the problem
  std::vector<TailOperand> operands;
};
struct Product {
  GemmProblem gemm;  // but for its body and tail
  Tail tail;
  std::int64_t rows = 0;  // the most that are likely
};
Verdict read_matmul(const Problem& p, Product& product, bool also_f32 = false);
Verdict read_conv(const Problem& p, Product& product);  // one that only mixes channels becomes a plain product
Verdict read_depthwise(const Problem& p, Product& product);  // one filter for each channel
inline constexpr std::int64_t kMostDepthwiseTaps = 49;
Verdict read_conv_transpose(const Problem& p, Product& product);  // whose windows tile its result
// Of an integer product whose left operand has a zero point: the sums of the weights' rows, which then lie behind the packed weights.
bool has_zero_point(const Problem& p);
std::int64_t weight_sums_at(const Problem& p);  // bytes
std::int64_t packed_weight_bytes(const Problem& p);
void add_weight_sums(const Problem& p, std::int64_t rows, void* packed);  // nothing without a zero point
double product_work(const Product& product);

// Rows that a run has.
std::int64_t matmul_rows(const RunArgs& args);
std::int64_t conv_rows(const GemmProblem& p, const RunArgs& args);

}  // namespace tenfold::backends::cuda
