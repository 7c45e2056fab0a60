// Weight maps of windows, and their forms for outputs of another resolution.
#pragma once

#include <span>
#include <vector>

#include "windows/axis.h"

namespace tenfold::windows {

// Those of a caller. Throws invalid_argument where they are not f32 over the roi, finite, none negative.
std::vector<float> given_weights(const Tensor& weights, const Shape& roi);

// f32, row major over the axes of the window.
std::vector<float> gaussian_weights(std::span<const std::int64_t> roi, std::span<const double> sigma_scale);

// Resized to other extents by the nearest voxel, centers of voxels on centers (torch's nearest-exact).
std::vector<float> resize_weights(std::span<const float> weights, std::span<const std::int64_t> from,
                                  std::span<const std::int64_t> to);

// Of each output of a window of `roi`, by the output's spatial extents; `map` may be empty. Those of another resolution
// come from those of the output before that was resized, as MONAI has it. An output of another rank gets `map`.
std::vector<std::vector<float>> weights_of_outputs(const std::vector<float>& map, const Shape& roi,
                                                   std::span<const Shape> outputs);

}  // namespace tenfold::windows
