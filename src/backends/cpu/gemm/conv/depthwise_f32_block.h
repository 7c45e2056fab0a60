// DepthwiseF32Block: some positions of a depthwise convolution's result, for some of its channels, by the kernel that suits its windows.
#pragma once

#include <vector>

#include "backends/cpu/gemm/conv/window_rows.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/kernels/conv/depthwise_f32.h"

namespace tenfold::backends::cpu {

// What a tactic opens.
struct DepthwiseF32 {
  const DepthwiseF32Kernels* kernels = nullptr;
  ConvShape shape;
  GemmF32Weights weights;
  const DepthwiseF32Line* line = nullptr;   // [results - 1]; null: no such kernel
  F32Epilogue epilogue;
  std::vector<float> zeros;                 // a position of padding
};

const DepthwiseF32Line* depthwise_f32_line(const DepthwiseF32Kernels& kernels, const ConvShape& shape);

class DepthwiseF32Block {
 public:
  // Channels [first, last). All are referred to.
  DepthwiseF32Block(const DepthwiseF32& kernel, const RunArgs& args, const ConvExtents& extents, const WindowRows& windows,
                    const F32Epilogue::Binding& bound, std::int64_t first, std::int64_t last) noexcept;
  // Positions [first, last) of the result.
  void run(std::int64_t first, std::int64_t last, void* scratch) noexcept;

 private:
  float* result(std::int64_t row) const noexcept { return args_.out[0].as<float>() + row * tile_.c_stride + first_; }
  // The tile that begins at position `row`; `epilogue` is filled and must stay.
  void begin_tile(std::int64_t row, GemmF32EpilogueArgs& epilogue) noexcept;
  // Positions [row, row + count); the last two of one line of the result.
  void by_windows(std::int64_t row, std::int64_t count) noexcept;
  void in_strips(std::int64_t row, std::int64_t count) noexcept;
  void in_line(std::int64_t row, std::int64_t count) noexcept;
  void windows_tiles(std::int64_t row, const RowTiles& tiles, const float* const* table, std::int64_t first, std::int64_t last) noexcept;
  void one_strip(DepthwiseF32Strip& strip, std::int64_t row, std::int64_t i, std::int64_t height, std::int64_t tap,
                 std::int64_t taps) noexcept;
  std::int64_t existing_lines(std::int64_t row, const float** lines, std::int64_t* numbers) const noexcept;
  bool lines_follow(std::int64_t row) const noexcept;
  std::int64_t find_lines(std::int64_t row, const float** lines, std::int64_t* steps) const noexcept;

  const DepthwiseF32& kernel_;
  const RunArgs& args_;
  const ConvExtents& extents_;
  const WindowRows& windows_;
  const F32Epilogue::Binding& bound_;
  std::int64_t first_, last_;
  bool by_line_, by_strip_;
  const float* panel_;   // of the first tap
  GemmF32Tile tile_;
};

}  // namespace tenfold::backends::cpu
