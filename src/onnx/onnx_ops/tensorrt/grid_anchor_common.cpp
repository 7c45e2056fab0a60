// Anchors of all cells of each feature map, in fractions of the image.
#include "onnx_ops/tensorrt/grid_anchor_common.h"

#include <cmath>

namespace tenfold::onnx_ops {
namespace {

struct Anchor {
  float width, height;
};

// The first map has three: small ones of the first ratio, then two of its scale. The others have all ratios, and a square between two
// scales.
std::vector<Anchor> anchors_of(std::size_t map, std::size_t maps, const Floats& ratios, float least, float largest) {
  const auto scale = [&](std::size_t i) {
    return least + (largest - least) * static_cast<float>(i) / static_cast<float>(maps - 1);
  };
  std::vector<Anchor> anchors;
  const auto add = [&](float size, float ratio) { anchors.push_back({size * std::sqrt(ratio), size / std::sqrt(ratio)}); };
  if (map == 0) {
    for (std::size_t i = 0; i < 3; ++i) add(i == 0 ? 0.1f : scale(0), ratios[i]);
    return anchors;
  }
  for (const float ratio : ratios) add(scale(map), ratio);
  add(std::sqrt(scale(map) * (map + 1 == maps ? 1.0f : scale(map + 1))), 1.0f);
  return anchors;
}

}  // namespace

std::vector<Value*> grid_anchors(OnnxImport& call, bool rectangles) {
  expect_fields(call, {"minSize", "maxSize", "aspectRatios", "featureMapShapes", "variance", "numLayers"});
  const Floats ratios = numbers_field(call, "aspectRatios"), variances = numbers_field(call, "variance");
  const Ints extents = integers_field(call, "featureMapShapes");
  const std::int64_t maps = integer_field(call, "numLayers", 6);
  const std::size_t each = rectangles ? 2 : 1;
  validate(ratios.size() >= 3 && variances.size() == 4, "there are ", ratios.size(), " aspectRatios and ", variances.size(),
           " variances, at least 3 and 4 expected");
  validate(maps >= 2 && extents.size() == static_cast<std::size_t>(maps) * each, "featureMapShapes has ", extents.size(),
           " extents for ", maps, " layers, ", each, " for each of at least 2 layers expected");
  for (const float ratio : ratios) validate(ratio > 0, "aspectRatios has ", ratio, ", positive numbers expected");
  for (const std::int64_t extent : extents) validate(extent > 0 && extent <= 1 << 12, "featureMapShapes has the extent ", extent);
  std::vector<Value*> results;
  for (std::size_t map = 0; map < static_cast<std::size_t>(maps); ++map) {
    const std::int64_t height = extents[map * each], width = extents[map * each + each - 1];
    const std::vector<Anchor> anchors =
        anchors_of(map, static_cast<std::size_t>(maps), ratios, number_field(call, "minSize", 0.2f), number_field(call, "maxSize", 0.95f));
    const std::int64_t count = height * width * static_cast<std::int64_t>(anchors.size());
    supported(count <= 1 << 24, "a feature map with ", count, " anchors, at most 2^24 are supported");
    results.push_back(filled(call, DType::f32, {2, 4 * count, 1}, [&](auto* to) {
      const float down = 1.0f / static_cast<float>(height), right = 1.0f / static_cast<float>(width);
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
          for (const Anchor& anchor : anchors) {
            const float cx = (static_cast<float>(x) + 0.5f) * right, cy = (static_cast<float>(y) + 0.5f) * down;
            *to++ = cx - 0.5f * anchor.width, *to++ = cy - 0.5f * anchor.height;
            *to++ = cx + 0.5f * anchor.width, *to++ = cy + 0.5f * anchor.height;
          }
      for (std::int64_t i = 0; i < 4 * count; ++i) *to++ = variances[static_cast<std::size_t>(i % 4)];
    }));
  }
  return results;
}

}  // namespace tenfold::onnx_ops
