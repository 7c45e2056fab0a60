// pad_elements: Pad in every mode, 16 bytes of the result at a time; the kernel reads the counts.
#include <algorithm>

#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/copy_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kMostPadDims = 8, kThreads = 256, kBytes = 16;

// Dims in the order of the result's memory, the innermost last; `axis` says which of the operator's each is.
struct Arguments {
  const void *x, *pads, *axes, *value, *x_end;
  void* y;
  int64_t count, total, x_dims[kMostPadDims], x_strides[kMostPadDims], y_dims[kMostPadDims], axis[kMostPadDims];
};

// As the reference: a negative count crops first; what is left is repeated as the mode says. A thread writes WIDTH elements side by side,
// of one row or of two, and goes on with others: counts are read once for each block.
constexpr const char* kKernel = R"(
struct Arguments { const ELEMENT* x; const i64* pads; const AXIS* axes; const ELEMENT *value, *x_end; ELEMENT* y;
                   i64 count, total, xd[8], xs[8], yd[8], axis[8]; };
struct Counts { INT moved[RANK], cropped[RANK], extent[RANK]; };   // of each dim: elements before, elements cut off before, elements left
struct Row { i64 from; bool inside; };
__device__ __forceinline__ INT source(INT i, INT extent) {
  if (i >= 0 && i < extent) return i;
  if (MODE == 0 || extent <= 0) return -1;
  if (MODE == 1) return i < 0 ? 0 : extent - 1;
  const INT period = MODE == 2 ? extent : max((INT)1, 2 * (extent - 1)), folded = (i % period + period) % period;
  return folded < extent ? folded : period - folded;
}
__device__ __forceinline__ Row row_at(const Arguments& a, const Counts& c, INDEX row) {
  Row r{0, true};
  #pragma unroll
  for (int d = RANK - 2; d >= 0; --d) {
    const INDEX above = row / (INDEX)EXTENT(d);
    const INT at = source((INT)(row - above * (INDEX)EXTENT(d)) - c.moved[d], c.extent[d]);
    r.inside = r.inside && at >= 0;
    r.from += (i64)(at + c.cropped[d]) * a.xs[d];
    row = above;
  }
  return r;
}
#if BY_WORDS
constexpr int kSize = sizeof(ELEMENT);
// 16 bytes of the source from anywhere, by whole words; what lies before or behind the source counts as nought.
__device__ __forceinline__ void read_words(const Arguments& a, const ELEMENT* from, u32 (&w)[5]) {
  const u32* const words = (const u32*)((u64)from & ~3ull);
  if ((const void*)words >= (const void*)a.x && (const void*)(words + 5) <= (const void*)a.x_end) {
    #pragma unroll
    for (int i = 0; i < 5; ++i) w[i] = words[i];
  } else {
    #pragma unroll
    for (int i = 0; i < 5; ++i)
      w[i] = (const void*)(words + i + 1) > (const void*)a.x && (const void*)(words + i) < (const void*)a.x_end ? words[i] : 0;
  }
}
// Where outer dims have no pads, what lies within them repeats: a thread finds out once where its 16 bytes come from, which touch two rows
// at most, and writes them again and again, a period of whole 16 bytes further each time.
__device__ __forceinline__ bool pad_periods(const Arguments& a, const Counts& c, ELEMENT fill) {
  int dims = 0;
  while (dims < RANK && c.moved[dims] == 0 && a.xd[dims] == a.yd[dims] && c.extent[dims] == (INT)a.yd[dims]) ++dims;
  i64 inner = 1, outer = 1, source_inner = 1;
  for (int d = 0; d < RANK; ++d) d < dims ? outer *= a.yd[d] : (inner *= a.yd[d], source_inner *= a.xd[d]);
  int images = 1;   // of a period
  while (images * inner % WIDE != 0) images *= 2;
  const i64 periods = outer / images, vectors = images * inner / WIDE, threads = (i64)gridDim.x * THREADS;
  if (outer % images != 0 || periods < 8 || vectors > threads) return false;
  const i64 id = (i64)blockIdx.x * THREADS + threadIdx.x, v = id % vectors, first = id / vectors, step = threads / vectors;
  if (first >= step) return true;
  const INDEX length = (INDEX)EXTENT(RANK - 1), row = (INDEX)(v * WIDE) / length;
  const INT column = (INT)((INDEX)(v * WIDE) - row * length), at = column - c.moved[RANK - 1];
  const bool crosses = column + WIDE > (INT)length;
  const Row here = row_at(a, c, row), next = crosses ? row_at(a, c, row + 1) : here;
  u32 of_here[4] = {}, of_next[4] = {}, filled[4] = {};
  bool any_here = false, any_next = false;
  #pragma unroll
  for (int i = 0; i < WIDE; ++i) {
    const bool over = column + i >= (INT)length;
    const INT place = at + i - (over ? (INT)length : 0);
    const bool there = (over ? next.inside : here.inside) && place >= 0 && place < c.extent[RANK - 1];
    any_here |= there && !over, any_next |= there && over;
    #pragma unroll
    for (int w = 0; w < (kSize + 3) / 4; ++w) {
      const int word = i * kSize / 4 + w, shift = i * kSize % 4 * 8;
      const u32 mask = (kSize >= 4 ? ~0u : (1u << kSize % 4 * 8) - 1) << shift;
      of_here[word] |= there && !over ? mask : 0, of_next[word] |= there && over ? mask : 0;
      filled[word] |= there ? 0 : (u32)((u64)fill >> w * 32) << shift & mask;
    }
  }
  const ELEMENT* from = a.x + here.from + at + c.cropped[RANK - 1] + first * images * source_inner;
  const ELEMENT* from_next = a.x + next.from + at - (INT)length + c.cropped[RANK - 1] + first * images * source_inner;
  uint4* to = (uint4*)a.y + first * vectors + v;
  const i64 ahead = step * images * source_inner;
  const auto shifted = [](const u32 (&w)[5], int i, const ELEMENT* place) {
    return __funnelshift_r(w[i], w[i + 1], ((u32)(u64)place & 3) * 8);
  };
  constexpr int kAtOnce = 4;
  for (i64 p = first; p < periods; p += step * kAtOnce) {
    u32 one[kAtOnce][5], two[kAtOnce][5];
    #pragma unroll
    for (int u = 0; u < kAtOnce; ++u)
      if (any_here && p + u * step < periods) read_words(a, from + u * ahead, one[u]);
    #pragma unroll
    for (int u = 0; u < kAtOnce; ++u)
      if (any_next && p + u * step < periods) read_words(a, from_next + u * ahead, two[u]);
    #pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      u32 y[4];
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        y[i] = filled[i];
        if (any_here) y[i] |= shifted(one[u], i, from + u * ahead) & of_here[i];
        if (any_next) y[i] |= shifted(two[u], i, from_next + u * ahead) & of_next[i];
      }
      if (p + u * step < periods) to[u * step * vectors] = make_uint4(y[0], y[1], y[2], y[3]);
    }
    from += kAtOnce * ahead, from_next += kAtOnce * ahead, to += kAtOnce * step * vectors;
  }
  return true;
}
#endif
template <int WIDTH> __device__ __forceinline__ void pad_by(const Arguments& a) {
  enter();
  __shared__ Counts c;
  if (threadIdx.x < RANK) {
    const int d = threadIdx.x;
    i64 before = 0, after = 0;
    for (int s = 0; s < (int)a.count; ++s) {
      i64 axis = a.axes ? (i64)a.axes[s] : s;
      if (axis < 0) axis += RANK;
      if (axis == a.axis[d]) before = a.pads[s], after = a.pads[s + a.count];
    }
    const i64 cropped = min(a.xd[d], max((i64)0, -before));
    c.cropped[d] = (INT)cropped, c.moved[d] = (INT)max((i64)0, before);
    c.extent[d] = (INT)max((i64)0, a.xd[d] - cropped + min((i64)0, after));
  }
  __syncthreads();
  const ELEMENT fill = a.value ? *a.value : (ELEMENT)0;
#if BY_WORDS
  if (WIDTH == WIDE && pad_periods(a, c, fill)) return;
#endif
  const INDEX total = (INDEX)a.total, length = (INDEX)EXTENT(RANK - 1), stride = gridDim.x * (INDEX)THREADS * WIDTH;
  for (INDEX first = ((INDEX)blockIdx.x * THREADS + threadIdx.x) * WIDTH; first < total; first += stride) {
    const INDEX row = first / length;
    const INT column = (INT)(first - row * length);
    const Row here = row_at(a, c, row), next = WIDTH > 1 && column + WIDTH > (INT)length ? row_at(a, c, row + 1) : here;
    ELEMENT v[WIDTH];
    #pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
      const bool over = column + i >= (INT)length;
      const Row r = over ? next : here;
      const INT at = source(column + i - (over ? (INT)length : 0) - c.moved[RANK - 1], c.extent[RANK - 1]);
      const bool there = r.inside && at >= 0 && (WIDTH == 1 || first + i < total);
      v[i] = there ? a.x[r.from + (i64)(at + c.cropped[RANK - 1]) * LAST_STRIDE] : fill;
    }
    if (WIDTH == 1 || first + WIDTH <= total) {
      write<WIDTH>(a.y + first, v);
    } else {
      #pragma unroll
      for (int i = 0; i < WIDTH; ++i)
        if (first + i < total) a.y[first + i] = v[i];
    }
  }
}
extern "C" __global__ void __launch_bounds__(THREADS) vectors(const Arguments a) { pad_by<WIDE>(a); }
extern "C" __global__ void __launch_bounds__(THREADS) singles(const Arguments a) { pad_by<1>(a); }
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
  if (p.in[0].layout != p.out[0].layout) return Verdict::no("layouts differ");
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
  Function vectors = nullptr, singles = nullptr;
  int width = 1;
  int64_t most_blocks = 1;
  bool has_value = false, has_axes = false, channels_last = false;
  // The operator's axis that is dim `d` of the result's memory.
  int axis(int d, int rank) const { return !channels_last || d == 0 ? d : d == rank - 1 ? 1 : d + 1; }
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  const ir::Dims &x = p.in[0].dims, &y = p.out[0].dims;
  const int bytes = bits(p.in[0].dtype) / 8, rank = static_cast<int>(y.size());
  k->has_value = there(p, 2), k->has_axes = there(p, 3);
  k->channels_last = p.in[0].layout == kChannelsLast && rank > 2;
  k->width = kBytes / bytes;
  constexpr int64_t kMost32 = int64_t{1} << 30;   // reflecting doubles an extent
  const bool narrow = p.bounds(ir::product(y)).upper <= kMost32 && p.bounds(ir::product(x)).upper <= kMost32;
  std::string extents = cat("a.yd[d]");   // those that are known are divided by without a division
  for (int d = 0; d < rank; ++d)
    if (const ir::Dim extent = y[static_cast<std::size_t>(k->axis(d, rank))]; extent.is_constant() && extent.constant() > 0)
      extents = cat("(d) == ", d, " ? ", extent.constant(), " : ", extents);
  const std::string& mode = p.attributes->string("mode");
  const std::string text =
      cat(prelude(), "#define ELEMENT ", bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64", "\n#define AXIS ",
          storage_type(k->has_axes ? p.in[3].dtype : DType::i64), "\n#define MODE ",
          mode == "constant" ? 0 : mode == "edge" ? 1 : mode == "wrap" ? 2 : 3, "\n#define BY_WORDS ",
          mode == "constant" && p.in[0].dense ? 1 : 0,
          "\n#define RANK ", rank, "\n#define THREADS ", kThreads,
          "\n#define WIDE ", k->width, "\n#define INDEX ", narrow ? "u32" : "u64", "\n#define INT ", narrow ? "int" : "i64",
          "\n#define EXTENT(d) (", extents, ")\n#define LAST_STRIDE ", p.in[0].dense ? "1" : "a.xs[RANK - 1]", "\n", kKernel);
  Device& gpu = device_of(*p.device);
  constexpr int64_t kBlocksOfOne = 8;
  k->most_blocks = kBlocksOfOne * gpu.multiprocessors();
  k->module = gpu.load(text, opening);
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  Arguments a{x.data, args.in[1].data, k.has_axes ? args.in[3].data : nullptr, k.has_value ? args.in[2].data : nullptr,
              nullptr, y.data, args.in[1].dims[0] / 2, 1, {}, {}, {}, {}};
  int64_t elements = 1;
  for (int d = 0; d < x.rank; ++d) {
    const int axis = k.axis(d, x.rank);
    a.axis[d] = axis, a.x_dims[d] = x.dims[axis], a.x_strides[d] = x.strides[axis], a.y_dims[d] = y.dims[axis];
    a.total *= y.dims[axis], elements *= x.dims[axis];
  }
  a.x_end = static_cast<const char*>(x.data) + elements * (kBytes / k.width);
  if (a.total == 0) return Status::ok;
  // What a thread writes touches two rows at most.
  const bool wide = a.y_dims[x.rank - 1] >= k.width && reinterpret_cast<std::uintptr_t>(y.data) % kBytes == 0;
  const int64_t blocks = ceil_div(a.total, int64_t{kThreads} * (wide ? k.width : 1));
  return launch(queue_of(args), wide ? k.vectors : k.singles, {static_cast<unsigned>(std::min(blocks, k.most_blocks))}, kThreads, 0, &a,
                Start::early);
}

}  // namespace

Tactic cuda_pad_elements() {
  return {.name = "pad_elements",
          .ops = {"Pad"},
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run,
          .cases = {"Pad f16[2,20,30,5] i64[8]{0,1,2,3,0,-1,4,2} mode=\"reflect\"",
                    "Pad u8[2,20,30,5] i64[4]{3,2,1,-7} u8[]{7} i64[2]{1,-1}",
                    "Pad f16[4,20,6,9] i64[8]{0,0,1,1,0,0,1,1} f16[]{3}",  // what is padded alike
                    "Pad u8[128,5,15] i64[6]{0,1,2,0,1,1} u8[]{9}",
                    "Pad f32[64,9,8] i64[6]{0,3,2,0,-2,1}",
                    "Pad f32[6,5,3,8] i64[8]{0,0,0,3,0,0,-1,3}",
                    "Pad f64[50,3,8] i64[6]{0,0,1,0,0,0}",
                    "Pad bf16[7,9] i64[4]{-2,11,1,14} mode=\"wrap\"",
                    "Pad f32[70,9,8] i64[6]{0,3,2,1,3,2} mode=\"edge\""}};
}

}  // namespace tenfold::backends
