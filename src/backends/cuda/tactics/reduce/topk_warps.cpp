// topk_warps: TopK of up to 32 of rows of up to 1,024 elements that lie together: a warp for each row, which it holds in registers. The
// k-th best of what its lanes (or halves of them) hold at best is a bound that few elements reach; these are sorted, 32 at a time.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/reduce/topk_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kMostK = 32, kMostOfRow = 1024, kWarps = 4, kRoom = 128;

struct Arguments {
  const void* x;
  void* values;
  int64_t* indices;
  int64_t rows, n, k;
};

// The key of an element is larger where it is better; of equals, that of the earlier one is. 16-bit floats differ in the upper 19 bits of
// their order, so that an index fits below.
constexpr const char* kKernel = R"(
struct Arguments { const T* x; T* values; i64* indices; i64 rows, n, k; };
#if HALVES
typedef u32 Key;
__device__ __forceinline__ u32 first_part(T x, int i) { return (order(x) & ~0x1fffu) | (u32)(0x1fff - i); }
__device__ __forceinline__ Key whole_key(u32 first, int) { return first; }
__device__ __forceinline__ int index_of(Key key) { return 0x1fff - (int)(key & 0x1fffu); }
#else
typedef u64 Key;
__device__ __forceinline__ u32 first_part(T x, int) { return order(x); }
__device__ __forceinline__ Key whole_key(u32 first, int i) { return (u64)first << 32 | (u32)~(u32)i; }
__device__ __forceinline__ int index_of(Key key) { return (int)~(u32)key; }
#endif
__device__ __forceinline__ u32 larger_or_smaller(u32 x, u32 y, bool larger) { return larger ? max(x, y) : min(x, y); }
__device__ __forceinline__ u64 larger_or_smaller(u64 x, u64 y, bool larger) { return (y > x) == larger ? y : x; }
// The largest first, or last, among the lanes of a warp.
template <bool RISES = false, class U> __device__ __forceinline__ void sort(U& x, int lane) {
  #pragma unroll
  for (int length = 2; length <= 32; length *= 2)
    #pragma unroll
    for (int step = length / 2; step > 0; step /= 2)
      x = larger_or_smaller(x, __shfl_xor_sync(~0u, x, step), (((lane & step) == 0) == ((lane & length) == 0)) != RISES);
}
// The largest first of what first rises, then falls, or the other way round.
template <class U> __device__ __forceinline__ void merge(U& x, int lane) {
  #pragma unroll
  for (int step = 16; step > 0; step /= 2) x = larger_or_smaller(x, __shfl_xor_sync(~0u, x, step), (lane & step) == 0);
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) topk(const Arguments a) {
  enter();
  __shared__ Key found[WARPS][ROOM];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = (int)LENGTH, k = (int)a.k;
  const i64 row = (i64)blockIdx.x * WARPS + warp;
  if (row >= a.rows) return;
  const T* x = a.x + row * n;
  T read[PER];
  #pragma unroll
  for (int i = 0; i < PER; ++i)
    if (i * 32 + lane < n) read[i] = x[i * 32 + lane];
  u32 keys[PER], most = 0, most_behind = 0;   // these: of the first and the second half
  #pragma unroll
  for (int i = 0; i < PER; ++i) {
    keys[i] = i * 32 + lane < n ? first_part(read[i], i * 32 + lane) : 0;
    if (HALVED && i >= PER / 2) most_behind = max(most_behind, keys[i]);
    else most = max(most, keys[i]);
  }
  u32 sorted = most;
  sort(sorted, lane);
  if (HALVED) {
    sort<true>(most_behind, lane);
    sorted = max(sorted, most_behind);
    merge(sorted, lane);
  }
  const u32 bound = __shfl_sync(~0u, sorted, k - 1);
  int own = 0, before = 0;   // elements that reach it: of this lane, and of those before
  #pragma unroll
  for (int i = 0; i < PER; ++i) own += keys[i] >= bound && i * 32 + lane < n;
  before = own;
  #pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(~0u, before, step);
    if (lane >= step) before += other;
  }
  const int count = __shfl_sync(~0u, before, 31);
  before -= own;
  Key best = 0;   // of each lane; the warp's are sorted
  const auto full = [&](int i) { return i * 32 + lane < n ? whole_key(keys[i], i * 32 + lane) : (Key)0; };
  const auto take = [&](Key next) {
    sort<true>(next, lane);
    best = max(best, next);
    merge(best, lane);
  };
  if (count <= ROOM) {
    if (own > 0) {
      #pragma unroll
      for (int i = 0; i < PER; ++i)
        if (keys[i] >= bound && i * 32 + lane < n) found[warp][before++] = full(i);
    }
    __syncwarp();
    if (lane < count) best = found[warp][lane];
    sort(best, lane);
    for (int first = 32; first < count; first += 32) take(first + lane < count ? found[warp][first + lane] : 0);
  } else {   // many are equal
    #pragma unroll
    for (int i = 0; i < PER; ++i)
      if (const Key next = full(i); __any_sync(~0u, next > __shfl_sync(~0u, best, k - 1))) take(next);
  }
  if (lane >= k) return;
  const i64 index = index_of(best);
  a.values[row * k + lane] = x[index], a.indices[row * k + lane] = index;
}
)";

