// What IQuantizeLayer and IDequantizeLayer have alike: one scale, one for each slice along an axis, or one for each block of elements,
// which the option block_shape or a scale of the data's rank tells.
#include "layers/layer.h"

namespace tenfold::layers {

NetworkAttributes scaled_along(const LayerCall& call) {
  const std::int64_t axis = call.number("axis");
  const Shape& shape = call.list("block_shape");
  const int rank = call.rank(0);
  if (shape.empty() && (call.rank(1) < 2 || call.rank(1) != rank)) return {{"axis", axis < 0 ? std::int64_t{1} : axis}};
  const Shape extents = call.known_shape(0, "quantization in blocks"), scales = call.known_shape(1, "quantization in blocks");
  if (!shape.empty() && shape.size() != extents.size())
    call.refuse("block_shape has " + std::to_string(shape.size()) + " extents, the data " + std::to_string(extents.size()));
  if (scales.size() != extents.size()) call.refuse("a scale for each block was expected, of rank " + std::to_string(rank));
  std::int64_t along = -1, size = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::int64_t block = !shape.empty() ? shape[d] : scales[d] > 0 ? extents[d] / scales[d] : 1;
    if (block == -1) block = extents[d];
    if (block < 1 || extents[d] % block != 0 || scales[d] != extents[d] / block)
      call.refuse("blocks of " + std::to_string(block) + " along dim " + std::to_string(d) + " do not fit an extent of " +
                  std::to_string(extents[d]) + " with " + std::to_string(scales[d]) + " scales");
    if (block == 1) continue;
    if (along >= 0) call.refuse(ErrorKind::unsupported, "blocks lie along one dim here, these along several");
    along = static_cast<std::int64_t>(d), size = block;
  }
  return {{"axis", along < 0 ? std::int64_t{rank - 1} : along}, {"block_size", size}};
}

}  // namespace tenfold::layers
