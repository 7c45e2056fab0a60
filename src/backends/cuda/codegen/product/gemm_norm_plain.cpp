// Printing a product and the norm of its rows where addresses are such that TMA does not take them: a block for each row.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_wgmma.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kPlain = R"(
struct Arguments { const u16 *a, *b, *r; u16 *y, *s; const void* tail[3]; };
constexpr int kSteps = (N + THREADS - 1) / THREADS;
extern "C" __global__ void __launch_bounds__(THREADS) plain(Arguments a) {
  enter();
  __shared__ float room[32];
  const u16* x = a.a + (i64)blockIdx.x * K;
  float v[kSteps], sum = 0.f, squares = 0.f;
  #pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    const int n = i * THREADS + threadIdx.x;
    v[i] = 0.f;
    if (n >= N) continue;
    for (int k = 0; k < K; ++k) v[i] += LOAD(x[k]) * LOAD(a.b[(i64)n * K + k]);
    if (HAS_ROW) v[i] += LOAD_ROW(((const ROW*)a.tail[2])[n]);
    if (STAGED) v[i] += LOAD(a.r[(i64)blockIdx.x * N + n]);
    if (KEPT) a.s[(i64)blockIdx.x * N + n] = STORE(v[i]);
    sum += v[i];
  }
  const float mean = over_block<Sum, THREADS>(sum, 0.f, room) * (1.0f / N);
  #pragma unroll
  for (int i = 0; i < kSteps; ++i) squares += i * THREADS + threadIdx.x < N ? (v[i] - mean) * (v[i] - mean) : 0.f;
  const float inverse = rsqrtf(over_block<Sum, THREADS>(squares, 0.f, room) * (1.0f / N) + EPSILON);
  #pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    const int n = i * THREADS + threadIdx.x;
    if (n >= N) continue;
    const float y = (v[i] - mean) * inverse * LOAD_SCALE(((const SCALE*)a.tail[0])[n]) + LOAD_BIAS(((const BIAS*)a.tail[1])[n]);
    a.y[(i64)blockIdx.x * N + n] = STORE(y);
  }
}
)";

}  // namespace

std::string norm_definitions(const ProductNormProblem& p) {
  std::string head;
  const auto define = [&](const std::string& name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("BF16", p.type == DType::bf16 ? 1 : 0), define("N", p.n), define("K", p.k), define("THREADS", kPlainNormThreads);
  define("STAGED", p.added ? 1 : 0), define("KEPT", p.kept ? 1 : 0), define("HAS_ROW", p.has_row ? 1 : 0);
  define("EPSILON", cat(p.epsilon, "f")), define("LOAD(x)", loaded(p.type, "(x)")), define("STORE(x)", stored(p.type, "(x)"));
  const auto constant = [&](const std::string& name, DType type) {
    define(name, storage_type(type)), define("LOAD_" + name + "(x)", loaded(type, "(x)"));
  };
  constant("SCALE", p.scale), constant("BIAS", p.bias), constant("ROW", p.row);
  return head;
}

std::string generate_plain_norm(const ProductNormProblem& p) { return cat(prelude(), norm_definitions(p), kPlain); }

}  // namespace tenfold::backends::cuda
