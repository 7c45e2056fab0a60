// From means to what is handed on: activation, reduction, element type.
#pragma once

#include <cstddef>
#include <vector>

#include "windows/axis.h"

namespace tenfold::windows {

struct Finish {
  OutputActivation activation = OutputActivation::none;
  OutputReduction reduction = OutputReduction::none;
  float threshold = 0.5f;

  bool plain() const { return activation == OutputActivation::none && reduction == OutputReduction::none; }
  std::int64_t channels(std::int64_t channels) const { return reduction == OutputReduction::argmax ? 1 : channels; }
  DType dtype(std::int64_t channels) const;   // throws invalid_argument for argmax over more than 65,536
};

// Where finished planes go: [channel, plane, rows...] of the image, without its padding.
struct PlaneTarget {
  std::byte* data = nullptr;
  std::int64_t channel_stride = 0;   // in elements, between channels; planes and rows lie dense
  std::int64_t first_plane = 0;      // of the image, which lies at `data`
};

// `values`: [channel, count], which are changed. Writes row by row, `stride` elements between channels.
void finish_rows(const Finish& how, std::vector<float>& values, std::int64_t channels, std::int64_t count,
                 std::byte* to, std::int64_t stride);

}  // namespace tenfold::windows
