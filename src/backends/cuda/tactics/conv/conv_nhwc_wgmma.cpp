// conv_nhwc_wgmma: convolutions with few channels over channels-last images on Hopper's tensor cores, every plane loaded once.
#include "backends/cuda/codegen/conv/conv_planes.h"

#include <algorithm>

#include "backends/cuda/device/launch.h"
#include "backends/cuda/device/tensor_map.h"
#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/conv/conv_gemm_common.h"
#include "backends/cuda/tactics/gemm/mma_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kMaxColumns = 256;
constexpr int64_t kMaxRows = int64_t{1} << 30;  // TMA counts in 32 bits
// {x, y, groups}
constexpr int kTiles[][3] = {{16, 16, 2}, {32, 8, 2}, {8, 32, 2}, {8, 16, 2}, {16, 8, 2}, {16, 24, 3}, {24, 8, 3}, {8, 24, 3}};

PlanesTile tile_of(const Config& c) {
  return {static_cast<int>(c[0]), static_cast<int>(c[1]), static_cast<int>(c[2]), static_cast<int>(c[3])};
}
bool fits(const PlanesProblem& p, const PlanesTile& t) {
  return p.gemm.n % t.filters == 0 && t.columns(p) <= kMaxColumns && t.blocks() * t.columns(p) / 2 <= (t.groups == 2 ? 160 : 112) &&
         t.x + p.gemm.kernel[2] <= 256 && t.stages(p) >= 2;
}

struct Walk {
  int64_t tiles = 0, length = 1;  // tiles of a plane, for every block of filters; results of an item
  double steps = 0;               // of the busiest multiprocessor
};
// As long as possible, as short as it takes to keep every multiprocessor busy.
Walk walk_of(const PlanesProblem& p, const PlanesTile& t, int64_t images, int processors) {
  const GemmProblem& g = p.gemm;
  const int64_t across = ceil_div(g.out_extent[2], int64_t{t.x}), depth = g.out_extent[p.walk()], splits = g.n / t.filters;
  Walk best;
  best.tiles = splits * across *
               (p.rows_are_images() ? ceil_div(images, int64_t{t.y}) : images * ceil_div(g.out_extent[1], int64_t{t.y}));
  const int64_t blocks = std::max<int64_t>(1, processors / splits) * splits;
  for (int64_t length = 1; length <= depth; ++length) {
    const double turns = static_cast<double>(ceil_div(best.tiles * ceil_div(depth, length), blocks));
    const double steps = turns * (static_cast<double>(length) + 0.4 * (p.fold() - 1)) + 1;
    if (best.steps == 0 || steps <= best.steps) best.steps = steps, best.length = length;
  }
  return best;
}

// Cycles: each step multiplies a tile with all taps of its plane, or loads them.
double guess(const PlanesProblem& p, const PlanesTile& t, int64_t images, int processors) {
  const double columns = t.columns(p), blocks = t.groups * t.blocks();
  const double cycles = std::max(columns / 2, (2048 + 32 * columns) / 128);
  const double step = p.taps() * static_cast<double>(p.gemm.channels) / 16 * blocks * cycles;
  const double load = static_cast<double>(p.gemm.channels / 16) * (t.x + 2) * (t.y + p.row_taps() - 1) * 2;
  return walk_of(p, t, images, processors).steps * (std::max(step, load) + (t.blocks() == 1 ? 500 : 250)) + 2.0 * t.weight_bytes(p) / 64;
}

