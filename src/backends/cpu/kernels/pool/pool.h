// Kernels of poolings and reductions: joining taps over channels, rows over columns, and the elements of a row. bf16 elements are u16 here,
// and joined as f32.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

// out[c] = the join over taps of x[offsets[t] + c], times scale for sums.
template <class T>
using PoolPosition = void (*)(const T* x, const std::int64_t* offsets, std::int64_t taps, std::int64_t channels, T* out, float scale);
// out[i] = join(out[i], x[i * stride])
template <class T>
using PoolRow = void (*)(T* out, const T* x, std::int64_t stride, std::int64_t count);

// out[i] = the join over rows of x[rows[r] + i]. There is a row.
using PoolRows = void (*)(float* out, const float* x, const std::int64_t* rows, std::int64_t row_count, std::int64_t count);
// out[i] = the join over t < taps of x[i * stride + t * dilation], sums times scales[i]; stride is 1 or 2.
using PoolWindows = void (*)(float* out, const float* x, std::int64_t taps, std::int64_t dilation, std::int64_t stride, std::int64_t count,
                             const float* scales);

struct PoolKernels {
  PoolPosition<float> max_position_f32, sum_position_f32;
  PoolPosition<std::uint16_t> max_position_bf16, sum_position_bf16;
  PoolPosition<std::uint8_t> max_position_u8;
  PoolPosition<std::int8_t> max_position_i8;
  PoolRow<float> max_row_f32, sum_row_f32;
  PoolRow<std::uint16_t> max_row_bf16;
  PoolRow<std::uint8_t> max_row_u8;
  PoolRow<std::int8_t> max_row_i8;
  PoolRows max_rows_f32, sum_rows_f32;
  PoolWindows max_windows_f32, sum_windows_f32;
};

enum class Reduce : std::uint8_t { sum, max, min, squares, absolutes, count_ };
template <class T>
struct ReduceKernelsOf {
  // acc[c] = join(acc[c], x[r * row_stride + c]) over rows; what acc holds is ignored if `first`.
  void (*columns[static_cast<int>(Reduce::count_)])(float* acc, const T* x, std::int64_t row_stride, std::int64_t rows, std::int64_t cols,
                                                    bool first);
  float (*row[static_cast<int>(Reduce::count_)])(const T* x, std::int64_t count);
};
struct ReduceKernels {
  ReduceKernelsOf<float> f32;
  ReduceKernelsOf<std::uint16_t> bf16;
};

extern "C" {
extern const PoolKernels tenfold_pool_avx2, tenfold_pool_avx512;
extern const ReduceKernels tenfold_reduce_avx2, tenfold_reduce_avx512;
}

}  // namespace tenfold::backends::cpu
