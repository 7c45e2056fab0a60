// A product of f32 rows with packed columns on AMX, as in a 1x1 convolution, both as three terms of bf16 (split as in amx/split.h): rows
// are split first, columns were split when they were packed, and sums get their epilogue while the next ones are added up.
//
// Columns come in panels of 16: [panel][step of 32 of k][term][16 pairs (i, i + 16) of k][16 columns][2], zero where k or columns end.
// Where k is at most 16, terms lie side by side: [panel][first and second, first and third term][16 of k][16 columns][2].
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct PointSplit {
  const float* a = nullptr;
  std::int64_t a_stride = 0;  // floats from one row to the next
  std::int64_t rows = 0, k = 0;
  int height = 16;                        // rows of a tile, at most 16
  const std::uint16_t* panels = nullptr;  // of the first column
  std::int64_t columns = 0;
  float* c = nullptr;  // of the first row and column
  std::int64_t c_stride = 0;
  const float *bias = nullptr, *residual = nullptr;  // likewise; null: none
  std::int64_t residual_stride = 0;
  float low = 0, high = 0;  // bounds of a result
  char* scratch = nullptr;  // at a multiple of 64
};

struct PointSplitKernels {
  static constexpr std::int64_t kGroup = 4, kPanel = 16, kStep = 32, kStacked = 16;  // tiles of rows that a panel meets at once
  static constexpr std::int64_t kStepBytes = 3 * 1024;                // of a tile's or panel's terms
  void (*run)(const PointSplit&) = nullptr;
  // For few columns, or where k is at most 16, of which `run` knows nothing: tiles of rows go by all panels and are split meanwhile.
  void (*run_narrow)(const PointSplit&) = nullptr;

  static constexpr std::int64_t steps(std::int64_t k) { return (k + kStep - 1) / kStep; }
  static constexpr std::int64_t panel(std::int64_t k) { return (k <= kStacked ? 2 : steps(k) * 3) * kPanel * kStep; }  // values
  static constexpr std::int64_t groups(std::int64_t rows, std::int64_t height) { return (rows + kGroup * height - 1) / (kGroup * height); }
  static constexpr std::int64_t scratch_bytes(std::int64_t rows, std::int64_t height, std::int64_t k) {
    return 2 * 4096 + groups(rows, height) * steps(k) * 3 * kGroup * height * 64;
  }
  static constexpr std::int64_t narrow_scratch_bytes(std::int64_t k, std::int64_t columns) {
    return 2 * 4096 + narrow_slots(k, columns) * kStepBytes;
  }
  // Steps of split rows that are kept: those of two tiles if several groups of panels read them. Never fewer for more columns, for the
  // scratch for a piece of columns also serves the last one, which may have less.
  static constexpr std::int64_t narrow_slots(std::int64_t k, std::int64_t columns) {
    constexpr std::int64_t kMin = 4;
    return columns > kGroup * kPanel && 2 * steps(k) > kMin ? 2 * steps(k) : kMin;
  }
};
extern "C" const PointSplitKernels tenfold_point_split_amx;

}  // namespace tenfold::backends::cpu
