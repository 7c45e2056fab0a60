// resize_points: Resize over one to three spatial axes by nearest element or linearly; a thread writes 16 bytes of the result where they
// lie in one row, or are channels of one position.
#include <algorithm>

#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/copy_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kThreads = 256, kBytes = 16;

// Three spatial axes, the innermost last; those that a problem lacks have extent 1. `s` holds a scale for each axis of x, if sizes
// do not decide.
struct Arguments {
  const void* x;
  const void* scales;
  void* y;
  int64_t elements, channels;
  int64_t in[3], out[3], x_strides[5];   // of x: batch, channel, spatial
  float scale[3];
};

// Rounded after every operation, as the reference does: which element is nearest depends on it.
constexpr const char* kKernel = R"(
struct Arguments { const T* x; const float* scales; T* y; i64 elements, channels, in[3], out[3], xs[5]; float scale[3]; };
__device__ __forceinline__ float coordinate(float x, float scale, float in, i64 out) {
  if (TRANSFORM <= 1) return TRANSFORM == 1 && out <= 1 ? 0.f : __fsub_rn(__fdiv_rn(__fadd_rn(x, .5f), scale), .5f);
  if (TRANSFORM == 3) return __fdiv_rn(x, scale);
  const float wide = __fmul_rn(scale, in);
  return wide == 1.f ? 0.f : __fdiv_rn(__fmul_rn(x, __fsub_rn(in, 1.f)), __fsub_rn(wide, 1.f));
}
__device__ __forceinline__ i64 within(float at, i64 extent) { return max((i64)0, min(extent - 1, (i64)at)); }
struct Along { i64 left, right; float part; };   // elements of an axis of x, in strides, and how far it is from one to the other
__device__ __forceinline__ Along along(const Arguments& a, int d, INDEX position) {
  const float scale = SIZES ? a.scale[d] : a.scales[d - (3 - AXES) + 2], in = (float)a.in[d], at = (float)(i64)position;
  float x = a.in[d] == a.out[d] && scale == 1.f ? at : coordinate(at, scale, in, a.out[d]);
  x = fminf(fmaxf(x, -1.f), in);
  const float low = LINEAR ? floorf(x) : NEAREST == 0 ? floorf(x) : NEAREST == 1 ? ceilf(x)
                           : NEAREST == 2 ? floorf(__fadd_rn(x, .5f)) : ceilf(__fsub_rn(x, .5f));
  const i64 left = within(low, a.in[d]) * a.xs[2 + d];
  return {left, LINEAR ? within(low + 1.f, a.in[d]) * a.xs[2 + d] : left, LINEAR ? x - low : 0.f};
}
// COUNT results that lie side by side in x as well.
template <int COUNT> __device__ __forceinline__ void mix(const T* image, const Along (&at)[3], T (&y)[COUNT]) {
  if (!LINEAR) {
    read<COUNT>(image + at[0].left + at[1].left + at[2].left, y);
    return;
  }
  float sum[COUNT] = {};
  #pragma unroll
  for (int corner = 0; corner < 1 << AXES; ++corner) {
    float weight = 1.f;
    i64 from = 0;
    #pragma unroll
    for (int d = 3 - AXES; d < 3; ++d) {
      const bool second = corner >> (d - (3 - AXES)) & 1;
      weight *= second ? at[d].part : 1.f - at[d].part;
      from += second ? at[d].right : at[d].left;
    }
    if (weight == 0.f) continue;
    T x[COUNT];
    read<COUNT>(image + from, x);
    #pragma unroll
    for (int v = 0; v < COUNT; ++v) sum[v] += weight * LOADED(x[v]);
  }
  #pragma unroll
  for (int v = 0; v < COUNT; ++v) y[v] = STORED(sum[v]);
}
template <int WIDTH> __device__ __forceinline__ void resize_by(const Arguments& a) {
  enter();
  const INDEX i = ((INDEX)blockIdx.x * THREADS + threadIdx.x) * WIDTH;
  if (i >= (INDEX)a.elements) return;
  INDEX rest = i, channel = 0, position[3];
  if (LAST) channel = rest % (INDEX)CHANNELS, rest /= (INDEX)CHANNELS;
  #pragma unroll
  for (int d = 2; d >= 0; --d) position[d] = rest % (INDEX)EXTENT(d), rest /= (INDEX)EXTENT(d);
  if (!LAST) channel = rest % (INDEX)CHANNELS, rest /= (INDEX)CHANNELS;
  Along at[3] = {};
  #pragma unroll
  for (int d = 3 - AXES; d < (LAST ? 3 : 2); ++d) at[d] = along(a, d, position[d]);
  const T* image = a.x + (i64)rest * a.xs[0] + (i64)channel * a.xs[1];
  T y[WIDTH];
  if (LAST) {
    mix<WIDTH>(image, at, y);
  } else {
    #pragma unroll
    for (int v = 0; v < WIDTH; ++v) {
      T one[1];
      at[2] = along(a, 2, position[2] + v);
      mix<1>(image, at, one);
      y[v] = one[0];
    }
  }
  write<WIDTH>(a.y + i, y);
}
extern "C" __global__ void __launch_bounds__(THREADS) vectors(const Arguments a) { resize_by<WIDE>(a); }
extern "C" __global__ void __launch_bounds__(THREADS) singles(const Arguments a) { resize_by<1>(a); }
)";

