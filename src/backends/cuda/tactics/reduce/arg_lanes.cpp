// arg_lanes: ArgMax and ArgMin along any axis, of every type: a thread for each result, or a block where the axis is
// long. Elements are ordered by value and then by place, so that it does not matter in which order they are met.
#include "backends/cuda/tactics/threads_common.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
// NaN is chosen before all numbers, as numpy does; of equals the first, or the last.
__device__ __forceinline__ bool is_better(C0 x, i64 at, C0 y, i64 than) {
  const bool earlier = LAST ? at > than : at < than, no_x = x != x, no_y = y != y;
  if (no_x || no_y) return no_x && (!no_y || earlier);
  return x == y ? earlier : LARGEST ? y < x : x < y;
}
__device__ __forceinline__ const T0* line_of(const Arguments& a, i64 i) {
  i64 at[8], from = 0;
  places<RANKY0>(a.out[0], i, at);
  #pragma unroll
  for (int d = 0; d < RANK0; ++d)
    if (d != AXIS) from += at[RANKY0 == RANK0 || d < AXIS ? d : d - 1] * a.in[0].s[d];
  return (const T0*)a.in[0].p + from;
}
__device__ __forceinline__ void walk(const T0* x, i64 step, i64 extent, i64 first, i64 by, C0& best, i64& place) {
  best = LOAD0(x[first * step]), place = first;
  for (i64 k = first + by; k < extent; k += by) {
    const C0 e = LOAD0(x[k * step]);
    if (is_better(e, k, best, place)) best = e, place = k;
  }
}
RULE(thread) {
  C0 best;
  i64 place;
  walk(line_of(a, i), a.in[0].s[AXIS], a.in[0].d[AXIS], 0, 1, best, place);
  ((TY0*)a.out[0].p)[linear<RANKY0>(a.out[0], i)] = place;
}
extern "C" __global__ void __launch_bounds__(THREADS) kernel_block(const __grid_constant__ Arguments a) {
  enter();
  __shared__ C0 values[THREADS];
  __shared__ i64 at[THREADS];
  const int t = threadIdx.x;
  C0 best;
  i64 place;
  walk(line_of(a, blockIdx.x), a.in[0].s[AXIS], a.in[0].d[AXIS], t, THREADS, best, place);
  values[t] = best, at[t] = place;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half && is_better(values[t + half], at[t + half], values[t], at[t])) values[t] = values[t + half], at[t] = at[t + half];
  }
  if (t == 0) ((TY0*)a.out[0].p)[linear<RANKY0>(a.out[0], blockIdx.x)] = at[0];
}
)";

std::size_t axis_of(const Problem& p) {
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  return static_cast<std::size_t>((p.attributes->integer("axis") + rank) % rank);
}

Verdict supports(const Problem& p) {
  if (p.in[0].dims.empty()) return Verdict::no("a scalar has no axis");
  if (!has_c_type(p.in[0].dtype) || p.in[0].dtype == DType::f8e4m3fn) return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  if (p.bounds(p.in[0].dims[axis_of(p)]).lower < 1) return Verdict::no("the axis may be empty");
  if (p.bounds(ir::product(p.out[0].dims)).upper >= std::int64_t{1} << 31) return Verdict::no("too many results");
  return can_generate_threads(p);
}

struct Kernel {
  OpenThreads threads;
  std::size_t axis;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::size_t axis = axis_of(p);
  const std::string head = defined("AXIS", axis) + defined("LARGEST", p.op->name == "ArgMax" ? "true" : "false") +
                           defined("LAST", p.attributes->integer("select_last_index") != 0 ? "true" : "false");
  return std::make_shared<Kernel>(Kernel{OpenThreads(p, opening, head, kRule, {"thread", "block"}), axis});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const std::int64_t extent = args.in[0].dims[k.axis], results = elements_of(args.out[0]);
  constexpr std::int64_t kManyResults = 1 << 16;
  const bool blocks = extent >= kThreadsOfBlock && results < kManyResults;
  return k.threads.run(args, blocks ? 1 : 0, results, blocks ? results : -1);
}

}  // namespace

Tactic cuda_arg_lanes() {
  return {.name = "arg_lanes",
          .ops = {{"ArgMax", "arg_max_lanes"}, {"ArgMin", "arg_min_lanes"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"ArgMax f32[3,1000] axis=1",
                    "ArgMin i32[700,3](-9,9) axis=0 select_last_index=1"}};
}

}  // namespace tenfold::backends
