// resize_strips: Resize over one to three spatial axes by nearest element, linearly or by cubic filters; a thread writes 16 bytes of row
// after row, and reads each row of the source once.
#include <algorithm>

#include "backends/cuda/codegen/resize/resize.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/copy_common.h"
#include "backends/problems/resize_axes.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kBytes = 16;

bool there(const Problem& p, std::size_t i) { return i < p.in.size() && !p.in[i].missing; }

Verdict supports(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  const ir::Attributes& a = *p.attributes;
  const ir::Dims &x = p.in[0].dims, &y = p.out[0].dims;
  const DType t = p.in[0].dtype;
  if (t != DType::f32 && t != DType::f16 && t != DType::bf16) return Verdict::no(cat("elements of type ", name(t)));
  if (x.size() < 3 || x.size() > 5) return Verdict::no("not one to three spatial dims");
  if (y[0] != x[0] || y[1] != x[1]) return Verdict::no("batch or channels are resized");
  if (!p.out[0].dense) return Verdict::no("the result is not dense");
  if (p.in[0].layout != p.out[0].layout) return Verdict::no("layouts differ");
  if (resize_taps_of(p) == 0) return Verdict::no("mode " + a.string("mode"));
  if (resize_taps_of(p) == 4 && x.size() == 5) return Verdict::no("a cubic filter over three axes");
  if (resize_transform_of(p) < 0) return Verdict::no("coordinates by " + a.string("coordinate_transformation_mode"));
  if (a.integer("antialias") != 0) return Verdict::no("antialias");
  if (a.string("keep_aspect_ratio_policy") != "stretch") return Verdict::no("the aspect ratio is kept");
  if (Verdict v = resizes_spatial_axes(p); !v) return v;
  for (ir::Dim d : x)
    if (p.bounds(d).lower < 1) return Verdict::no("the operand may be empty");
  constexpr int64_t kMax = int64_t{1} << 30;   // extents, and blocks of a launch
  ir::Dim rows = 1;
  for (std::size_t d = 2; d < x.size(); ++d) {
    if (p.bounds(x[d]).upper > kMax || p.bounds(y[d]).upper > kMax) return Verdict::no("an extent of more than 2^30");
    if (d + 1 < x.size()) rows = rows * y[d];
  }
  if (p.bounds(rows).upper > kMax) return Verdict::no("too many rows");
  return Verdict::only_if(p.bounds(ir::product(y)).upper < int64_t{1} << 38, "too many elements");
}

// Rows that a thread writes: few for many threads, or many that share what they read; and blocks that a multiprocessor is to hold.
std::vector<Config> configs(const Problem& p) {
  const bool deep = p.out[0].dims.size() == 5;
  const int taps = resize_taps_of(p), blocks = taps == 1 ? 4 : 3;
  if (p.out[0].dims.size() == 3) return {{1, blocks}};
  std::vector<Config> all;
  for (const int rows : {16, 8, 4}) {
    all.push_back({rows, blocks});
    if (taps == 2 && !deep) all.push_back({rows, blocks + 1});
  }
  return all;
}
Verdict valid(const Problem&, const Config& c) {
  return Verdict::only_if(c.size() == 2 && c[0] >= 1 && c[0] <= 128 && c[1] >= 1 && c[1] <= 8, "not 1 to 128 rows and 1 to 8 blocks");
}

std::vector<Formats> formats(const Problem& p) {
  std::vector<Layout> plain(p.in.size(), kPlain), last = plain;
  last[0] = kChannelsLast;
  return {{plain, {kPlain}}, {last, {kChannelsLast}}};
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  int width = 1, window = 0, rows = 1, bytes = 1;
  bool by_sizes = false, channels_last = false, apart = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  const ResizeKernel generated = generate_resize(p, static_cast<int>(c[0]), static_cast<int>(c[1]));
  auto k = std::make_shared<Kernel>();
  k->width = generated.width, k->window = generated.window, k->rows = static_cast<int>(c[0]), k->bytes = bits(p.in[0].dtype) / 8;
  k->by_sizes = there(p, 3), k->channels_last = p.in[0].layout == kChannelsLast, k->apart = generated.apart;
  k->module = device_of(*p.device).load(generated.source, opening);
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  return k;
}

