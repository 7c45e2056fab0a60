// resize_points: Resize over one to three spatial axes by nearest element or linearly, a thread for each element of the result.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/copy_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kThreads = 256;

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
extern "C" __global__ void __launch_bounds__(THREADS) resize(const Arguments a) {
  enter();
  const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.elements) return;
  i64 rest = i, channel = 0, at[3], left[3], right[3];
  float along[3];
  if (LAST) channel = rest % a.channels, rest /= a.channels;
  #pragma unroll
  for (int d = 2; d >= 0; --d) at[d] = rest % a.out[d], rest /= a.out[d];
  if (!LAST) channel = rest % a.channels, rest /= a.channels;
  #pragma unroll
  for (int d = 0; d < 3; ++d) {
    left[d] = right[d] = 0, along[d] = 0.f;
    if (d < 3 - AXES) continue;
    const float scale = SIZES ? a.scale[d] : a.scales[d - (3 - AXES) + 2], in = (float)a.in[d];
    float x = a.in[d] == a.out[d] && scale == 1.f ? (float)at[d] : coordinate((float)at[d], scale, in, a.out[d]);
    x = fminf(fmaxf(x, -1.f), in);
    const float low = LINEAR ? floorf(x) : NEAREST == 0 ? floorf(x) : NEAREST == 1 ? ceilf(x)
                             : NEAREST == 2 ? floorf(__fadd_rn(x, .5f)) : ceilf(__fsub_rn(x, .5f));
    along[d] = LINEAR ? x - low : 0.f;
    left[d] = within(low, a.in[d]), right[d] = LINEAR ? within(low + 1.f, a.in[d]) : left[d];
  }
  const T* image = a.x + rest * a.xs[0] + channel * a.xs[1];
  if (!LINEAR) {
    a.y[i] = image[left[0] * a.xs[2] + left[1] * a.xs[3] + left[2] * a.xs[4]];
    return;
  }
  float sum = 0.f;
  #pragma unroll
  for (int corner = 0; corner < 1 << AXES; ++corner) {
    float weight = 1.f;
    i64 from = 0;
    #pragma unroll
    for (int d = 3 - AXES; d < 3; ++d) {
      const bool second = corner >> (d - (3 - AXES)) & 1;
      weight *= second ? along[d] : 1.f - along[d];
      from += (second ? right[d] : left[d]) * a.xs[2 + d];
    }
    if (weight != 0.f) sum += weight * LOADED(image[from]);
  }
  a.y[i] = STORED(sum);
}
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
  Function function = nullptr;
  bool by_sizes = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  auto k = std::make_shared<Kernel>();
  k->by_sizes = there(p, 3);
  const DType t = p.in[0].dtype;
  const int nearest = one_of(p.attributes->string("nearest_mode"), {"floor", "ceil", "round_prefer_ceil", "round_prefer_floor"});
  const std::string text = cat(prelude(), "#define T ", storage_type(t), "\n#define LOADED(x) ", loaded(t, "(x)"), "\n#define STORED(x) ",
                               stored(t, "(x)"), "\n#define TRANSFORM ", transform_of(p), "\n#define NEAREST ", nearest < 0 ? 3 : nearest,
                               "\n#define LINEAR ", p.attributes->string("mode") == "linear" ? "true" : "false", "\n#define LAST ",
                               p.in[0].layout == kChannelsLast ? "true" : "false", "\n#define SIZES ", k->by_sizes ? "true" : "false",
                               "\n#define AXES ", p.in[0].dims.size() - 2, "\n#define THREADS ", kThreads, "\n", kKernel);
  k->module = Device::get(p.device->ordinal).load(text);
  k->function = k->module->function("resize");
  return k;
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
  return launch(queue_of(args), k.function, {static_cast<unsigned>(ceil_div(a.elements, int64_t{kThreads}))}, kThreads, 0, &a,
                Start::early);
}

}  // namespace

Tactic cuda_resize_points() {
  return {
      .name = "resize_points", .op = "Resize", .supports = supports, .configs = one_config, .formats = formats, .open = open, .run = run};
}

}  // namespace tenfold::backends
