// Dense arrays with their axes in another order.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/threads/parallel.h"
#include "tenfold/tensor.h"

namespace tenfold::imaging {

// `order[i]` is the axis that becomes axis i.
using AxisOrder = std::vector<std::size_t>;
AxisOrder axis_first(std::size_t axis, std::size_t rank);   // the others follow as they are
AxisOrder inverse(const AxisOrder& order);
Shape in_order(std::span<const std::int64_t> shape, const AxisOrder& order);

// An array that lies somewhere: element i of axis a is `strides[a]` elements behind element i - 1.
struct Strided { std::byte* data; Shape strides; };
// Elements of `size` bytes of an array of extents `shape`.
void copy_strided(const Strided& from, const Strided& to, std::span<const std::int64_t> shape, std::int64_t size);
Shape dense_strides(std::span<const std::int64_t> shape);

// `count` arrays of extents `shape`, one behind the other, with their axes in `order`.
void move_axes(const std::byte* from, std::byte* to, std::int64_t count, const Shape& shape, const AxisOrder& order,
               std::int64_t size, Parallel& parallel);

}  // namespace tenfold::imaging
