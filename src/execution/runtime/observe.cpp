// Showing the results of steps to an observer, as dense tensors.
#include "runtime/observe.h"

#include <algorithm>
#include <cstring>

#include "backends/stream.h"
#include "runtime/context.h"

namespace tenfold::runtime {
namespace {

// The bytes that an operand spans, where the host reads them: there, or copied into `room`. Null: they could not be copied.
const std::byte* on_host(ContextState& c, const backends::Bound& from, DType dtype, std::vector<std::byte>& room) {
  if (!c.device) return static_cast<const std::byte*>(from.data);
  std::int64_t last = 0;
  for (int d = 0; d < from.rank; ++d) last += std::max<std::int64_t>(from.dims[d] - 1, 0) * from.strides[d];
  room.resize(static_cast<std::size_t>((last + 1) * bits(dtype) / 8));
  const Status::Code copied = c.stream->copy(room.data(), from.data, static_cast<std::int64_t>(room.size()));
  return copied == Status::ok && c.stream->wait() == Status::ok ? room.data() : nullptr;
}

bool row_major(const backends::Bound& b) {
  std::int64_t stride = 1;
  for (int d = b.rank - 1; d >= 0; --d) {
    if (b.dims[d] != 1 && b.strides[d] != stride) return false;
    stride *= b.dims[d];
  }
  return true;
}

// A plane of the innermost dim and of that whose elements lie side by side, `across`: tile by tile, for a line of the cache holds several
// rows.
template <class Word>
void gather_plane(Word* to, const Word* data, const backends::Bound& from, std::size_t across, std::int64_t row) {
  constexpr std::int64_t kTile = 16;
  const auto inner = static_cast<std::size_t>(from.rank) - 1;
  const std::int64_t rows = across == inner ? 1 : from.dims[across], columns = from.dims[inner];
  const std::int64_t down = from.strides[across], stride = from.strides[inner];
  for (std::int64_t r = 0; r < rows; r += kTile)
    for (std::int64_t c = 0; c < columns; c += kTile)
      for (std::int64_t i = r; i < std::min(rows, r + kTile); ++i)
        for (std::int64_t j = c; j < std::min(columns, c + kTile); ++j) to[i * row + j] = data[i * down + j * stride];
}

// `Word`: as wide as an element.
template <class Word>
void gather(Word* to, const Word* data, const backends::Bound& from, std::int64_t count) {
  const auto inner = static_cast<std::size_t>(from.rank) - 1;
  std::size_t across = inner;
  for (std::size_t d = 0; d < inner; ++d)
    if (from.strides[inner] != 1 && from.strides[d] == 1 && from.dims[d] > 1) across = d;
  Shape row(static_cast<std::size_t>(from.rank), 1), index(static_cast<std::size_t>(from.rank), 0);
  for (std::size_t d = inner; d-- > 0;) row[d] = row[d + 1] * from.dims[d + 1];
  const std::int64_t planes = count / (from.dims[inner] * (across == inner ? 1 : from.dims[across]));
  for (std::int64_t p = 0; p < planes; ++p) {
    std::int64_t offset = 0, place = 0;
    for (std::size_t d = 0; d < inner; ++d) offset += index[d] * from.strides[d], place += index[d] * row[d];
    gather_plane(to + place, data + offset, from, across, row[across]);
    for (std::size_t d = inner; d-- > 0;) {
      if (d == across) continue;
      if (++index[d] < from.dims[d]) break;
      index[d] = 0;
    }
  }
}

Tensor dense_copy(const std::byte* data, const backends::Bound& from, DType dtype) {
  Tensor t(dtype, Shape(from.dims, from.dims + from.rank));
  if (t.size() == 0) return t;
  if (row_major(from)) {
    std::memcpy(t.mutable_raw(), data, static_cast<std::size_t>(t.bytes()));
    return t;
  }
  const auto copy = [&](auto word) {
    gather(static_cast<decltype(word)*>(t.mutable_raw()), reinterpret_cast<const decltype(word)*>(data), from, t.size());
  };
  switch (bits(dtype) / 8) {
    case 1: copy(std::uint8_t{}); break;
    case 2: copy(std::uint16_t{}); break;
    case 4: copy(std::uint32_t{}); break;
    default: copy(std::uint64_t{});
  }
  return t;
}

}  // namespace

Status observe(ContextState& c, const BoundStep& bound) noexcept {
  const plan::Step& step = *bound.open->step;
  try {
    std::vector<std::byte> room;
    for (std::size_t o = 0; o < step.out.size(); ++o) {
      const plan::Operand& out = step.out[o];
      if (out.name.empty() || out.at.space == plan::Space::none || bits(out.dtype) < 8) continue;   // less than a byte has no strides
      if (!c.watch.observed.empty() && !c.watch.observed.count(out.name)) continue;
      const std::byte* data = on_host(c, bound.out[o], out.dtype, room);
      if (!data) return {Status::device, -1};
      c.watch.observer(step.name, out.name, dense_copy(data, bound.out[o], out.dtype));
    }
  } catch (const std::exception& e) {
    c.run.last_error = e.what();
    return {Status::failed, -1};
  }
  return {};
}

}  // namespace tenfold::runtime
