// conv_small_c: convolutions of images with few channels on tensor cores, with any epilogue.
#include "backends/cuda/codegen/byte_rounding.h"
#include "backends/cuda/codegen/conv/conv_small_c.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/conv/conv_gemm_common.h"
#include "backends/cuda/tactics/gemm/mma_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"
#include "ops/conv/conv_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

// {y, z, blocks}; what is pooled has two blocks of a warp above each other
constexpr int kPictures[][3] = {{16, 1, 2}, {16, 1, 4}, {8, 1, 1}, {4, 1, 1}},
              kPooled[][3] = {{16, 1, 2}, {16, 1, 4}, {8, 1, 2}, {4, 1, 2}}, kVolumes[][3] = {{8, 4, 4}, {8, 2, 2}, {4, 2, 1}};

ConvSmallCTile tile_of(const Config& c) { return {static_cast<int>(c[0]), static_cast<int>(c[1]), static_cast<int>(c[2])}; }

struct Read {
  SkinnyProblem few;
  Epilogue epilogue;
};
// Whether the image is wide: then the problem is read as if it were not, with channels innermost.
bool is_wide(const Problem& p) { return p.in[0].dtype == DType::f32 && p.in[1].dtype != DType::f32; }

// Dims of a picture's results before the largest are taken; as they are where something is not known.
ir::Dims unpooled(const Problem& p) {
  ir::Dims y = p.out[0].dims;
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims;
  if (x.size() != 4 || w.size() != 4) return y;
  const auto image = std::span(x).subspan(2), filter = std::span(w).subspan(2);
  if (!ir::is_constant(image) || !ir::is_constant(filter)) return y;
  const ops::Window window = ops::window_of(*p.attributes, image, ir::constants(filter));
  std::ranges::copy(ops::window_extents(*p.attributes, window, image), y.begin() + 2);
  return y;
}

Verdict read(const Problem& p, Read& r) {
  FusedGemm fused;
  Problem narrow = p;
  r.few.wide = is_wide(p);
  if (r.few.wide) {
    if (!p.numerics.allows(ir::rounding_to(p.in[1].dtype))) return Verdict::no("operands differ in type");
    if (!p.in[0].dense || p.in[0].layout != kPlain) return Verdict::no("the image does not lie plane by plane");
    narrow.in[0].dtype = p.in[1].dtype, narrow.in[0].layout = kChannelsLast;
  }
  r.few.pooled = p.op->name == "ConvMaxPool";
  if (r.few.pooled) {
    if (p.in[0].dims.size() != 4) return Verdict::no(cat("the input is ", p.in[0].dims.size() - 2, "-D; expected NCHW with H and W"));
    if (!p.out[0].dense) return Verdict::no("the output is strided; expected dense NHWC");
    narrow.out[0].dims = unpooled(p);
  }
  if (Verdict v = read_conv(narrow, fused); !v) return v;
  if (r.few.pooled && fused.gemm.out_extent[0] != 1) return Verdict::no("the pooled output has depth; expected a 2-D convolution");
  r.few.gemm = fused.gemm, r.epilogue = std::move(fused.epilogue);
  GemmProblem& g = r.few.gemm;
  g.epilogue = r.epilogue.operands;
  const std::optional<ByteRounding> bytes = r.epilogue.has_body ? byte_rounding(r.epilogue.body) : std::nullopt;
  if (g.out != g.in && !(bytes && bytes->type == g.out)) return Verdict::no("the result has another type");
  if (r.few.wide && p.in[1].dims[1] != ir::Dim(g.channels))
    return Verdict::no(cat("the weights have another C than the input (C = ", g.channels, "): grouped convolution"));
  if (!g.is_conv || g.channels > 7)
    return Verdict::no(g.is_conv ? cat("C = ", g.channels, "; at most 7") : "it is computed as a GEMM of 1x1 taps");
  if (g.n % 8 != 0 || g.dilation[2] != 1)
    return Verdict::no(g.n % 8 != 0 ? cat("K % 8 != 0 (K = ", g.n, " filters)") : "the innermost axis is dilated");
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
  for (const auto& t : r.few.pooled ? kPooled : kPictures)
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
  Problem plain = p;   // of the convolution before its pool, of whatever type its image is
  plain.in[0].dtype = p.in[1].dtype, plain.out[0].dims = p.op->name == "ConvMaxPool" ? unpooled(p) : p.out[0].dims;
  plain.in[0].layout = kChannelsLast;
  FusedGemm fused;
  return read_conv(plain, fused) ? gemm_work(fused) : 0;
}

