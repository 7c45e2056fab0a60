// Depthwise int8 convolution: each channel of a pixel is the sum over taps of one input times one weight.
//
// Taps are taken in pairs: two inputs are widened to 16 bits, interleaved, and multiplied with interleaved weights by vpmaddwd.
// Weights: [channel block][pair][2 * block] of int16 and starts: [channel block][block] of int32, in the order that interleaving
// leaves channels in (`order`).
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/int8/int8.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {

// Where the inputs of a tap lie for the first pixel, and how far behind for the next (0 where the window leaves the image).
struct Int8Tap {
  const char* data;
  std::int64_t step;
};

struct Int8DepthwiseKernels {
  int block;           // channels at a time
  int pixels;          // pixels that share a load of weights
  // acc[p][c] = start[c] + sum over taps, for `pixels` neighboring pixels or for one.
  void (*many)(const Int8Tap* taps, std::int64_t pairs, std::int64_t blocks, const std::int16_t* weights, const std::int32_t* start,
               std::int32_t* acc, std::int64_t acc_stride, bool is_signed);
  void (*one)(const Int8Tap* taps, std::int64_t pairs, std::int64_t blocks, const std::int16_t* weights, const std::int32_t* start,
              std::int32_t* acc, std::int64_t acc_stride, bool is_signed);
};

// The channel within a block that lies at position `i` of a vector pair: of each 8 channels the first 4 go to the first vector.
constexpr int int8_depthwise_channel(int i, int block) { return i % (block / 2) / 4 * 8 + i / (block / 2) * 4 + i % 4; }

// A line of windows of a 3x3 kernel, all channels of it. Weights: [block of 32 channels][column][vector][lane][line of the kernel, one
// more of zeros]; channel 16 a + 4 b + c of a block is lane 4 a + c of vector b.
struct Int8DepthwiseLine {
  const char* lines[3];         // of the input, at the first tap of the first window
  std::int64_t steps[3];        // to the next position; 0 where the line is border
  std::int64_t first, last;     // positions that exist
  const char* border;           // values of all channels
  std::int64_t channels;
  const std::int8_t* weights;
  const std::int32_t* start;    // per channel; readable to the end of the last block
  bool is_signed;
  const Int8EpilogueArgs* epilogue;  // null: accumulators are wanted; else bytes of scale, bias and the last clamp, of `small` values
};
inline constexpr int kInt8LineBlock = 32, kInt8LineBytes = 12;   // bytes of weights of a channel
// `out`: int32 or, with an epilogue, bytes; its stride in elements.
using Int8DepthwiseLineFunction = void (*)(const Int8DepthwiseLine&, std::int64_t count, std::int64_t stride, void* out,
                                           std::int64_t out_stride);

extern "C" {
extern const Int8DepthwiseLineFunction tenfold_int8_depthwise_line_vnni;
extern const Int8DepthwiseKernels tenfold_int8_depthwise_avx2, tenfold_int8_depthwise_avx512;
}

}  // namespace tenfold::backends::cpu
