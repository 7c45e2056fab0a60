// pad_modes_rows: Pad in the modes edge, reflect and wrap: row by row of the result, whose middle is a row of the input and whose ends
// repeat elements of it.
#include <algorithm>
#include <cstring>

#include "backends/cpu/tactics/movement_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

enum class Mode : std::uint8_t { edge, reflect, wrap };

struct Kernel {
  Mode mode;
  DType axes_type = DType::i64;
  bool has_axes, channels_last;
  int element_bytes;
};

Verdict supports(const Problem& p) {
  if (p.attributes->string("mode") == "constant") return Verdict::no("pad_rows has the mode constant");
  if (p.in[1].dtype != DType::i64) return Verdict::no("pads are not i64");
  if (!p.in[0].dense || !p.out[0].dense) return Verdict::no("an operand is strided");
  if (p.in[0].layout != p.out[0].layout) return Verdict::no("the result has another layout than the input");
  return can_move(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  const std::string mode = p.attributes->string("mode");
  auto kernel = std::make_shared<Kernel>();
  kernel->mode = mode == "edge" ? Mode::edge : mode == "wrap" ? Mode::wrap : Mode::reflect;
  kernel->has_axes = p.in.size() > 3 && !p.in[3].missing;
  if (kernel->has_axes) kernel->axes_type = p.in[3].dtype;
  kernel->channels_last = p.in[0].layout == kChannelsLast;
  kernel->element_bytes = bits(p.in[0].dtype) / 8;
  return kernel;
}

// One axis: `extent` elements of the input from `first` on are left, and lie from `middle` on among the `result` ones.
struct Axis {
  int64_t first, extent, middle, result;
  int64_t in_stride;  // elements

  bool padded() const { return extent != result; }
  int64_t source(Mode mode, int64_t i) const {
    i -= middle;
    if (i < 0 || i >= extent) {
      if (mode == Mode::edge) {
        i = std::clamp<int64_t>(i, 0, extent - 1);
      } else {
        const int64_t period = mode == Mode::wrap ? extent : std::max<int64_t>(1, 2 * (extent - 1));
        i = floor_mod(i, period);
        if (i >= extent) i = period - i;
      }
    }
    return first + i;
  }
};

// The axes in the order of memory.
struct Padding {
  Axis axes[kMaxRank];
  int rank = 0, row = 0;  // `row`: the innermost padded axis; those inside of it make its elements
  int64_t item = 0;       // bytes of such an element

  Status::Code read(const Kernel& kernel, const RunArgs& args) noexcept;
  int64_t rows() const noexcept {
    int64_t n = 1;
    for (int a = 0; a < row; ++a) n *= axes[a].result;
    return n;
  }
};

Status::Code Padding::read(const Kernel& kernel, const RunArgs& args) noexcept {
  const Bound &in = args.in[0], &out = args.out[0], &pads = args.in[1];
  int64_t before[kMaxRank] = {}, after[kMaxRank] = {};
  const int64_t count = pads.dims[0] / 2;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t given = kernel.has_axes ? integer_at(args.in[3], kernel.axes_type, i) : i, axis = given < 0 ? given + in.rank : given;
    if (axis < 0 || axis >= in.rank) return Status::invalid_input;
    before[axis] = pads.as<const int64_t>()[i];
    after[axis] = pads.as<const int64_t>()[count + i];
  }
  rank = in.rank;
  for (int i = 0; i < rank; ++i) {
    const int a = !kernel.channels_last || i == 0 ? i : i + 1 < rank ? i + 1 : 1;
    Axis& axis = axes[i];
    axis.first = -std::clamp<int64_t>(before[a], -in.dims[a], 0);
    axis.extent = std::max<int64_t>(0, in.dims[a] - axis.first + std::clamp<int64_t>(after[a], -in.dims[a], 0));
    axis.middle = std::clamp<int64_t>(before[a], 0, out.dims[a]);
    axis.result = out.dims[a], axis.in_stride = in.strides[a];
    if (axis.extent == 0 && axis.result > 0) return Status::invalid_shape;
    if (axis.padded() || axis.extent != in.dims[a]) row = i;
  }
  item = kernel.element_bytes;
  for (int i = row + 1; i < rank; ++i) item *= axes[i].result;
  return Status::ok;
}