// Whether `length` elements at multiples of that may be read at once from x, or written to a dense y.
bool lie_aligned(const void* data, int length, int bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(std::min(length * bytes, kBytes)) == 0;
}
bool reads_at_once(const Kernel& k, const ResizeArguments& a, int length) noexcept {
  const auto whole = [&](int64_t n) { return n % std::min(length, kBytes / k.bytes) == 0; };
  const int inner = k.channels_last ? 1 : 4;
  bool all = lie_aligned(a.x, length, k.bytes) && a.x_strides[inner] == 1;
  for (int d = 0; d < 5; ++d) all = all && (d == inner || whole(a.x_strides[d]));
  return all;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  const int axes = x.rank - 2;
  ResizeArguments a{x.data, k.by_sizes ? nullptr : args.in[2].data, y.data, 0, x.dims[1], {x.strides[0], x.strides[1], 0, 0, 0}, {1, 1, 1},
                    {1, 1, 1}, {1, 1, 1}, 1, 0, 1};
  for (int d = 3 - axes; d < 3; ++d) {
    const int axis = d - (3 - axes) + 2;
    a.in[d] = static_cast<std::int32_t>(x.dims[axis]), a.out[d] = static_cast<std::int32_t>(y.dims[axis]);
    a.x_strides[2 + d] = x.strides[axis];
    a.scale[d] = static_cast<float>(static_cast<double>(a.out[d]) / static_cast<double>(a.in[d]));
  }
  const int64_t cut = k.channels_last ? a.channels : a.out[2];
  const bool wide = cut % k.width == 0 && (k.apart || lie_aligned(a.y, k.width, k.bytes)) &&
                    (!k.channels_last || reads_at_once(k, a, k.width));
  a.by_windows = wide && k.window > 0 && reads_at_once(k, a, k.window);
  a.items = y.dims[0] * a.channels * a.out[2] / (wide ? k.width : 1);
  if (a.items == 0 || a.out[0] == 0 || a.out[1] == 0) return Status::ok;
  const int64_t of_depth = ceil_div(int64_t{a.out[1]}, int64_t{k.rows});
  a.strips = static_cast<std::uint32_t>(a.out[0] * of_depth);
  a.rows = static_cast<std::int32_t>(ceil_div(int64_t{a.out[1]}, of_depth));   // alike, and not more than k.rows
  const auto blocks = static_cast<unsigned>(ceil_div(a.items, int64_t{kResizeThreads}) * a.strips);
  return launch(queue_of(args), wide ? k.vectors : k.singles, {blocks}, kResizeThreads, 0, &a, Start::early);
}

}  // namespace

Tactic cuda_resize_strips() {
  return {.name = "resize_strips",
          .version = 2,
          .ops = {"Resize"},
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .formats = formats,
          .open = open,
          .run = run,
          .cases = {"Resize f32[2,3,5,12] _ f32[2]{3,2} axes=[2,3] mode=\"cubic\"",
                    "Resize f32[1,2,30,26] _ _ i64[4]{1,2,32,7} coordinate_transformation_mode=\"asymmetric\" "
                    "nearest_mode=\"round_prefer_ceil\"",
                    "Resize f32[1,2,26,39] _ _ i64[4]{1,2,7,11} coordinate_transformation_mode=\"align_corners\" "
                    "nearest_mode=\"floor\"",
                    "Resize f32[1,8,9,7] _ _ i64[4]{1,8,5,16} mode=\"cubic\" exclude_outside=1 "
                    "coordinate_transformation_mode=\"half_pixel_symmetric\"",
                    "Resize f32[1,3,12,16] _ f32[2]{2.5,1} axes=[2,3] "
                    "coordinate_transformation_mode=\"tf_half_pixel_for_nn\" nearest_mode=\"floor\"",
                    "Resize f16[2,3,14,13] _ _ i64[4]{2,3,19,21} mode=\"linear\"",
                    "Resize bf16[1,2,9,10] _ _ i64[4]{1,2,20,33} mode=\"cubic\"",
                    "Resize f16[1,3,33,41] _ _ i64[4]{1,3,14,15}",
                    "Resize f16[2,19,13,17] _ f32[2]{2,2} axes=[2,3] mode=\"linear\"",
                    "Resize bf16[2,19,17] _ _ i64[3]{2,19,40} "
                    "coordinate_transformation_mode=\"pytorch_half_pixel\" nearest_mode=\"ceil\"",
                    "Resize f32[1,8,13,17] _ f32[2]{0.6,1.7} axes=[2,3] nearest_mode=\"round_prefer_ceil\"",
                    "Resize f16[2,16,21,24] _ f32[2]{2,2} axes=[2,3] mode=\"linear\"",
                    "Resize f16[1,8,20,12] _ _ i64[4]{1,8,40,24}",
                    "Resize bf16[1,8,6,7,12] _ f32[3]{2,2,2} axes=[2,3,4] mode=\"linear\" "
                    "coordinate_transformation_mode=\"pytorch_half_pixel\"",
                    "Resize f16[1,24,22,32] _ f32[2]{0.5,0.5} axes=[2,3] mode=\"linear\"",
                    "Resize f16[1,3,11,16] _ f32[2]{2.1,4.01} axes=[2,3] mode=\"linear\"",
                    "Resize f16[2,8,9,16] _ f32[2]{4,4} axes=[2,3] mode=\"cubic\"",
                    "Resize f16[3,5,20,28] _ _ i64[4]{3,5,27,75} mode=\"linear\"",  // rows that no vector divides
                    "Resize bf16[2,3,31,40] _ _ i64[4]{2,3,50,63}",
                    "Resize f32[1,2,9,30] _ _ i64[4]{1,2,20,45} mode=\"cubic\""}};
}

}  // namespace tenfold::backends
