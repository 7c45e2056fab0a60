// Kernels of Resize: blends of positions over channels, and of rows along an axis.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct ResizeKernels {
  // out[c] = sum over taps of weights[t] * x[offsets[t] + c]
  void (*blend_position)(const float* x, const std::int64_t* offsets, const float* weights, int taps, std::int64_t channels, float* out);
  void (*blend_position_bf16)(const std::uint16_t* x, const std::int64_t* offsets, const float* weights, int taps, std::int64_t channels,
                              std::uint16_t* out);
  // out[i] = sum over rows of row_weights[r] * (rows[r][left[i]] * (1 - along[i]) + rows[r][right[i]] * along[i])
  void (*blend_row)(const float* const* rows, const float* row_weights, int count, const std::int32_t* left, const std::int32_t* right,
                    const float* along, std::int64_t n, float* out);
  // out[i] = row[index[i]]
  void (*pick_row)(const float* row, const std::int32_t* index, std::int64_t n, float* out);
};

extern "C" {
extern const ResizeKernels tenfold_resize_avx2, tenfold_resize_avx512;
}

}  // namespace tenfold::backends::cpu