template <class F>
void copy_items(F&& source, int64_t begin, int64_t end, char* to, const char* from, int64_t item) noexcept {
  const auto all = [&](auto element) {
    using T = decltype(element);
    for (int64_t i = begin; i < end; ++i) reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(from)[source(i)];
  };
  switch (item) {
    case 1: return all(std::uint8_t{});
    case 2: return all(std::uint16_t{});
    case 4: return all(std::uint32_t{});
    case 8: return all(std::uint64_t{});
    default:
      for (int64_t i = begin; i < end; ++i) std::memcpy(to + i * item, from + source(i) * item, static_cast<std::size_t>(item));
  }
}

void copy_row(const Axis& axis, Mode mode, char* to, const char* from, int64_t item) noexcept {
  const auto source = [&](int64_t i) { return axis.source(mode, i); };
  const int64_t middle = std::min(axis.middle, axis.result), end = std::min(axis.middle + axis.extent, axis.result);
  copy_items(source, 0, middle, to, from, item);
  std::memcpy(to + middle * item, from + axis.first * item, static_cast<std::size_t>((end - middle) * item));
  copy_items(source, end, axis.result, to, from, item);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  Padding padding;
  for (int a = 0; a < args.out[0].rank; ++a)
    if (args.out[0].dims[a] == 0) return Status::ok;
  if (const Status::Code code = padding.read(kernel, args); code != Status::ok) return code;
  if (padding.rank == 0) {
    std::memcpy(args.out[0].data, args.in[0].data, static_cast<std::size_t>(padding.item));
    return Status::ok;
  }
  const Axis& row_axis = padding.axes[padding.row];
  const int64_t row_bytes = row_axis.result * padding.item;
  for_row_parts(*args.parallel, padding.rows(), rows_per_part(row_bytes / 4 + 1), [&](int64_t first, int64_t last, int) noexcept {
    int64_t index[kMaxRank], rest = first, offset = 0;  // of the input's row, in elements
    for (int a = padding.row; a-- > 0; rest /= padding.axes[a].result) {
      index[a] = rest % padding.axes[a].result;
      offset += padding.axes[a].source(kernel.mode, index[a]) * padding.axes[a].in_stride;
    }
    for (int64_t r = first; r < last; ++r) {
      copy_row(row_axis, kernel.mode, args.out[0].as<char>() + r * row_bytes, args.in[0].as<const char>() + offset * kernel.element_bytes,
               padding.item);
      for (int a = padding.row; a-- > 0;) {  // to the next row
        const Axis& axis = padding.axes[a];
        offset -= axis.source(kernel.mode, index[a]) * axis.in_stride;
        const bool carries = ++index[a] == axis.result;
        if (carries) index[a] = 0;
        offset += axis.source(kernel.mode, index[a]) * axis.in_stride;
        if (!carries) break;
      }
    }
  });
  return Status::ok;
}

// Where both layouts are one order of memory, the second one only names it differently, and is copied at the border of a network.
std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all = same_layouts(p);
  if (same_as_plain(kChannelsLast, p.in[0].dims) && same_as_plain(kChannelsLast, p.out[0].dims)) all.resize(1);
  return all;
}

}  // namespace

Tactic cpu_pad_modes_rows() {
  return {
      .name = "pad_modes_rows",
      .ops = {"Pad"},
      .supports = supports,
      .configs = one_config,
      .formats = formats,
      .open = open,
      .run = run,
      .cases = {"Pad f32[2,5,30] i64[6]{0,1,2,3,-1,4} mode=\"reflect\"", "Pad f32[1,3,9,20] i64[8]{0,0,3,3,0,0,3,3} mode=\"edge\"",
                "Pad f16[2,3,4,5] i64[4]{5,2,9,-3} _ i64[2]{2,-1} mode=\"wrap\"",
                "Pad u8[2,70,3,4] i64[8]{0,0,1,2,0,0,2,1} mode=\"reflect\"", "Pad f32[1,1,7,1] i64[8]{0,0,9,2,0,0,8,0} mode=\"reflect\""}};
}

}  // namespace tenfold::backends
