// Printing pooling kernels.
#include "backends/cuda/codegen/pool/pool.h"

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kKernel = R"(
struct Arguments { const T* x; T* y; i64 batch, channels, in[3], out[3], xs[5], ys[5]; };
// The first tap that lies inside, and one past the last, of the window that starts at `start`.
template <int TAPS, int STEP> __device__ __forceinline__ void inside(int start, int extent, int& first, int& last) {
  first = start < 0 ? (-start + STEP - 1) / STEP : 0;
  last = start >= extent ? 0 : min(TAPS, (extent - start + STEP - 1) / STEP);
}
template <int TAPS, int STEP> __device__ __forceinline__ int padded(int start, int end) {
  return max(0, min(TAPS, (end - start + STEP - 1) / STEP));
}
extern "C" __global__ void __launch_bounds__(THREADS) pool(Arguments a) {
  enter();
  INDEX i = (INDEX)blockIdx.x * THREADS + threadIdx.x;
  const INDEX groups = (INDEX)(CHANNELS) / V, extents[3] = {(INDEX)OUT0, (INDEX)OUT1, (INDEX)OUT2};
  u32 g, n, o[3];
  if (i >= a.batch * groups * extents[0] * extents[1] * extents[2]) return;
#if CHANNELS_INNER
  g = (u32)(i % groups); i /= groups;
  #pragma unroll
  for (int d = 2; d >= 0; --d) { o[d] = (u32)(i % extents[d]); i /= extents[d]; }
  n = (u32)i;
#else
  #pragma unroll
  for (int d = 2; d >= 0; --d) { o[d] = (u32)(i % extents[d]); i /= extents[d]; }
  g = (u32)(i % groups); n = (u32)(i / groups);
#endif
  int start[3], first[3], last[3];
  start[0] = (int)o[0] * S0 - B0; start[1] = (int)o[1] * S1 - B1; start[2] = (int)o[2] * S2 - B2;
  inside<K0, D0>(start[0], (int)a.in[0], first[0], last[0]);
  inside<K1, D1>(start[1], (int)a.in[1], first[1], last[1]);
  inside<K2, D2>(start[2], (int)a.in[2], first[2], last[2]);
  const T* x = a.x + n * a.xs[0] + (i64)g * V * a.xs[1];
  float r[V];
  for (int v = 0; v < V; ++v) r[v] = START;
  int count = 0;
  for (int kz = first[0]; kz < last[0]; ++kz)
    for (int ky = first[1]; ky < last[1]; ++ky)
      for (int kx = first[2]; kx < last[2]; ++kx) {
        T e[V];
        read<V>(x + (start[0] + kz * D0) * a.xs[2] + (start[1] + ky * D1) * a.xs[3] + (start[2] + kx * D2) * a.xs[4], e);
        for (int v = 0; v < V; ++v) r[v] = JOIN(r[v], (float)LOAD(e[v]));
        ++count;
      }
#if COUNT_PADS
  count = padded<K0, D0>(start[0], (int)a.in[0] + E0) * padded<K1, D1>(start[1], (int)a.in[1] + E1) *
          padded<K2, D2>(start[2], (int)a.in[2] + E2);
#endif
  T y[V];
  for (int v = 0; v < V; ++v) { const float f = FINISH; y[v] = STORE(f); }
  write<V>(a.y + n * a.ys[0] + (i64)g * V * a.ys[1] + o[0] * a.ys[2] + o[1] * a.ys[3] + o[2] * a.ys[4], y);
}
)";

}  // namespace

std::string generate_pool(const PoolProblem& p) {
  std::string head;
  const auto define = [&](const std::string& name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("T", storage_type(p.dtype)), define("V", p.width), define("THREADS", kPoolThreads), define("CHANNELS_INNER", p.width > 1 ? 1 : 0);
  for (std::size_t d = 0; d < 3; ++d) {
    define(cat("K", d), p.kernel[d]), define(cat("S", d), p.stride[d]), define(cat("D", d), p.dilation[d]);
    define(cat("B", d), p.begin[d]), define(cat("E", d), p.end[d]);
  }
  define("INDEX", p.few ? "u32" : "i64"), define("CHANNELS", p.channels > 0 ? cat(p.channels) : "a.channels");
  for (std::size_t d = 0; d < 3; ++d) define(cat("OUT", d), p.out[d] > 0 ? cat(p.out[d]) : cat("a.out[", d, "]"));
  define("COUNT_PADS", p.count_pads ? 1 : 0);
  define("LOAD(e)", loaded(p.dtype, "(e)"));
  define("STORE(f)", is_float(p.dtype) ? stored(p.dtype, "(f)") : cat("(", storage_type(p.dtype), ")(f)"));
  define("START", p.is_max ? "-INFINITY_F" : "0.f"), define("JOIN(a, b)", p.is_max ? "max_nan(a, b)" : "((a) + (b))");
  define("FINISH", p.is_max ? "r[v]" : "r[v] / (float)max(count, 1)");
  return cat(prelude(), head, kKernel);
}

}  // namespace tenfold::backends::cuda
