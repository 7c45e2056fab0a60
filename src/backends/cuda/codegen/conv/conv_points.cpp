// Printing convolutions of single positions.
#include "backends/cuda/codegen/conv/conv_points.h"

#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_tail.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kKernel = R"(
struct Arguments { const u16 *x, *w; OUT* y; const void* tail[8]; i64 rows, spatial; };
extern "C" __global__ void __launch_bounds__(THREADS) conv(const Arguments a) {
  const int lane = threadIdx.x % LANES;
  float w[N][8];
  #pragma unroll
  for (int n = 0; n < N; ++n) {
    u16 part[8];
    read<8>(a.w + n * K + lane * 8, part);
    #pragma unroll
    for (int v = 0; v < 8; ++v) w[n][v] = LOAD(part[v]);
  }
  enter();
  const i64 first = (i64)blockIdx.x * (THREADS / LANES * AT_ONCE) + threadIdx.x / LANES;
  u16 x[AT_ONCE][8];
  #pragma unroll
  for (int i = 0; i < AT_ONCE; ++i) {
    const u16* from = a.x + min(first + i * (THREADS / LANES), a.rows - 1) * K + lane * 8;
    if ((u64)a.x % 16 == 0) {
      read<8>(from, x[i]);
    } else {
      #pragma unroll
      for (int v = 0; v < 8; ++v) x[i][v] = from[v];
    }
  }
  #pragma unroll
  for (int i = 0; i < AT_ONCE; ++i) {
    const i64 m = first + i * (THREADS / LANES);
    #pragma unroll
    for (int n = 0; n < N; ++n) {
      float sum[1] = {0.f};
      #pragma unroll
      for (int v = 0; v < 8; ++v) sum[0] = fmaf(LOAD(x[i][v]), w[n][v], sum[0]);
      #pragma unroll
      for (int d = LANES / 2; d > 0; d /= 2) sum[0] += __shfl_xor_sync(~0u, sum[0], d);
      if (lane != n % LANES || m >= a.rows) continue;
      OUT y[1];
      TAIL
      a.y[PLAIN ? (m / a.spatial * N + n) * a.spatial + m % a.spatial : m * PITCH + n] = y[0];
    }
  }
}
)";

}  // namespace

std::string generate_conv_points(const PointsProblem& p) {
  const GemmProblem& g = p.gemm;
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("OUT", storage_type(g.out)), define("N", g.n), define("K", g.k), define("LANES", p.lanes()), define("THREADS", kPointsThreads);
  define("AT_ONCE", kPointsAtOnce), define("WIDTH", 1), define("PLAIN", p.plain_result ? 1 : 0), define("PITCH", g.row_pitch());
  define("LOAD(e)", loaded(g.in, "(e)"));
  std::string main = kKernel;
  replace_once(main, "      TAIL\n", print_tail(g, -1, [&](const std::string& y) { return cat("y[v] = ", stored(g.out, y), ";"); }));
  return cat(prelude(), head, main);
}

}  // namespace tenfold::backends::cuda
