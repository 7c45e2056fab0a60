// cum_sum_lines: CumSum, a warp for each line, or a thread where lines lie side by side.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/elements_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kThreads = 128;
constexpr int64_t kSideBySide = 32;   // so many: neighbouring threads read neighbouring elements

struct Arguments {
  const void* x;
  void* y;
  int64_t lines, extent, inner;
};

constexpr const char* kKernel = R"(
struct Arguments { const ELEMENT* x; ELEMENT* y; i64 lines, extent, inner; };
__device__ __forceinline__ i64 place(const Arguments& a, i64 line, i64 e) {
  return (line / a.inner * a.extent + (REVERSE ? a.extent - 1 - e : e)) * a.inner + line % a.inner;
}
extern "C" __global__ void __launch_bounds__(THREADS) warps(const Arguments a) {
  enter();
  const int lane = threadIdx.x % 32;
  const i64 line = (i64)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
  if (line >= a.lines) return;
  SUM before = 0;
  for (i64 start = 0; start < a.extent; start += 32) {
    const bool there = start + lane < a.extent;
    const i64 at = place(a, line, start + lane);
    SUM sum = there ? (SUM)LOAD(a.x[at]) : (SUM)0;
    #pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const SUM left = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += left;
    }
    const SUM left = __shfl_up_sync(0xffffffffu, sum, 1), all = __shfl_sync(0xffffffffu, sum, 31);
    const SUM r = before + (!EXCLUSIVE ? sum : lane > 0 ? left : (SUM)0);
    if (there) a.y[at] = STORE(r);
    before += all;
  }
}
extern "C" __global__ void __launch_bounds__(THREADS) threads(const Arguments a) {
  enter();
  const i64 line = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (line >= a.lines) return;
  SUM sum = 0;
  for (i64 e = 0; e < a.extent; ++e) {
    const i64 at = place(a, line, e);
    const SUM before = sum;
    sum += (SUM)LOAD(a.x[at]);
    const SUM r = EXCLUSIVE ? before : sum;
    a.y[at] = STORE(r);
  }
}
)";

Verdict supports(const Problem& p) {
  if (p.in.size() > 1 && !p.in[1].missing) return Verdict::no("the axis is not known when building");
  if (!has_c_type(p.in[0].dtype) || p.in[0].dtype == DType::boolean) return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  for (const OperandDesc* o : {&p.in[0], &p.out[0]})
    if (!o->dense || o->layout != kPlain) return Verdict::no("an operand is not dense and plain");
  return Verdict::only_if(p.bounds(ir::product(p.in[0].dims)).upper < int64_t{1} << 31, "too many elements");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function warps = nullptr, threads = nullptr;
  int axis = 0;
};

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  auto k = std::make_shared<Kernel>();
  const DType type = p.in[0].dtype;
  const auto rank = static_cast<int64_t>(p.in[0].dims.size()), axis = p.attributes->integer("axis");
  k->axis = static_cast<int>(axis < 0 ? axis + rank : axis);
  const auto yes = [&](const char* name) { return p.attributes->integer(name) != 0 ? "true" : "false"; };
  const std::string sum(is_float(type) ? compute_type(type) : "long long");   // integers wrap when they are stored
  k->module = device_of(*p.device)
                  .load(cat(prelude(), "#define ELEMENT ", storage_type(type), "\n#define SUM ", sum, "\n#define LOAD(x) ",
                            loaded(type, "(x)"), "\n#define STORE(x) ", stored(type, "(x)"), "\n#define EXCLUSIVE ", yes("exclusive"),
                            "\n#define REVERSE ", yes("reverse"), "\n#define THREADS ", kThreads, "\n", kKernel));
  k->warps = k->module->function("warps"), k->threads = k->module->function("threads");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  Arguments a{x.data, args.out[0].data, 1, x.dims[k.axis], 1};
  for (int d = k.axis + 1; d < x.rank; ++d) a.inner *= x.dims[d];
  for (int d = 0; d < x.rank; ++d) a.lines *= d == k.axis ? 1 : x.dims[d];
  const bool side_by_side = a.inner >= kSideBySide;
  const int64_t lines_of_block = side_by_side ? kThreads : kThreads / 32;
  return launch(queue_of(args), side_by_side ? k.threads : k.warps, {static_cast<unsigned>(ceil_div(a.lines, lines_of_block))}, kThreads, 0,
                &a, Start::early);
}

}  // namespace

Tactic cuda_cum_sum_lines() {
  return {.name = "cum_sum_lines", .ops = {"CumSum"}, .supports = supports, .configs = one_config, .open = open, .run = run};
}

}  // namespace tenfold::backends
