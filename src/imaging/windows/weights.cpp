// Weight maps as MONAI 1.6 computes them: sigma in double, the exponential and the product over axes in f32.
#include "windows/weights.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tenfold::windows {
namespace {

std::vector<float> gaussian_line(std::int64_t extent, double sigma) {
  std::vector<float> line(static_cast<std::size_t>(extent));
  const auto divisor = static_cast<float>(-2 * sigma * sigma);
  for (std::int64_t i = 0; i < extent; ++i) {
    const auto x = static_cast<float>(static_cast<double>(i) - static_cast<double>(extent - 1) / 2);
    line[static_cast<std::size_t>(i)] = std::exp(x * x / divisor);
  }
  return line;
}

}  // namespace

std::vector<float> given_weights(const Tensor& weights, const Shape& roi) {
  require(weights.dtype() == DType::f32 && weights.shape() == roi, ErrorKind::invalid_argument, "weights are ",
          name(weights.dtype()), "[", text(weights.shape()), "], expected f32[", text(roi),
          "], a value for each voxel of the window");
  std::vector<float> map(weights.data<float>(), weights.data<float>() + weights.size());
  for (const float w : map)
    require(w >= 0 && std::isfinite(w), ErrorKind::invalid_argument, "weights have the value ", w,
            ": expected finite ones, none negative");
  return map;
}

std::vector<float> gaussian_weights(std::span<const std::int64_t> roi, std::span<const double> sigma_scale) {
  std::vector<float> map = {1};
  for (std::size_t a = 0; a < roi.size(); ++a) {
    const std::vector<float> line = gaussian_line(roi[a], static_cast<double>(roi[a]) * sigma_scale[a]);
    std::vector<float> product;
    product.reserve(map.size() * line.size());
    for (const float outer : map)
      for (const float inner : line) product.push_back(outer * inner);
    map = std::move(product);
  }
  const float least = std::max(*std::min_element(map.begin(), map.end()), 1e-3f);
  for (float& value : map) value = std::max(value, least);
  return map;
}

std::vector<float> resize_weights(std::span<const float> weights, std::span<const std::int64_t> from,
                                  std::span<const std::int64_t> to) {
  std::vector<std::int64_t> offsets = {0};   // of the voxels taken, over the axes so far
  for (std::size_t a = 0; a < to.size(); ++a) {
    const float scale = static_cast<float>(from[a]) / static_cast<float>(to[a]);
    std::vector<std::int64_t> next;
    next.reserve(offsets.size() * static_cast<std::size_t>(to[a]));
    for (const std::int64_t offset : offsets)
      for (std::int64_t i = 0; i < to[a]; ++i)
        next.push_back(offset * from[a] +
                       std::min(static_cast<std::int64_t>((static_cast<float>(i) + 0.5f) * scale), from[a] - 1));
    offsets = std::move(next);
  }
  std::vector<float> resized;
  resized.reserve(offsets.size());
  for (const std::int64_t offset : offsets) resized.push_back(weights[static_cast<std::size_t>(offset)]);
  return resized;
}

std::vector<std::vector<float>> weights_of_outputs(const std::vector<float>& map, const Shape& roi,
                                                   std::span<const Shape> outputs) {
  std::vector<std::vector<float>> all;
  std::vector<float> resized = map;
  Shape resized_roi = roi;
  for (const Shape& one : outputs) {
    const bool same = map.empty() || one == roi || one.size() != roi.size();
    if (!same) resized = resize_weights(resized, resized_roi, one), resized_roi = one;
    all.push_back(same ? map : resized);
  }
  return all;
}

}  // namespace tenfold::windows
