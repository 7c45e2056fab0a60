// From means to what is handed on: activation, reduction, element type.
#pragma once

#include <cstddef>
#include <string_view>
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

inline constexpr std::string_view kNotPositive =
    "weights: those of all windows that cover a voxel sum to zero, or one is not a number; expected a positive sum "
    "everywhere";

// Where finished planes go: [channel, plane, rows...] of the image, without its padding.
struct PlaneTarget {
  std::byte* data = nullptr;
  std::int64_t channel_stride = 0;   // in elements, between channels; planes and rows lie dense
  std::int64_t first_plane = 0;      // of the image, which lies at `data`
};

// The memory that a thread needs for rows, kept from one to the next.
struct RowValues {
  void reserve(std::int64_t channels, std::int64_t count) {
    means.resize(static_cast<std::size_t>(channels * count));
    largest.resize(static_cast<std::size_t>(count)), sums.resize(static_cast<std::size_t>(count));
  }
  std::vector<float> means;           // [channel, count]
  std::vector<float> largest, sums;   // over channels
};
// Of `values.means`, which are changed. Writes row by row, `stride` elements between channels.
void finish_rows(const Finish& how, RowValues& values, std::int64_t channels, std::int64_t count, std::byte* to,
                 std::int64_t stride);

}  // namespace tenfold::windows