Verdict supports(const Problem& p) {
  if (Verdict v = topk_fits(p); !v) return v;
  const std::size_t axis = topk_axis(p);
  if (axis + 1 != p.in[0].dims.size()) return Verdict::no("rows do not lie together");
  if (p.bounds(p.out[0].dims[axis]).upper > kMostK) return Verdict::no(cat("k may be more than ", kMostK));
  return Verdict::only_if(p.bounds(p.in[0].dims[axis]).upper <= kMostOfRow, "rows are longer than a warp holds");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  int64_t most = 0;
};

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  auto k = std::make_shared<Kernel>();
  k->most = std::max<int64_t>(p.bounds(p.in[0].dims.back()).upper, 1);
  const ir::Dim length = p.in[0].dims.back();
  const bool halves = p.in[0].dtype == DType::f16 || p.in[0].dtype == DType::bf16;
  // With twice as many maxima the bound of many is reached by fewer elements; of few it is tight enough.
  constexpr int64_t kFew = 12;
  const bool halved = p.bounds(p.out[0].dims.back()).upper > kFew && k->most > 32;
  k->module = device_of(*p.device)
                  .load(cat(prelude(), topk_order(p), "#define WARPS ", kWarps, "\n#define ROOM ", kRoom, "\n#define LENGTH ",
                            length.is_constant() ? cat(length.constant()) : "a.n", "\n#define PER ", ceil_div(k->most, int64_t{32}),
                            "\n#define HALVES ", halves ? 1 : 0, "\n#define HALVED ", halved ? "true" : "false", "\n",
                            kKernel));
  k->function = k->module->function("topk");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  Arguments a{x.data, y.data, args.out[1].as<int64_t>(), 1, x.dims[x.rank - 1], y.dims[y.rank - 1]};
  for (int d = 0; d + 1 < x.rank; ++d) a.rows *= x.dims[d];
  if (a.k > a.n || a.k > kMostK || a.n > k.most) return Status::invalid_shape;
  if (a.k == 0 || a.rows == 0) return Status::ok;
  return launch(queue_of(args), k.function, {static_cast<unsigned>(ceil_div(a.rows, int64_t{kWarps}))}, 32 * kWarps, 0, &a, Start::early);
}

}  // namespace

Tactic cuda_topk_warps() {
  return {.name = "topk_warps",
          .ops = {"TopK"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"TopK i32[7,1000](-3,3) i64[1]{32}",
                    "TopK f16[9,130] i64[1]{10} largest=0",
                    "TopK f16[9,512] i64[1]{32}",
                    "TopK bf16[5,1000](-3,3) i64[1]{27} largest=0",
                    "TopK f16[7,40] i64[1]{32}",
                    "TopK f32[6,512] i64[1]{32}"}};
}

}  // namespace tenfold::backends
