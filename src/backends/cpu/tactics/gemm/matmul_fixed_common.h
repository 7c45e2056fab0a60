// What products with constant weights in fixed point share.
#pragma once

#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/matrix_rows.h"
#include "backends/cpu/gemm/weights/weights_fixed.h"
#include "backends/cpu/tactics/gemm/constant_gemm_common.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

// A product in progress.
struct FixedRowsGemm {
  FixedRowsGemm(const FixedWeights& weights, const F32Epilogue& epilogue, const RunArgs& args) noexcept;

  std::int64_t rows() const { return rows_; }
  const float* row(std::int64_t i) const { return a_ + a_rows_.offset(i); }
  bool ordinary() const { return ordinary_; }
  // Rows [row, row + count) of columns [first, last), in floating point: they hold what fixed point cannot, or the weights do.
  void whole(std::int64_t row, std::int64_t count, std::int64_t first, std::int64_t last, void* scratch) const noexcept;
  // Where the kernel stores a tile of these rows and columns; `epilogue` is handed to it if that is simple ...
  GemmF32Tile tile(std::int64_t row, std::int64_t column, std::int64_t columns, GemmF32EpilogueArgs& epilogue) const noexcept;
  // ... and what follows if it is not.
  void apply_epilogue(std::int64_t row, std::int64_t count, std::int64_t first, std::int64_t last, void* scratch) const noexcept;

  const FixedWeights& weights;
  const void* packed;

 private:
  void store(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, const double* sums) const noexcept;
  const F32Epilogue& epilogue_;
  const float* a_;
  MatrixRows a_rows_;
  std::int64_t rows_ = 1, c_stride_ = 0;
  float* c_;
  bool ordinary_;
  F32Epilogue::Binding bound_;
};

std::int64_t fixed_packed_bytes(const FixedWeights& weights, int input);
Tensor fixed_unpack(const FixedWeights& weights, const Problem& problem, const void* packed);

}  // namespace tenfold::backends::cpu
