// What follows the sums of a product, as CUDA C: the operands of the epilogue are read, then its body is computed.
#pragma once

#include <functional>
#include <string>

#include "backends/cuda/codegen/gemm/gemm.h"

namespace tenfold::backends::cuda {

// Statements for WIDTH neighboring results sum[0 .. WIDTH) at row `m`, column `n`. `store` prints what happens to result v.
// Operand `staged` was brought to shared memory and is read by read_staged(x) instead; -1: none. Operand o by row is the expression
// `by_row`(o), by column `by_column`(o) for result v, if it prints any; by default they are read where they are needed.
using Printer = std::function<std::string(const std::string&)>;
std::string print_epilogue(const GemmProblem& p, int staged, const Printer& store, const Printer& by_row = {},
                           const Printer& by_column = {});

// The same in parts, for kernels that read operands long before sums are there: members of a structure `x`, statements that read them
// at row `m`, column `n`, and statements for the results.
struct EpilogueText {
  std::string fields, reads, results;
};
EpilogueText print_epilogue_apart(const GemmProblem& p, const Printer& store);

// The body without a last rounding to the result's type, which storing does as well. What is rounded to 8 bits is multiplied, not divided.
ir::Body without_last_rounding(ir::Body body, DType out);

}  // namespace tenfold::backends::cuda
