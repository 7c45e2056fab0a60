// Showing the results of steps to an observer, as dense tensors.
#include <cstring>

#include "runtime/state.h"

namespace tenfold::runtime {
namespace {

Tensor dense_copy(const backends::Bound& from, DType dtype) {
  Tensor t(dtype, Shape(from.dims, from.dims + from.rank));
  const std::int64_t width = bits(dtype) / 8;
  Shape index(static_cast<std::size_t>(from.rank), 0);
  auto* to = static_cast<std::byte*>(t.mutable_raw());
  for (std::int64_t i = 0; i < t.size(); ++i) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * from.strides[d];
    std::memcpy(to + i * width, static_cast<const std::byte*>(from.data) + offset * width, static_cast<std::size_t>(width));
    for (std::size_t d = index.size(); d-- > 0 && ++index[d] == from.dims[d];) index[d] = 0;
  }
  return t;
}

}  // namespace

Status observe(ContextState& c, const BoundStep& bound) noexcept {
  const plan::Step& step = *bound.open->step;
  try {
    for (std::size_t o = 0; o < step.out.size(); ++o) {
      const plan::Operand& out = step.out[o];
      // Blocked channels and elements of less than a byte have no strides to follow.
      if (out.name.empty() || out.at.space == plan::Space::none || bits(out.dtype) < 8 ||
          out.layout.order == backends::Layout::channels_blocked)
        continue;
      c.observer(step.name, out.name, dense_copy(bound.out[o], out.dtype));
    }
  } catch (const std::exception& e) {
    c.last_error = e.what();
    return {Status::failed, -1};
  }
  return {};
}

}  // namespace tenfold::runtime
