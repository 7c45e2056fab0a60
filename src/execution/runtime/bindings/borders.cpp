// Strided memory of the caller's: copied to and from dense memory at the border of a run.
#include <algorithm>
#include <cstring>

#include "backends/backend.h"
#include "runtime/bindings/extras.h"
#include "runtime/device/link.h"

namespace tenfold::runtime {
namespace {

constexpr std::int64_t kMaxCopies = 1 << 14;     // that a device is asked for, for one binding
constexpr std::size_t kMaxAxes = 64;

const plan::Operand& formal_of(const ContextState& c, std::size_t b) noexcept {
  const plan::Program& program = c.program();
  return b < program.inputs.size() ? program.inputs[b] : program.outputs[b - program.inputs.size()];
}

// A binding's extents and strides, without axes of one element.
struct Region {
  std::array<std::int64_t, kMaxAxes> extents, strides;
  std::size_t rank = 0;
  std::int64_t width = 0;                         // bytes of an element
  bool empty = false;

  Region(const ContextState& c, std::size_t b) noexcept {
    const plan::Operand& formal = formal_of(c, b);
    width = bits(formal.dtype) / 8;
    for (std::size_t d = 0; d < formal.dims.size(); ++d) {
      const std::int64_t extent = c.shapes.dims[static_cast<std::size_t>(formal.dims[d])];
      empty = empty || extent <= 0;
      if (extent != 1) extents[rank] = extent, strides[rank++] = c.extras->borders[b].strides[d];
    }
  }
  // Axes whose elements follow each other without a gap: the last ones.
  std::size_t dense_axes() const noexcept {
    std::int64_t elements = 1;
    for (std::size_t d = rank; d > 0; --d) {
      if (strides[d - 1] != elements) return rank - d;
      elements *= extents[d - 1];
    }
    return rank;
  }
  std::int64_t last_byte() const noexcept {       // behind the last element; -1: not to be counted
    std::int64_t last = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      std::int64_t reach = 0;
      if (__builtin_mul_overflow(extents[d] - 1, strides[d], &reach) || __builtin_add_overflow(last, reach, &last)) return -1;
    }
    return __builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, width, &last) ? -1 : last;
  }
  // No element of an output may be another's place.
  bool apart() const noexcept {
    std::array<std::size_t, kMaxAxes> order;
    for (std::size_t d = 0; d < rank; ++d) order[d] = d;
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rank),
              [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
    std::int64_t reach = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::size_t d = order[i];
      if (strides[d] <= reach) return false;
      reach += (extents[d] - 1) * strides[d];
    }
    return true;
  }
};

// act(element offset, dense offset) in elements, for the start of each dense stretch.
template <class Act>
Status for_each_stretch(const Region& r, std::size_t dense_axes, std::int64_t stretch, Act act) noexcept {
  const std::size_t outer = r.rank - dense_axes;
  std::array<std::int64_t, kMaxAxes> index{};
  std::int64_t at = 0, dense = 0;
  for (;;) {
    if (Status s = act(at, dense); !s) return s;
    dense += stretch;
    std::size_t d = outer;
    for (; d > 0; --d) {
      at += r.strides[d - 1];
      if (++index[d - 1] < r.extents[d - 1]) break;
      at -= r.extents[d - 1] * r.strides[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0) return {};
  }
}

Status refuse(ContextState& c, std::size_t b, const char* why) noexcept {
  try {
    c.run.last_error = why;
  } catch (...) {
    c.run.last_error.clear();
  }
  return {Status::invalid_binding, static_cast<int>(b)};
}

// The strides suit the sizes that there are now.
Status check(ContextState& c, std::size_t b, const Region& r) noexcept {
  const std::int64_t needed = r.empty ? 0 : r.last_byte();
  if (needed < 0 || needed > c.extras->borders[b].bytes) return refuse(c, b, "the strides reach beyond the bytes given");
  if (b >= static_cast<std::size_t>(c.engine->inputs) && !r.apart())
    return refuse(c, b, "elements of the output share places: a stride is too small");
  return {};
}

Status copy_border(ContextState& c, std::size_t b, bool in) noexcept {
  const Border& border = c.extras->borders[b];
  const Region r(c, b);
  if (r.empty) return {};
  if (Status s = check(c, b, r); !s) return s;   // the run may have decided the sizes
  const std::size_t dense_axes = r.dense_axes();
  std::int64_t stretch = 1;
  for (std::size_t d = r.rank - dense_axes; d < r.rank; ++d) stretch *= r.extents[d];
  auto *strided = static_cast<std::byte*>(border.base), *dense = static_cast<std::byte*>(c.bindings.memory[b]);
  return for_each_stretch(r, dense_axes, stretch, [&](std::int64_t at, std::int64_t dense_at) -> Status {
    std::byte *there = strided + at * r.width, *here = dense + dense_at * r.width;
    const std::int64_t bytes = stretch * r.width;
    if (border.on_device) return {in ? c.stream->copy(here, there, bytes) : c.stream->copy(there, here, bytes), -1};
    in ? std::memcpy(here, there, static_cast<std::size_t>(bytes)) : std::memcpy(there, here, static_cast<std::size_t>(bytes));
    return {};
  });
}

Status prepare_border(ContextState& c, std::size_t b) {
  Border& border = c.extras->borders[b];
  const Region r(c, b);
  const bool known = is_known(c, formal_of(c, b).dims);
  border.copied = !known || (!r.empty && r.dense_axes() < r.rank);
  if (!border.copied) {
    c.bindings.memory[b] = border.base, c.bindings.bytes[b] = border.bytes;
    return {};
  }
  if (known)
    if (Status s = check(c, b, r); !s) return s;
  border.on_device = c.device && c.engine->backend->memory().kind_of(border.base) == backends::MemoryKind::device;
  if (!border.on_device) return use_own_memory(c, b), Status{};
  if (!known) return refuse(c, b, "the run decides the output's size: give the host's memory, or dense one");
  std::int64_t copies = 1;
  for (std::size_t d = 0; d < r.rank - r.dense_axes(); ++d) copies *= std::min(r.extents[d], kMaxCopies);
  if (copies > kMaxCopies)
    return refuse(c, b, "the strides cut the device's memory into too many stretches: give dense memory, or the host's");
  c.bindings.memory[b] = c.device->mirrors[b].memory.get(), c.bindings.bytes[b] = c.device->mirrors[b].bytes;
  return {};
}

}  // namespace

Status prepare_borders(ContextState& c) noexcept {
  try {
    for (std::size_t b = 0; b < c.bindings.memory.size(); ++b)
      if (c.extras->borders[b].base)
        if (Status s = prepare_border(c, b); !s) return s;
    return check_expected(c);
  } catch (...) {
    return {Status::out_of_memory, -1};
  }
}

Status copy_borders(ContextState& c, bool inputs, bool on_device) noexcept {
  const auto first_output = static_cast<std::size_t>(c.engine->inputs);
  for (std::size_t b = inputs ? 0 : first_output; b < (inputs ? first_output : c.bindings.memory.size()); ++b) {
    const Border& border = c.extras->borders[b];
    if (!border.base || !border.copied || border.on_device != on_device) continue;
    if (Status s = copy_border(c, b, inputs); !s) return s;
    c.extras->copied[b] = true;
  }
  return {};
}

}  // namespace tenfold::runtime
