// Kernels on rows: layer and RMS normalization, softmax.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct SoftmaxForm { bool log = false, exact = false; };   // exact: exponentials to the last place or two

struct NormKernels {
  // y = (x - mean) / sqrt(variance + epsilon) * scale + bias over n elements; bias may be null. x and y may be the same.
  void (*layer_norm)(const float* x, float* y, const float* scale, const float* bias, std::int64_t n, float epsilon);
  // y = x / sqrt(mean of squares + epsilon) * scale
  void (*rms_norm)(const float* x, float* y, const float* scale, std::int64_t n, float epsilon);
  // Softmax of n contiguous elements, or log-softmax.
  void (*softmax)(const float* x, float* y, std::int64_t n, SoftmaxForm form);
  // Softmax along an axis of n elements `stride` apart, for `columns` neighboring columns at once.
  void (*softmax_columns)(const float* x, float* y, std::int64_t n, std::int64_t stride, std::int64_t columns, SoftmaxForm form);
  // Mean and 1 / sqrt(variance + epsilon) of n elements; y = x * scale + shift.
  void (*moments)(const float* x, std::int64_t n, float epsilon, float* mean, float* inverse);
  void (*affine)(const float* x, float* y, std::int64_t n, float scale, float shift);
  // Of each column of rows that follow each other: the sum of x - shift, and of its square.
  void (*column_moments)(const float* x, std::int64_t rows, std::int64_t columns, const float* shift, float* sum, float* squares);
};

// The same from bf16 to bf16 where the CPU rounds to bf16 by itself. bias may be null; x and y may be the same.
struct NormBf16Kernels {
  void (*layer_norm)(const std::uint16_t* x, std::uint16_t* y, const float* scale, const float* bias, std::int64_t n, float epsilon);
};

extern "C" {
extern const NormBf16Kernels tenfold_norm_bf16_avx512bf16;
extern const NormKernels tenfold_norm_avx2, tenfold_norm_avx512;
}

}  // namespace tenfold::backends::cpu
