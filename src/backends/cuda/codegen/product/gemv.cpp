// Printing products of few rows.
#include "backends/cuda/codegen/product/gemv.h"

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kKernel = R"(
struct Arguments { const IN* a; const IN* b; OUT* y; const void* tail[TAIL_SLOTS]; i64 m; };
template <int V> __device__ __forceinline__ void add(float (&sum)[ROWS], const IN (&w)[V], const IN* a, i64 first, i64 count) {
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (first + r >= count) break;
    IN x[V];
    read<V>(a + (first + r) * K, x);
    #pragma unroll
    for (int v = 0; v < V; ++v) sum[r] += LOAD(x[v]) * LOAD(w[v]);
  }
}
template <int V> __device__ __forceinline__ void compute(const Arguments& a) {
  constexpr int kSteps = (K + 32 * V - 1) / (32 * V), kAhead = kSteps < 8 ? kSteps : 8;
  const int lane = threadIdx.x % 32, n = blockIdx.x * WARPS + threadIdx.x / 32;
  const i64 first = (i64)blockIdx.y * ROWS;
  const IN* b = a.b + (i64)n * K;
  IN ahead[kAhead][V];
  #pragma unroll
  for (int s = 0; s < kAhead; ++s)
    if (n < N && (s * 32 + lane) * V < K) read<V>(b + (s * 32 + lane) * V, ahead[s]);
  enter();   // weights do not depend on the kernel before
  if (n >= N) return;
  float sum[ROWS] = {};
  #pragma unroll
  for (int s = 0; s < kAhead; ++s)
    if ((s * 32 + lane) * V < K) add<V>(sum, ahead[s], a.a + (s * 32 + lane) * V, first, a.m);
  #pragma unroll 4
  for (int s = kAhead; s < kSteps; ++s) {
    if ((s * 32 + lane) * V >= K) break;
    IN w[V];
    read<V>(b + (s * 32 + lane) * V, w);
    add<V>(sum, w, a.a + (s * 32 + lane) * V, first, a.m);
  }
  float mine = 0.f;
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const float all = over_warp<Sum>(sum[r]);
    if (lane == r) mine = all;
  }
  const i64 m = first + lane;
  if (lane >= ROWS || m >= a.m) return;
  TAIL
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) vectors(Arguments a) { compute<WIDTH>(a); }
extern "C" __global__ void __launch_bounds__(32 * WARPS) singles(Arguments a) { compute<1>(a); }
)";

std::string tail_of_one(const GemmProblem& p) {
  std::string out;
  std::vector<std::string> inputs{"mine"}, results{"mine"};
  for (std::size_t o = 0; o < p.tail.size(); ++o) {
    const DType dtype = p.tail[o].dtype;
    const TailKind kind = p.tail[o].kind;
    const char* at = kind == TailKind::single ? "0" : kind == TailKind::column ? "n" : kind == TailKind::row ? "m" : "m * N + n";
    out += cat("const ", storage_type(dtype), " x", o, " = ((const ", storage_type(dtype), "*)a.tail[", o, "])[", at, "];\n");
    out += cat("  const ", compute_type(dtype), " e", o, " = ", loaded(dtype, cat("x", o)), ";\n  ");
    inputs.push_back(cat("e", o));
  }
  if (p.body) out += print_body(*p.body, inputs, "t", "  ", results);
  return out + cat("  a.y[m * N + n] = ", stored(p.out, results[0]), ";");
}

}  // namespace

std::string generate_gemv(const GemmProblem& p, int rows) {
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  std::int64_t width = 128 / bits(p.in);
  while (p.k % width != 0) width /= 2;
  define("IN", storage_type(p.in)), define("OUT", storage_type(p.out)), define("LOAD(x)", loaded(p.in, "(x)"));
  define("N", p.n), define("K", p.k), define("ROWS", rows), define("WARPS", gemv_warps(p, rows)), define("WIDTH", width);
  define("TAIL_SLOTS", kMostTail);
  std::string text = kKernel;
  text.replace(text.find("TAIL\n"), 4, tail_of_one(p));
  return cat(prelude(), head, text);
}

}  // namespace tenfold::backends::cuda
