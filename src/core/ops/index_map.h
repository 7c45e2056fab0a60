// IndexMap: where each element of a result comes from, dimension by dimension. The whole meaning of slices, transposes, pads,
// tiles and gathers along an axis, for tensors and for contents known as Dims alike.
#pragma once

#include "ops/elements.h"

namespace tenfold::ops {

struct IndexMap {
  static constexpr std::int64_t kNone = -1;
  // offsets[d][i] is what index i of result dim d adds to the number of the source element; kNone: no source element.
  std::vector<std::vector<std::int64_t>> offsets;

  Shape shape() const;
  // Adds a result dim of `extent` that walks the source by `stride` elements, from element `first` on.
  void add_dim(std::int64_t extent, std::int64_t stride, std::int64_t first = 0);
};

// Copies what the map names; result elements without a source are left as they are.
void copy(const IndexMap& map, const ir::TensorRef& from, const ir::TensorRef& to);
ir::Dims pick(const IndexMap& map, const ir::Dims& contents, ir::Dim fill = 0);

}  // namespace tenfold::ops
