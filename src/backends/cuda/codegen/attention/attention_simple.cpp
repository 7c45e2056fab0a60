// Printing attention of any float type, a block for each query; and what becomes of a result.
#include "backends/cuda/codegen/attention/attention.h"
#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_tail.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kSimple = R"(
extern "C" __global__ void __launch_bounds__(THREADS) attention(Arguments a) {
  enter();
  extern __shared__ float scores[];
  __shared__ float room[32];
  if (clears_rest(a)) return;
  const i64 row = blockIdx.x, head = blockIdx.y, batch = blockIdx.z;
  const Rows rows = rows_of(a, batch);
  const i64 keys = rows.keys;
  if (PACKED && row >= rows.queries) return;
  const T* q = a.q + batch * a.qs[0] + head * a.qs[1] + (rows.begin + row) * a.qs[2];
  const T* k = a.k + batch * a.ks[0] + head / a.group * a.ks[1] + rows.begin * a.ks[2];
  const T* v = a.v + batch * a.vs[0] + head / a.group * a.vs[1] + rows.begin * a.vs[2];
  float most = -INFINITY_F;
  for (i64 key = threadIdx.x; key < keys; key += THREADS) {
    float x = 0;
    for (int d = 0; d < REAL_SIZE; ++d) x += (float)LOAD(q[d]) * (float)LOAD(k[key * a.ks[2] + d]);
    x *= SCALE;
#if MASKED
    { const MASK m = a.mask[batch * a.ms[0] + head * a.ms[1] + row * a.ms[2] + key * a.ms[3]]; x += LOAD_MASK(m); }
#endif
    if (CAUSAL && key > row) x = -INFINITY_F;
    scores[key] = x;
    most = max_nan(most, x);
  }
  most = over_block<Max, THREADS>(most, -INFINITY_F, room);
  float sum = 0;
  for (i64 key = threadIdx.x; key < keys; key += THREADS) sum += scores[key] = expf(scores[key] - most);
  sum = over_block<Sum, THREADS>(sum, 0.f, room);
  __syncthreads();
  for (int d = threadIdx.x; d < REAL_VALUE; d += THREADS) {
    float y = 0;
    for (i64 key = 0; key < keys; ++key) y += scores[key] * (float)LOAD(v[key * a.vs[2] + d]);
    const float r = y / sum;
    a.y[batch * a.ys[0] + head * a.ys[1] + (rows.begin + row) * a.ys[2] + d] = STORE(ended(r));
  }
}
)";

}  // namespace

std::string generate_attention_simple(const AttentionProblem& p) {
  return cat(prelude(), attention_head(p), attention_end(p), kSimple);
}

std::string attention_end(const AttentionProblem& p) {
  std::vector<std::string> results{"x"};
  const std::string code = p.body ? print_body(without_last_rounding(*p.body, p.out), {"x"}, "t", "  ", results, true) : "";
  return cat("__device__ __forceinline__ ", compute_type(p.out), " ended(float x) {\n", code, "  return ", results[0], ";\n}\n");
}

}  // namespace tenfold::backends::cuda
