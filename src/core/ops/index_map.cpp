// Walking an IndexMap: by runs of neighboring elements for tensors, one by one for contents.
#include "ops/index_map.h"

namespace tenfold::ops {
namespace {

struct Run { std::int64_t first, source, count; };   // result indices of the last dim whose sources follow each other

std::vector<Run> runs_of(const std::vector<std::int64_t>& offsets) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] == IndexMap::kNone) continue;
    const auto index = static_cast<std::int64_t>(i);
    if (!runs.empty() && runs.back().first + runs.back().count == index && runs.back().source + runs.back().count == offsets[i]) {
      ++runs.back().count;
    } else {
      runs.push_back({index, offsets[i], 1});
    }
  }
  return runs;
}

// f(source, result, count) for every run of elements.
template <class F>
void for_each_run(const IndexMap& map, F&& f) {
  static const std::vector<std::int64_t> scalar{0};
  const bool is_scalar = map.offsets.empty();
  const std::vector<std::int64_t>& last = is_scalar ? scalar : map.offsets.back();
  const std::vector<Run> runs = runs_of(last);
  Shape outer = map.shape();
  if (!is_scalar) outer.pop_back();
  for_each_index(outer, [&](const Shape& index, std::int64_t number) {
    std::int64_t base = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      const std::int64_t offset = map.offsets[d][static_cast<std::size_t>(index[d])];
      if (offset == IndexMap::kNone) return;
      base += offset;
    }
    for (const Run& run : runs) f(base + run.source, number * static_cast<std::int64_t>(last.size()) + run.first, run.count);
  });
}

}  // namespace

Shape IndexMap::shape() const {
  Shape shape;
  for (const auto& dim : offsets) shape.push_back(static_cast<std::int64_t>(dim.size()));
  return shape;
}

void IndexMap::add_dim(std::int64_t extent, std::int64_t stride, std::int64_t first) {
  std::vector<std::int64_t> dim(static_cast<std::size_t>(extent));
  for (std::int64_t i = 0; i < extent; ++i) dim[static_cast<std::size_t>(i)] = first + i * stride;
  offsets.push_back(std::move(dim));
}

void copy(const IndexMap& map, const ir::TensorRef& from, const ir::TensorRef& to) {
  check(element_count(map.shape()) == to.size(), "an index map of shape ", text(map.shape()), " for a result of ", text(to.shape));
  for_each_run(map, [&](std::int64_t source, std::int64_t result, std::int64_t count) {
    move_elements(from.dtype, from.data, source, to.data, result, count);
  });
}

ir::Dims pick(const IndexMap& map, const ir::Dims& contents, ir::Dim fill) {
  ir::Dims result(static_cast<std::size_t>(element_count(map.shape())), fill);
  for_each_run(map, [&](std::int64_t source, std::int64_t first, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k)
      result[static_cast<std::size_t>(first + k)] = contents[static_cast<std::size_t>(source + k)];
  });
  return result;
}

}  // namespace tenfold::ops
