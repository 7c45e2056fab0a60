// Kernels that turn each contiguous row into another: softmax, normalizations and quantization, a warp or a block for a row, the row in
// registers.
#pragma once

#include <string>
#include <vector>

#include "backends/cuda/kernels/norm/rows_args.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

enum class RowKind { softmax, log_softmax, layer_norm, rms_norm, quantize };   // quantize: `out` is u8 around 128, i8 or e4m3
// Instead of a row that is read: a sum, of rows of tables that indices name (index: their type) and of rows that lie in order.
struct RowTerm {
  bool indexed = false;
  DType index = DType::i64;
};
struct RowProblem {
  RowKind kind = RowKind::softmax;
  DType in = DType::f32, out = DType::f32, scale = DType::f32, bias = DType::f32;
  bool has_bias = false;
  std::int64_t length = 0;
  double epsilon = 0;
  std::vector<RowTerm> terms = {};   // of type `in`
  // With terms: a second result, the first one quantized to 8 bits.
  DType quantized = DType::count_;
  double quantized_scale = 1, quantized_zero = 0;
};
struct RowKernel {
  std::string source;  // exports `vectors` and `singles`, which take RowArguments or, with terms, RowTermArguments
  int threads = 32;    // of a row
  int rows = 1;        // of a block
  int width = 1;       // elements `vectors` reads at once
};
inline constexpr std::int64_t kLongestRow = 32768;

RowKernel generate_rows(const RowProblem& p);

}  // namespace tenfold::backends::cuda
