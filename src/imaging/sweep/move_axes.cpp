#include "sweep/move_axes.h"

#include <cstring>

namespace tenfold::imaging {
namespace {

template <std::size_t kBytes>
void copy_row(const std::byte* from, std::int64_t from_step, std::byte* to, std::int64_t to_step, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, kBytes);
}

void copy_row(const std::byte* from, std::int64_t from_step, std::byte* to, std::int64_t to_step, std::int64_t count,
              std::int64_t size) {
  if (from_step == size && to_step == size) {
    std::memcpy(to, from, static_cast<std::size_t>(count * size));
    return;
  }
  switch (size) {
    case 1: return copy_row<1>(from, from_step, to, to_step, count);
    case 2: return copy_row<2>(from, from_step, to, to_step, count);
    case 4: return copy_row<4>(from, from_step, to, to_step, count);
    default: return copy_row<8>(from, from_step, to, to_step, count);
  }
}

}  // namespace

AxisOrder axis_first(std::size_t axis, std::size_t rank) {
  AxisOrder order = {axis};
  for (std::size_t a = 0; a < rank; ++a)
    if (a != axis) order.push_back(a);
  return order;
}

AxisOrder inverse(const AxisOrder& order) {
  AxisOrder back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  return back;
}

Shape in_order(std::span<const std::int64_t> shape, const AxisOrder& order) {
  Shape moved;
  for (const std::size_t axis : order) moved.push_back(shape[axis]);
  return moved;
}

Shape dense_strides(std::span<const std::int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t a = shape.size(); a-- > 1;) strides[a - 1] = strides[a] * shape[a];
  return strides;
}

void copy_strided(const Strided& from, const Strided& to, std::span<const std::int64_t> shape, std::int64_t size) {
  const std::size_t line = shape.size() - 1;
  const std::int64_t rows = element_count(shape.first(line));
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t at_from = 0, at_to = 0, rest = row;
    for (std::size_t a = line; a-- > 0; rest /= shape[a])
      at_from += rest % shape[a] * from.strides[a], at_to += rest % shape[a] * to.strides[a];
    copy_row(from.data + at_from * size, from.strides[line] * size, to.data + at_to * size, to.strides[line] * size,
             shape[line], size);
  }
}

void move_axes(const std::byte* from, std::byte* to, std::int64_t count, const Shape& shape, const AxisOrder& order,
               std::int64_t size, Parallel& parallel) {
  const Shape moved = in_order(shape, order), strides = in_order(dense_strides(shape), order),
              dense = dense_strides(moved);
  const std::int64_t bytes = element_count(shape) * size;
  parallel.for_each(count, [&](std::int64_t i, int) {
    copy_strided({const_cast<std::byte*>(from) + i * bytes, strides}, {to + i * bytes, dense}, moved, size);
  });
}

}  // namespace tenfold::imaging
