// Micro-kernels of one row times weights of bf16, packed as for AMX tiles (gemm_bf16.h), whose tiles one row would fill to a sixteenth.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct GemvBf16 {
  const float* x = nullptr;              // the row, zeros behind it up to whole steps
  std::int64_t steps = 0;                // of 32 values
  const std::uint16_t* panel = nullptr;  // the first one of 32 columns
  std::int64_t panel_step = 0;           // values from one to the next
  float* sums = nullptr;                 // of all their columns
};

struct GemvBf16Kernels {
  static constexpr int kPanels = 4;                        // at once, as registers allow
  void (*panels[kPanels])(const GemvBf16&) = {};           // [panels - 1]
  // A row of `count` values of bf16 or, if `wide`, f32, as f32; zeros up to `padded`, whole steps.
  void (*widen)(const char* row, bool wide, std::int64_t count, std::int64_t padded, float* to) = nullptr;
};
extern "C" const GemvBf16Kernels tenfold_gemv_bf16_amx;

}  // namespace tenfold::backends::cpu