struct Read {
  PlanesProblem planes;
  Epilogue epilogue;
  int64_t images = 1;  // the most that are likely
};
Verdict read(const Problem& p, Read& r) {
  FusedGemm fused;
  if (Verdict v = read_conv(p, fused); !v) return v;
  GemmProblem& g = r.planes.gemm;
  g = fused.gemm;
  r.images = fused.rows / (g.out_extent[0] * g.out_extent[1] * g.out_extent[2]);
  r.epilogue = std::move(fused.epilogue);
  g.epilogue = r.epilogue.operands;
  if (p.device->arch != 90) return Verdict::no("wgmma needs sm_90");
  if (g.out != g.in) return Verdict::no("the result has another type");
  const std::array<int64_t, 3> one{1, 1, 1};
  if (!g.is_conv || g.stride != one || g.dilation != one || g.spatial_rank() == 1)
    return Verdict::no("it strides, or its images have one axis");
  if (g.channels % 16 != 0 || g.n % 16 != 0) return Verdict::no("channels are no multiple of 16");
  if (r.planes.fold() < 2 || r.planes.fold() > 5) return Verdict::no("the window has no extent of 2 to 5 along its first axis");
  for (const auto& extent : {fused.rows, g.in_extent[0] * g.in_extent[1] * g.in_extent[2]})
    if (extent >= kMaxRows) return Verdict::no("an image is too large");
  return Verdict::ok();
}

std::vector<Config> configs_of(const Problem& p, const Read& r) {
  const int processors = figures_of(*p.device).multiprocessors;
  std::vector<std::pair<double, Config>> all;
  for (const auto& t : kTiles)
    for (int filters : {128, 96, 80, 64, 48, 32, 16}) {
      const PlanesTile tile{t[0], t[1], t[2], filters};
      if (fits(r.planes, tile)) all.push_back({guess(r.planes, tile, r.images, processors), {t[0], t[1], t[2], filters}});
    }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Config> best;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, all.size()); ++i) best.push_back(all[i].second);
  return best;
}

Verdict supports(const Problem& p) {
  Read r;
  if (Verdict v = read(p, r); !v) return v;
  return Verdict::only_if(!configs_of(p, r).empty(), "the weights of few filters do not fit into shared memory");
}
std::vector<Config> configs(const Problem& p) {
  Read r;
  read(p, r);
  return configs_of(p, r);
}
Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 4) return Verdict::no("its configuration has another length");
  const auto known = [&](const auto& t) { return std::equal(std::begin(t), std::end(t), c.begin()); };
  if (std::none_of(std::begin(kTiles), std::end(kTiles), known) || c[3] < 16 || c[3] > 128 || c[3] % 16 != 0)
    return Verdict::no("there is no such tile");
  Read r;
  if (Verdict v = read(p, r); !v) return v;
  return Verdict::only_if(fits(r.planes, tile_of(c)), "the tile needs more shared memory or registers than there are");
}
double work(const Problem& p) {
  FusedGemm fused;
  read_conv(p, fused);
  return gemm_work(fused);
}

// Weights as PlanesArguments has them, and back.
void repack(const Problem& p, const Config& config, const void* from, void* to, bool back) {
  Read r;
  read(p, r);
  const PlanesProblem& planes = r.planes;
  const int64_t channels = planes.gemm.channels, taps = planes.taps(), fold = planes.fold(), filters = tile_of(config).filters;
  const auto* source = static_cast<const std::uint16_t*>(from);
  auto* target = static_cast<std::uint16_t*>(to);
  for (int64_t n = 0; n < planes.gemm.n; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t z = 0; z < fold; ++z)
        for (int64_t t = 0; t < taps; ++t) {
          const int64_t plain = ((n * channels + c) * fold + z) * taps + t;
          const int64_t row = (fold - 1 - z) * filters + n % filters;
          const int64_t own = (((n / filters * taps + t) * (channels / 8) + c / 8) * fold * filters + row) * 8 + c % 8;
          target[back ? plain : own] = source[back ? own : plain];
        }
}
void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  repack(p, c, constants[1]->raw(), packed, false);
}
Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  Tensor w(p.in[1].dtype, ir::constants(p.in[1].dims));
  repack(p, c, packed, w.mutable_raw(), true);
  return w;
}

