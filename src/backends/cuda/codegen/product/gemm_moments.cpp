// Printing the kernels that tell of a product's rows.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_wgmma.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kMoments = R"(
struct Arguments { const void* from; float *inverse, *offset; i64 m; };
constexpr int kParts = N / COLUMNS;
__device__ __forceinline__ void tell(const Arguments& a, i64 m, float mean, float squares) {
  const float inverse = rsqrtf(squares * (1.0f / N) + EPSILON);
  a.inverse[m] = inverse, a.offset[m] = mean * inverse;
}
extern "C" __global__ void __launch_bounds__(THREADS) finish(Arguments a) {
  enter();
  const i64 m = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (m >= a.m) return;
  float2 part[kParts];
  float mean = 0.f, squares = 0.f;
  #pragma unroll
  for (int p = 0; p < kParts; ++p) part[p] = ((const float2*)a.from)[p * a.m + m];
  #pragma unroll
  for (int p = 0; p < kParts; ++p) {
    part[p].x *= 1.0f / COLUMNS;
    mean += part[p].x * (1.0f / kParts), squares += max(part[p].y - COLUMNS * part[p].x * part[p].x, 0.f);
  }
  #pragma unroll
  for (int p = 0; p < kParts; ++p) squares += COLUMNS * (part[p].x - mean) * (part[p].x - mean);
  tell(a, m, mean, squares);
}
extern "C" __global__ void __launch_bounds__(THREADS) plain(Arguments a) {
  enter();
  __shared__ float room[32];
  const u16* x = (const u16*)a.from + (i64)blockIdx.x * N;
  float sum = 0.f, squares = 0.f;
  for (int n = threadIdx.x; n < N; n += THREADS) sum += LOAD(x[n]);
  const float mean = over_block<Sum, THREADS>(sum, 0.f, room) * (1.0f / N);
  for (int n = threadIdx.x; n < N; n += THREADS) squares += (LOAD(x[n]) - mean) * (LOAD(x[n]) - mean);
  squares = over_block<Sum, THREADS>(squares, 0.f, room);
  if (threadIdx.x == 0) tell(a, blockIdx.x, mean, squares);
}
)";

}  // namespace

std::string generate_moments(const GemmProblem& p, int columns, double epsilon) {
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("N", p.n), define("COLUMNS", columns), define("THREADS", kMomentsThreads), define("EPSILON", cat(epsilon, "f"));
  define("LOAD(x)", loaded(p.out, "(x)"));
  return cat(prelude(), head, kMoments);
}

}  // namespace tenfold::backends::cuda
