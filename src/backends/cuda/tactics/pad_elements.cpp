// pad_elements: Pad in every mode, a group of threads for each row of the result; the kernel reads the counts.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/copy_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kMostPadDims = 8, kThreads = 256;

// Dims in the order of the result's memory, the innermost last; `axis` says which of the operator's each is.
struct Arguments {
  const void *x, *pads, *axes, *value;
  void* y;
  int64_t count, rows, group, x_dims[kMostPadDims], x_strides[kMostPadDims], y_dims[kMostPadDims], axis[kMostPadDims];
};

// As the reference: a negative count crops first; what is left is repeated as the mode says.
constexpr const char* kKernel = R"(
struct Arguments { const ELEMENT* x; const i64* pads; const AXIS* axes; const ELEMENT* value; ELEMENT* y;
                   i64 count, rows, group, xd[8], xs[8], yd[8], axis[8]; };
__device__ __forceinline__ i64 source(i64 i, i64 extent) {
  if (i >= 0 && i < extent) return i;
  if (MODE == 0 || extent <= 0) return -1;
  if (MODE == 1) return i < 0 ? 0 : extent - 1;
  const i64 period = MODE == 2 ? extent : max((i64)1, 2 * (extent - 1)), folded = (i % period + period) % period;
  return folded < extent ? folded : period - folded;
}
extern "C" __global__ void __launch_bounds__(THREADS) pad(const Arguments a) {
  enter();
  __shared__ i64 moved[RANK], cropped[RANK], extent[RANK];   // of each dim: elements before, elements cut off before, elements left
  if (threadIdx.x < RANK) {
    const int d = threadIdx.x;
    i64 before = 0, after = 0;
    for (int s = 0; s < (int)a.count; ++s) {
      i64 axis = a.axes ? (i64)a.axes[s] : s;
      if (axis < 0) axis += RANK;
      if (axis == a.axis[d]) before = a.pads[s], after = a.pads[s + a.count];
    }
    cropped[d] = min(a.xd[d], max((i64)0, -before)), moved[d] = max((i64)0, before);
    extent[d] = max((i64)0, a.xd[d] - cropped[d] + min((i64)0, after));
  }
  __syncthreads();
  const u32 lane = threadIdx.x % (u32)a.group;
  const i64 row = ((i64)blockIdx.x * THREADS + threadIdx.x) / (u32)a.group;
  if (row >= a.rows) return;
  i64 rest = row, from = 0;
  bool inside = true;
  #pragma unroll
  for (int d = RANK - 2; d >= 0; --d) {
    const i64 at = source(rest % a.yd[d] - moved[d], extent[d]);
    inside = inside && at >= 0;
    from += (at + cropped[d]) * a.xs[d];
    rest /= a.yd[d];
  }
  const ELEMENT fill = a.value ? *a.value : (ELEMENT)0;
  constexpr int kLast = RANK - 1;
  ELEMENT* const to = a.y + row * a.yd[kLast];
  #pragma unroll 4
  for (i64 k = lane; k < a.yd[kLast]; k += a.group) {
    const i64 at = source(k - moved[kLast], extent[kLast]);
    to[k] = inside && at >= 0 ? a.x[from + (at + cropped[kLast]) * a.xs[kLast]] : fill;
  }
}
)";

bool there(const Problem& p, std::size_t i) { return i < p.in.size() && !p.in[i].missing; }

Verdict supports(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  if (bits(p.in[0].dtype) < 8 || bits(p.in[0].dtype) > 64 || p.in[0].dtype == DType::string)
    return Verdict::no("elements are not of 8 to 64 bits");
  if (p.in[1].dtype != DType::i64) return Verdict::no("pads are not i64");
  if (there(p, 3) && p.in[3].dtype != DType::i64 && p.in[3].dtype != DType::i32) return Verdict::no("axes are not i32 or i64");
  for (std::size_t i = 1; i < p.in.size(); ++i)
    if (there(p, i) && !p.in[i].dense) return Verdict::no("counts are not dense");
  if (!p.out[0].dense) return Verdict::no("the result is not dense");
  if (p.in[0].layout.order == Layout::channels_blocked || p.in[0].layout != p.out[0].layout)
    return Verdict::no("layouts differ or are blocked");
  const std::size_t rank = p.in[0].dims.size();
  if (rank < 1 || rank > kMostPadDims) return Verdict::no("too many dims, or none");
  return Verdict::only_if(p.bounds(ir::product(p.out[0].dims)).upper < int64_t{1} << 38, "too many elements");
}

std::vector<Formats> formats(const Problem& p) {
  std::vector<Layout> plain(p.in.size(), kPlain), last = plain;
  if (p.in[0].dims.size() < 3) return {{plain, {kPlain}}};
  last[0] = kChannelsLast;
  return {{plain, {kPlain}}, {last, {kChannelsLast}}};
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  bool has_value = false, has_axes = false, channels_last = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  auto k = std::make_shared<Kernel>();
  k->has_value = there(p, 2), k->has_axes = there(p, 3);
  k->channels_last = p.in[0].layout == kChannelsLast && p.in[0].dims.size() > 2;
  const int bytes = bits(p.in[0].dtype) / 8;
  const std::string& mode = p.attributes->string("mode");
  const std::string text =
      cat(prelude(), "#define ELEMENT ", bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64", "\n#define AXIS ",
          storage_type(k->has_axes ? p.in[3].dtype : DType::i64), "\n#define MODE ",
          mode == "constant" ? 0 : mode == "edge" ? 1 : mode == "wrap" ? 2 : 3, "\n#define RANK ", p.in[0].dims.size(),
          "\n#define THREADS ", kThreads, "\n", kKernel);
  k->module = Device::get(p.device->ordinal).load(text);
  k->function = k->module->function("pad");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  Arguments a{x.data, args.in[1].data, k.has_axes ? args.in[3].data : nullptr, k.has_value ? args.in[2].data : nullptr,
              y.data, args.in[1].dims[0] / 2, 1, 1, {}, {}, {}, {}};
  for (int d = 0; d < x.rank; ++d) {
    const int axis = !k.channels_last || d == 0 ? d : d == x.rank - 1 ? 1 : d + 1;
    a.axis[d] = axis, a.x_dims[d] = x.dims[axis], a.x_strides[d] = x.strides[axis], a.y_dims[d] = y.dims[axis];
    if (d < x.rank - 1) a.rows *= y.dims[axis];
  }
  const int64_t row = a.y_dims[x.rank - 1];
  if (a.rows == 0 || row == 0) return Status::ok;
  while (a.group < 32 && a.group < row) a.group *= 2;
  return launch(queue_of(args), k.function, {static_cast<unsigned>(ceil_div(a.rows * a.group, int64_t{kThreads}))}, kThreads, 0, &a,
                Start::early);
}

}  // namespace

Tactic cuda_pad_elements() {
  return {.name = "pad_elements", .op = "Pad", .supports = supports, .configs = one_config, .formats = formats, .open = open, .run = run};
}

}  // namespace tenfold::backends
