// From strided views to tiles: which two axes a tile has, and how the others are walked.
#include "backends/cuda/tactics/move/tiles_common.h"

#include "backends/cuda/codegen/move/tiles.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  int bytes = 1, side = 32;
};

struct Axis {
  int64_t extent = 1, from = 0, to = 0;
};

// Axes of more than one element; neighbors that both sides walk through in one step are joined.
int joined(const Bound& from, const Bound& to, Axis* axes) {
  int count = 0;
  for (int d = 0; d < to.rank; ++d) {
    const Axis next{to.dims[d], from.strides[d], to.strides[d]};
    if (next.extent == 1) continue;
    if (count > 0 && axes[count - 1].from == next.from * next.extent && axes[count - 1].to == next.to * next.extent)
      axes[count - 1] = {axes[count - 1].extent * next.extent, next.from, next.to};
    else
      axes[count++] = next;
  }
  return count;
}

// Takes the axis with the least stride on one side out of the list.
Axis take_innermost(Axis* axes, int& count, int64_t Axis::* stride) {
  if (count == 0) return {};
  Axis* const min = std::min_element(axes, axes + count, [&](const Axis& x, const Axis& y) { return x.*stride < y.*stride; });
  const Axis taken = *min;
  std::copy(min + 1, axes + count--, min);
  return taken;
}

bool may_be_wide(const TileArguments& t, int vector) {
  bool wide = t.from_b == 1 && t.to_a == 1;
  for (const int64_t number : {t.a, t.b, t.from_a, t.to_b}) wide = wide && number % vector == 0;
  for (int64_t d = 0; d < t.axes; ++d) wide = wide && t.from_stride[d] % vector == 0 && t.to_stride[d] % vector == 0;
  for (const void* pointer : {t.from, static_cast<const void*>(t.to)}) wide = wide && reinterpret_cast<std::uintptr_t>(pointer) % 8 == 0;
  return wide;
}

}  // namespace

Verdict can_tile(const OperandDesc& from, const OperandDesc& to) {
  if (bits(from.dtype) < 8 || bits(from.dtype) > 64 || from.dtype == DType::string) return Verdict::no("elements are not of 8 to 64 bits");
  return Verdict::only_if(to.dims.size() >= 2 && to.dims.size() <= kTileAxes, "fewer than two dims, or too many");
}

// Small tiles or large ones, which pay where there are many.
std::vector<Config> tile_configs(const Problem& p) {
  constexpr std::int64_t kMany = 1 << 22;
  if (bits(p.in[0].dtype) == 8) return {{0}};   // which would be 64 KB
  if (p.bounds(ir::product(p.out[0].dims)).upper >= kMany) return {{1}, {0}};
  return {{0}, {1}};
}
Verdict valid_tiles(const Problem& p, const Config& c) {
  return Verdict::only_if(c == Config{0} || (c == Config{1} && bits(p.in[0].dtype) > 8), "there is no such tile");
}

std::shared_ptr<const void> open_tiles(DType dtype, bool large, const DeviceInfo& device, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->bytes = bits(dtype) / 8;
  k->side = tile_side(k->bytes, large);
  k->module = device_of(device).load(generate_tiles(k->bytes, large), opening);
  k->function = k->module->function("tiles");
  return k;
}

Status::Code run_tiles(const void* opened, const Queue& queue, const Bound& from, const Bound& to) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(opened);
  for (int d = 0; d < to.rank; ++d)
    if (to.dims[d] == 0) return Status::ok;
  Axis axes[kMaxDims];
  int count = joined(from, to, axes);
  const Axis a = take_innermost(axes, count, &Axis::to), b = take_innermost(axes, count, &Axis::from);
  TileArguments t{from.data, to.data, a.extent, b.extent, a.from, b.from, a.to, b.to, ceil_div(a.extent, int64_t{k.side}),
                  ceil_div(b.extent, int64_t{k.side}), count, 0, {}, {}, {}};
  int64_t blocks = t.tiles_a * t.tiles_b;
  for (int d = 0; d < count; ++d) {
    t.extent[d] = axes[d].extent, t.from_stride[d] = axes[d].from, t.to_stride[d] = axes[d].to;
    blocks *= axes[d].extent;
  }
  t.wide = may_be_wide(t, tile_vector(k.bytes));
  if (blocks > INT32_MAX) return Status::failed;
  return launch(queue, k.function, {static_cast<unsigned>(blocks)}, kTileThreads, 0, &t, Start::early);
}

}  // namespace tenfold::backends::cuda