// Weights as ConvSmallCArguments has them, and back.
void repack(const Problem& p, const void* from, void* to, bool back) {
  Read r;
  read(p, r);
  const SkinnyProblem& few = r.few;
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

// A wide image as it comes; or channels-last.
std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all = conv_formats(p);
  if (is_wide(p)) all[0].in[0] = kPlain;
  return all;
}

class Kernel {
 public:
  Kernel(const Problem& p, const Config& c, Opening& opening) : tile_(tile_of(c)), device_(device_of(*p.device)) {
    read(p, read_);
    if (read_.epilogue.has_body) read_.few.gemm.body = &read_.epilogue.body;
    processors_ = device_.multiprocessors(), shared_ = read_.few.shared_bytes(tile_);
    vectors_ = load(true, opening);
    if (p.may_be_misaligned()) singles_ = load(false, opening);
  }
  Status::Code run(const RunArgs& args) const noexcept {
    const GemmProblem& g = read_.few.gemm;
    ConvSmallCArguments a{args.in[0].data, args.in[1].data, args.out[0].data, {}, args.in[0].dims[0]};
    place_epilogue(args, read_.epilogue, a.epilogue);
    if (a.images == 0) return Status::ok;
    const Loaded& loaded = lie_well(args) ? vectors_ : singles_;
    if (!loaded.module) return Status::failed;
    const int64_t tiles = a.images * ceil_div(g.out_extent[2], int64_t{16}) * ceil_div(g.out_extent[1], int64_t{tile_.y}) *
                          ceil_div(g.out_extent[0], int64_t{tile_.z});
    const Grid grid{std::min<int64_t>(tiles, 2 * processors_), read_.few.blocks_of_filters()};
    return launch(queue_of(args), loaded.function, grid, static_cast<unsigned>(32 * tile_.warps()), static_cast<unsigned>(shared_), &a,
                  Start::early);
  }

 private:
  struct Loaded {
    std::shared_ptr<const LoadedModule> module;
    Function function = nullptr;
  };
  Loaded load(bool vectors, Opening& opening) const {
    Loaded loaded{device_.load(generate_conv_small_c(read_.few, tile_, vectors), opening), nullptr};
    loaded.function = loaded.module->function("conv", shared_);
    return loaded;
  }
  // The image may lie anywhere: it is read element by element.
  bool lie_well(const RunArgs& args) const noexcept {
    auto bits = reinterpret_cast<std::uintptr_t>(args.out[0].data);
    for (std::size_t o = 0; o < read_.epilogue.inputs.size(); ++o)
      if (read_.epilogue.operands[o].kind != EpilogueKind::single)
        bits |= reinterpret_cast<std::uintptr_t>(args.in[static_cast<std::size_t>(read_.epilogue.inputs[o])].data);
    return bits % 16 == 0;
  }

  Read read_;
  ConvSmallCTile tile_;
  Device& device_;
  int processors_ = 0, shared_ = 0;
  Loaded vectors_, singles_;   // the second for addresses that are not multiples of 16
};
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<Kernel>(p, c, opening);
}
Status::Code run(const void* self, const RunArgs& args) noexcept { return static_cast<const Kernel*>(self)->run(args); }

}  // namespace

Tactic cuda_conv_small_c() {
  return packed_tactic({.name = "conv_small_c", .ops = {"Conv", {"ConvMaxPool", "conv_small_c_max_pool"}},
                        .formats = formats,
                        .cases = {"Conv f16[1,3,56,56] f16[64,3,7,7]! f16[64]! pads=[3,3,3,3] strides=[2,2]",
                                  "Conv f32[3,3,57,45] f16[64,3,7,7]! f16[64]! pads=[3,3,3,3] strides=[2,2] "
                                  "numerics={round_to=f16}",
                                  "Conv f32[2,1,9,14,15] bf16[32,1,3,3,3]! bf16[32]! pads=[1,1,1,1,1,1] "
                                  "numerics={round_to=bf16}",
                                  "Conv f16[2,1,11,13,35] f16[24,1,3,3,3]! f16[24]! pads=[1,1,1,1,1,1]",
                                  "Conv f16[3,2,41,37] f16[96,2,5,4]! strides=[1,2] dilations=[2,1] pads=[1,0,1,2]"}},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, work});
}

}  // namespace tenfold::backends
