// The 1x1 convolution of one line of a bf16 image on AMX, its result a line of bf16 that stays in cache.
//
// Tiles are as large as the line and its channels allow, so that rows are multiplied where they lie and nothing beside them is read.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct ExpandBf16Line {
  const std::uint16_t* x = nullptr;
  std::int64_t positions = 0, step = 0, channels = 0;   // step: elements from a position to the next; an even number of channels
  const std::uint16_t* matrix = nullptr;   // panels of 32 columns, as of GemmBf16B
  std::int64_t panels = 0, depth = 0;      // values of a column
  const float* bias = nullptr;             // of the panels' columns
  bool clamp = false;                      // NaN stays NaN
  float low = 0, high = 0;
  std::uint16_t* out = nullptr;
  std::int64_t out_step = 0;               // whole panels are written
};

struct ExpandBf16Kernels {
  void (*enter)(std::int64_t positions, std::int64_t channels) = nullptr;   // sets up this thread's tiles for such lines ...
  void (*leave)() = nullptr;                                                // ... and gives them back
  void (*line)(const ExpandBf16Line&) = nullptr;
};
extern "C" const ExpandBf16Kernels tenfold_expand_bf16_amx;

}  // namespace tenfold::backends::cpu
