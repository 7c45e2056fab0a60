// conv_few: convolutions of images with few channels on tensor cores, with any epilogue.
#include "backends/cuda/codegen/conv_few.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/conv_common.h"
#include "backends/cuda/tactics/mma_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

// {y, z, blocks}
constexpr int kPictures[][3] = {{16, 1, 2}, {16, 1, 4}, {8, 1, 1}, {4, 1, 1}}, kVolumes[][3] = {{8, 4, 4}, {8, 2, 2}, {4, 2, 1}};

FewTile tile_of(const Config& c) { return {static_cast<int>(c[0]), static_cast<int>(c[1]), static_cast<int>(c[2])}; }

struct Read {
  FewProblem few;
  Tail tail;
};
Verdict read(const Problem& p, Read& r) {
  Product product;
  if (Verdict v = read_conv(p, product); !v) return v;
  r.few.gemm = product.gemm, r.tail = std::move(product.tail);
  GemmProblem& g = r.few.gemm;
  g.tail = r.tail.operands;
  if (g.out != g.in) return Verdict::no("the result has another type");
  if (!g.is_conv || g.channels > 7) return Verdict::no("there are more than 7 channels");
  if (g.n % 8 != 0 || g.dilation[2] != 1) return Verdict::no("filters are no multiple of 8, or the innermost axis is dilated");
  if (r.few.depth() > 256) return Verdict::no("the window is too large");
  return Verdict::ok();
}

std::vector<Config> configs_of(const Problem& p, const Read& r) {
  std::vector<Config> all;
  const bool pictures = r.few.gemm.out_extent[0] == 1;
  const auto add = [&](const int(&t)[3]) {
    if (r.few.shared_bytes({t[0], t[1], t[2]}) <= std::min<int64_t>(shared_limit(p.device->arch), 99 << 10))
      all.push_back({t[0], t[1], t[2]});
  };
  for (const auto& t : kPictures)
    if (pictures) add(t);
  for (const auto& t : kVolumes)
    if (!pictures) add(t);
  return all;
}

Verdict supports(const Problem& p) {
  Read r;
  if (Verdict v = read(p, r); !v) return v;
  return Verdict::only_if(!configs_of(p, r).empty(), "a tile needs more shared memory than there is");
}
std::vector<Config> configs(const Problem& p) {
  Read r;
  read(p, r);
  return configs_of(p, r);
}
Verdict valid(const Problem& p, const Config& c) {
  const std::vector<Config> all = configs(p);
  return Verdict::only_if(std::find(all.begin(), all.end(), c) != all.end(), "there is no such tile");
}
double work(const Problem& p) {
  Product product;
  read_conv(p, product);
  return product_work(product);
}

// Weights as FewArguments has them, and back.
void repack(const Problem& p, const void* from, void* to, bool back) {
  Read r;
  read(p, r);
  const FewProblem& few = r.few;
  const int64_t n = few.gemm.n, channels = few.gemm.channels, across = few.gemm.kernel[2], filters = few.filters();
  const auto* source = static_cast<const std::uint16_t*>(from);
  auto* target = static_cast<std::uint16_t*>(to);
  for (int64_t f = 0; f < n; ++f)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t run = 0; run < few.runs(); ++run)
        for (int64_t x = 0; x < across; ++x) {
          const int64_t plain = ((f * channels + c) * few.runs() + run) * across + x;
          const int64_t own = (f / filters * few.packed_filters() + f % filters) * few.pitch() +
                              few.place(static_cast<int>(run), static_cast<int>(x * channels + c));
          target[back ? plain : own] = source[back ? own : plain];
        }
}
int64_t packed_bytes(const Problem& p, const Config&, int input) {
  Read r;
  read(p, r);
  return input == 1 ? r.few.weight_bytes() : -1;
}
void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  std::memset(packed, 0, static_cast<std::size_t>(packed_bytes(p, c, 1)));
  repack(p, constants[1]->raw(), packed, false);
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  Tensor w(p.in[1].dtype, ir::constants(p.in[1].dims));
  repack(p, packed, w.mutable_raw(), true);
  return w;
}

struct Kernel {
  Read read;
  FewTile tile;
  int processors = 0, shared = 0;
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  std::unique_ptr<MmaKernel> plain;  // for addresses that are not multiples of 16
};
std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  auto k = std::make_shared<Kernel>();
  cuda::Device& gpu = Device::get(p.device->ordinal);
  read(p, k->read);
  GemmProblem& g = k->read.few.gemm;
  Product plain;
  read_conv(p, plain);
  plain.gemm.weight_at = few_weight_at(k->read.few);
  k->plain = std::make_unique<MmaKernel>(std::move(plain), kPlainTile, *p.device, false);
  g.body = k->read.tail.has_body ? &k->read.tail.body : nullptr;
  k->tile = tile_of(c), k->processors = gpu.multiprocessors(), k->shared = k->read.few.shared_bytes(k->tile);
  k->module = gpu.load(generate_conv_few(k->read.few, k->tile));
  k->function = k->module->function("conv", k->shared);
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const GemmProblem& g = k.read.few.gemm;
  FewArguments a{args.in[0].data, args.in[1].data, args.out[0].data, {}, args.in[0].dims[0]};
  for (std::size_t o = 0; o < k.read.tail.inputs.size(); ++o) a.tail[o] = args.in[static_cast<std::size_t>(k.read.tail.inputs[o])].data;
  if (a.images == 0) return Status::ok;
  if (!lie_aligned(args, k.read.tail)) return k.plain->run(args, conv_rows(g, args));
  const int64_t tiles = a.images * ceil_div(g.out_extent[2], int64_t{16}) * ceil_div(g.out_extent[1], int64_t{k.tile.y}) *
                        ceil_div(g.out_extent[0], int64_t{k.tile.z});
  const Grid grid{static_cast<unsigned>(std::min<int64_t>(tiles, 2 * k.processors)),
                  static_cast<unsigned>(k.read.few.blocks_of_filters()), 1};
  return launch(queue_of(args), k.function, grid, static_cast<unsigned>(32 * k.tile.warps()), static_cast<unsigned>(k.shared), &a,
                Start::early);
}

}  // namespace

Tactic cuda_conv_few() {
  return {.name = "conv_few",
          .op = "Conv",
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .formats = conv_formats,
          .packed_bytes = packed_bytes,
          .pack = pack,
          .unpack = unpack,
          .open = open,
          .run = run,
          .work = work};
}

}  // namespace tenfold::backends