struct Kernel {
  Read read;
  PlanesTile tile;
  int processors = 0;
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  std::unique_ptr<const MmaKernel> plain;  // for addresses that TMA does not take; null: there are none
};
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  cuda::Device& gpu = device_of(*p.device);
  read(p, k->read);
  k->tile = tile_of(c), k->processors = gpu.multiprocessors();
  GemmProblem& g = k->read.planes.gemm;
  if (p.may_be_misaligned()) {
    FusedGemm plain;
    read_conv(p, plain);
    plain.gemm.weight_at = planes_weight_at(k->read.planes, k->tile);
    k->plain = std::make_unique<const MmaKernel>(std::move(plain), p, opening);
  }
  g.body = k->read.epilogue.has_body ? &k->read.epilogue.body : nullptr;
  k->module = gpu.load(generate_conv_planes(k->read.planes, k->tile), opening);
  k->function = k->module->function("conv", k->tile.shared_bytes(k->read.planes));
  return k;
}

Status::Code describe_x(const PlanesProblem& p, const PlanesTile& t, const RunArgs& args, TensorMap& map) noexcept {
  const GemmProblem& g = p.gemm;
  const auto& e = g.in_extent;
  const int across = t.x + static_cast<int>(g.kernel[2]) - 1, down = t.y + p.row_taps() - 1;
  const int64_t images = args.in[0].dims[0];
  if (p.rows_are_images())
    return describe<4>({g.in, args.in[0].data, {g.channels, e[2], e[1], images}, {t.depth(p), across, 1, down}}, map);
  return describe<5>({g.in, args.in[0].data, {g.channels, e[2], e[1], e[0], images}, {t.depth(p), across, down, 1, 1}},
                     map);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const PlanesProblem& planes = k.read.planes;
  const int64_t images = args.in[0].dims[0];
  if (images == 0) return Status::ok;
  if (images * planes.gemm.out_extent[0] * planes.gemm.out_extent[1] * planes.gemm.out_extent[2] >= kMaxRows) return Status::failed;
  PlanesArguments a{};
  a.w = args.in[1].data, a.y = args.out[0].data, a.images = static_cast<int>(images);
  if (!lie_aligned(args, k.read.epilogue)) return k.plain ? k.plain->run(args, conv_rows(planes.gemm, args)) : Status::failed;
  for (std::size_t o = 0; o < k.read.epilogue.inputs.size(); ++o)
    a.epilogue[o] = args.in[static_cast<std::size_t>(k.read.epilogue.inputs[o])].data;
  if (const Status::Code code = describe_x(planes, k.tile, args, a.x); code != Status::ok) return code;
  const Walk walk = walk_of(planes, k.tile, images, k.processors);
  a.length = static_cast<int>(walk.length);
  const int64_t splits = planes.gemm.n / k.tile.filters, items = walk.tiles * ceil_div(planes.gemm.out_extent[planes.walk()], walk.length);
  const int64_t blocks = std::min(items, std::max<int64_t>(1, k.processors / splits) * splits);
  return launch(queue_of(args), k.function, {static_cast<unsigned>(blocks)}, static_cast<unsigned>(k.tile.threads()),
                static_cast<unsigned>(k.tile.shared_bytes(planes)), &a, Start::early);
}

}  // namespace

Tactic cuda_conv_nhwc_wgmma() {
  return packed_tactic({.name = "conv_nhwc_wgmma", .ops = {"Conv"}, .formats = conv_formats,
                        .cases = {"Conv f16[2,64,14,14] f16[64,64,3,3]! pads=[1,1,1,1]",
                                  "Conv f16[1,16,8,8,8] f16[32,16,3,3,3]! pads=[1,1,1,1,1,1]",
                                  "Conv f16[2,32,20,24,33] f16[32,32,3,3,3]! f16[32]! pads=[1,1,1,1,1,1]",
                                  "Conv bf16[2,48,7,9,18] bf16[64,48,3,3,3]! bf16[64]! pads=[1,1,1,1,1,1]",
                                  "Conv f16[1,64,6,17,16] f16[32,64,2,3,5]! f16[32]! pads=[1,1,1,0,0,2]",
                                  "Conv f16[9,32,21,19] f16[96,32,5,3]! f16[96]! pads=[2,1,2,1]"}},
                       {supports, configs, valid, conv_weight_bytes, pack, unpack, open, run, work});
}

}  // namespace tenfold::backends
