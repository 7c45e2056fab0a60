// topk_blocks: TopK of up to 1024, a block for each row: the best so far and the next elements are sorted together, unless none of
// these is good enough.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/reduce/topk_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kMostK = 1024;

struct Arguments {
  const void* x;
  void* values;
  int64_t* indices;
  int64_t n, k, inner;
};

// A key is larger where an element is better; the earlier of equals is.
constexpr const char* kKernel = R"(
struct Arguments { const T* x; T* values; i64* indices; i64 n, k, inner; };
extern "C" __global__ void __launch_bounds__(HALF) topk(const Arguments a) {
  enter();
  __shared__ u64 keys[2 * HALF];
  const i64 r = blockIdx.x;
  const T* x = a.x + r / a.inner * a.n * a.inner + r % a.inner;
  const auto key = [&](i64 i) { return i < a.n ? (u64)order(x[i * a.inner]) << 32 | (u32)~(u32)i : 0ull; };
  keys[threadIdx.x] = key(threadIdx.x);
  for (i64 first = HALF; first == HALF || first < a.n; first += HALF) {
    const u64 next = key(first + threadIdx.x);
    if (!__syncthreads_or(first == HALF || next > keys[a.k - 1])) continue;
    keys[HALF + threadIdx.x] = next;
    for (u32 length = 2; length <= 2 * HALF; length *= 2)
      for (u32 step = length / 2; step > 0; step /= 2) {
        __syncthreads();
        const u32 i = 2 * threadIdx.x - (threadIdx.x & (step - 1)), j = i + step;
        const bool descending = (i & length) == 0;
        const u64 p = keys[i], q = keys[j];
        if ((p < q) == descending) keys[i] = q, keys[j] = p;
      }
    __syncthreads();
  }
  if (threadIdx.x >= a.k) return;
  const i64 index = (i64)~(u32)keys[threadIdx.x], to = (r / a.inner * a.k + threadIdx.x) * a.inner + r % a.inner;
  a.values[to] = x[index * a.inner], a.indices[to] = index;
}
)";

Verdict supports(const Problem& p) {
  if (Verdict v = topk_fits(p); !v) return v;
  return Verdict::only_if(p.bounds(p.out[0].dims[topk_axis(p)]).upper <= kMostK, "k may be more than 1,024");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  std::size_t axis = 0;
  int half = 32;
};

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  auto k = std::make_shared<Kernel>();
  k->axis = topk_axis(p);
  const int64_t most = p.bounds(p.out[0].dims[k->axis]).upper, row = p.bounds(p.in[0].dims[k->axis]).upper;
  while (k->half < most || (k->half < 512 && 2 * k->half < row)) k->half *= 2;
  const std::string text = cat(prelude(), topk_order(p), "#define HALF ", k->half, "\n", kKernel);
  k->module = device_of(*p.device).load(text);
  k->function = k->module->function("topk");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  Arguments a{x.data, args.out[0].data, args.out[1].as<int64_t>(), x.dims[k.axis], args.out[0].dims[k.axis], 1};
  int64_t rows = 1;
  for (int d = 0; d < x.rank; ++d)
    if (d != static_cast<int>(k.axis)) rows *= x.dims[d], a.inner *= d > static_cast<int>(k.axis) ? x.dims[d] : 1;
  if (a.k > a.n || a.k > k.half) return Status::invalid_shape;
  if (a.k == 0 || rows == 0) return Status::ok;
  return launch(queue_of(args), k.function, {static_cast<unsigned>(rows)}, static_cast<unsigned>(k.half), 0, &a, Start::early);
}

}  // namespace

Tactic cuda_topk_blocks() {
  return {.name = "topk_blocks",
          .ops = {"TopK"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"TopK f16[5,3000] i64[1]{100}",
                    "TopK bf16[2,3,700] i64[1]{700}",
                    "TopK i32[4,5000,2](-90,90) i64[1]{1000} axis=1 largest=0",
                    "TopK f32[3,40000] i64[1]{7}"}};
}

}  // namespace tenfold::backends