bool there(const Problem& p, std::size_t i) { return i < p.in.size() && !p.in[i].missing; }
int one_of(const std::string& word, std::initializer_list<const char*> words) {
  int number = 0;
  for (const char* w : words) {
    if (word == w) return number;
    ++number;
  }
  return -1;
}
int transform_of(const Problem& p) {
  return one_of(p.attributes->string("coordinate_transformation_mode"),
                {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"});
}

Verdict supports(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  const ir::Attributes& a = *p.attributes;
  const DType t = p.in[0].dtype;
  const std::string& mode = a.string("mode");
  if (t != DType::f32 && t != DType::f16 && t != DType::bf16) return Verdict::no(cat("elements of type ", name(t)));
  const std::size_t rank = p.in[0].dims.size();
  if (rank < 3 || rank > 5) return Verdict::no("not one to three spatial dims");
  if (p.out[0].dims[0] != p.in[0].dims[0] || p.out[0].dims[1] != p.in[0].dims[1]) return Verdict::no("batch or channels are resized");
  if (!p.out[0].dense) return Verdict::no("the result is not dense");
  if (p.in[0].layout != p.out[0].layout || p.in[0].layout.order == Layout::channels_blocked)
    return Verdict::no("layouts differ or are blocked");
  if (mode != "nearest" && mode != "linear") return Verdict::no("mode " + mode);
  if (transform_of(p) < 0) return Verdict::no("coordinates by " + a.string("coordinate_transformation_mode"));
  if (a.integer("antialias") != 0) return Verdict::no("antialias");
  if (a.string("keep_aspect_ratio_policy") != "stretch") return Verdict::no("the aspect ratio is kept");
  if (a.has("axes")) return Verdict::no("axes are given");
  if (!there(p, 3) && (!there(p, 2) || p.in[2].dtype != DType::f32 || !p.in[2].dense)) return Verdict::no("neither sizes nor f32 scales");
  for (ir::Dim d : p.in[0].dims)
    if (p.bounds(d).lower < 1) return Verdict::no("the operand may be empty");
  return Verdict::only_if(p.bounds(ir::product(p.out[0].dims)).upper < int64_t{1} << 38, "too many elements");
}

std::vector<Formats> formats(const Problem& p) {
  std::vector<Layout> plain(p.in.size(), kPlain), last = plain;
  last[0] = kChannelsLast;
  return {{plain, {kPlain}}, {last, {kChannelsLast}}};
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  int width = 1;
  bool by_sizes = false, channels_last = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  auto k = std::make_shared<Kernel>();
  k->by_sizes = there(p, 3);
  const DType t = p.in[0].dtype;
  const int nearest = one_of(p.attributes->string("nearest_mode"), {"floor", "ceil", "round_prefer_ceil", "round_prefer_floor"});
  const ir::Dims& y = p.out[0].dims;
  const std::size_t axes = y.size() - 2;
  std::string extents = "a.out[d]";   // those that are known are divided by without a division
  for (std::size_t d = 0; d < axes; ++d)
    if (y[2 + d].is_constant()) extents = cat("(d) == ", 3 - axes + d, " ? ", y[2 + d].constant(), " : ", extents);
  for (std::size_t d = 0; d + axes < 3; ++d) extents = cat("(d) == ", d, " ? 1 : ", extents);
  constexpr int64_t kMost32 = (int64_t{1} << 31) - 1;
  k->width = kBytes * 8 / bits(t), k->channels_last = p.in[0].layout == kChannelsLast;
  const std::string text = cat(prelude(), "#define T ", storage_type(t), "\n#define LOADED(x) ", loaded(t, "(x)"), "\n#define STORED(x) ",
                               stored(t, "(x)"), "\n#define TRANSFORM ", transform_of(p), "\n#define NEAREST ", nearest < 0 ? 3 : nearest,
                               "\n#define LINEAR ", p.attributes->string("mode") == "linear" ? "true" : "false", "\n#define LAST ",
                               k->channels_last ? "true" : "false", "\n#define SIZES ", k->by_sizes ? "true" : "false",
                               "\n#define AXES ", axes, "\n#define THREADS ", kThreads, "\n#define WIDE ", k->width, "\n#define INDEX ",
                               p.bounds(ir::product(y)).upper <= kMost32 ? "u32" : "u64", "\n#define EXTENT(d) (", extents,
                               ")\n#define CHANNELS ", y[1].is_constant() ? cat(y[1].constant()) : "a.channels", "\n", kKernel);
  k->module = Device::get(p.device->ordinal).load(text);
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  return k;
}

// Results of a thread lie in one row; or they are channels of one position, and lie side by side in x, too.
bool writes_wide(const Kernel& k, const Arguments& a) noexcept {
  const auto whole = [&](int64_t n) { return n % k.width == 0; };
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % kBytes == 0; };
  if (!aligned(a.y)) return false;
  if (!k.channels_last) return whole(a.out[2]);
  return whole(a.channels) && aligned(a.x) && a.x_strides[1] == 1 && whole(a.x_strides[0]) &&
         std::all_of(a.x_strides + 2, a.x_strides + 5, whole);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  const int axes = x.rank - 2;
  Arguments a{x.data, k.by_sizes ? nullptr : args.in[2].data, y.data, y.dims[0] * y.dims[1], x.dims[1], {1, 1, 1}, {1, 1, 1},
              {x.strides[0], x.strides[1], 0, 0, 0}, {1, 1, 1}};
  for (int d = 3 - axes; d < 3; ++d) {
    const int axis = d - (3 - axes) + 2;
    a.in[d] = x.dims[axis], a.out[d] = y.dims[axis], a.x_strides[2 + d] = x.strides[axis];
    a.scale[d] = static_cast<float>(static_cast<double>(a.out[d]) / static_cast<double>(a.in[d]));
    a.elements *= y.dims[axis];
  }
  if (a.elements == 0) return Status::ok;
  const bool wide = writes_wide(k, a);
  const int64_t of_block = int64_t{kThreads} * (wide ? k.width : 1);
  return launch(queue_of(args), wide ? k.vectors : k.singles, {static_cast<unsigned>(ceil_div(a.elements, of_block))}, kThreads, 0, &a,
                Start::early);
}

}  // namespace

Tactic cuda_resize_points() {
  return {
      .name = "resize_points", .op = "Resize", .supports = supports, .configs = one_config, .formats = formats, .open = open, .run = run};
}

}  // namespace tenfold::backends
