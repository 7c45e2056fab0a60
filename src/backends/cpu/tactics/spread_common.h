// What products and 1x1 convolutions of so few values share that vectors of results span rows (kernels/gemm/spread_f32.h).
#pragma once

#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/kernels/gemm/spread_f32.h"

namespace tenfold::backends::cpu {

// Of one row: inputs, results, and groups of both; floats to the inputs of the next row.
struct SpreadShape {
  std::int64_t inputs = 0, columns = 0, groups = 1, step = 0;
  std::int64_t depth() const { return inputs / groups; }
};

inline constexpr std::int64_t kMaxSpreadColumns = 1024;

// Do the inputs of any vector of results lie within one vector?
Verdict spread_fits(const SpreadShape& shape, const DeviceInfo& device);
// {instruction set, rows of a part}
std::vector<Config> spread_configs(const DeviceInfo& device, const SpreadShape& shape, std::int64_t rows);
Verdict spread_valid(const SpreadShape& shape, const DeviceInfo& device, const Config& config);

// weight(column, k); packed as the kernel reads it.
std::int64_t spread_bytes(const SpreadShape& shape, std::int64_t isa);
template <class Weight>
void pack_spread(const SpreadShape& shape, std::int64_t isa, float* packed, Weight&& weight);

struct SpreadKernel {
  const SpreadF32Kernels* kernels = nullptr;
  SpreadShape shape;
  std::int64_t rows = 0;   // of a part
  std::vector<std::int32_t> first;
  F32Epilogue epilogue;
  SpreadKernel(const SpreadShape& s, const Config& config, F32Epilogue e);
};

// One run's rows: the operands of the kernel, with what follows the sums.
class SpreadRun {
 public:
  // `axes`: of the result, whose columns are shape.columns; `x_end`: of all inputs.
  SpreadRun(const SpreadKernel& kernel, const RunArgs& args, const TileAxes& axes, const float* x_end) noexcept;
  // Rows [row, row + rows) of the result from the inputs at x.
  void rows(const float* x, std::int64_t row, std::int64_t rows, int worker) const noexcept;

 private:
  const SpreadKernel& kernel_;
  const RunArgs& args_;
  const float* x_end_;
  SpreadF32 s_;
  F32Epilogue::Binding bound_;
  float bias_[kMaxSpreadColumns + 16];
};

std::int64_t spread_lanes(std::int64_t isa);

template <class Weight>
void pack_spread(const SpreadShape& shape, std::int64_t isa, float* packed, Weight&& weight) {
  for (std::int64_t k = 0; k < shape.depth(); ++k)
    for (std::int64_t i = 0; i < shape.columns + spread_lanes(isa); ++i) *packed++ = weight(i % shape.columns, k);
}

}  // namespace tenfold::backends::cpu
