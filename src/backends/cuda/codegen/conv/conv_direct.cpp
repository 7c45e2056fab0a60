// Printing direct convolutions.
#include "backends/cuda/codegen/conv/conv_direct.h"

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kKernel = R"(
struct Arguments { const T *x, *w, *bias; T* y; i64 batch, in[3], out[3]; };
extern "C" __global__ void __launch_bounds__(THREADS) conv(Arguments a) {
  enter();
  const i64 linear = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (linear >= a.batch * a.out[0] * a.out[1] * a.out[2] * FILTERS) return;
  const int filter = (int)(linear % FILTERS), group = filter / (FILTERS / GROUPS);
  i64 i = linear / FILTERS;
  const int ox = (int)(i % a.out[2]); i /= a.out[2];
  const int oy = (int)(i % a.out[1]); i /= a.out[1];
  const int oz = (int)(i % a.out[0]); i /= a.out[0];
  ACC sum = 0;
  for (int kz = 0; kz < K0; ++kz) {
    const i64 z = (i64)oz * S0 - B0 + kz * D0;
    if (z < 0 || z >= a.in[0]) continue;
    for (int ky = 0; ky < K1; ++ky) {
      const i64 y = (i64)oy * S1 - B1 + ky * D1;
      if (y < 0 || y >= a.in[1]) continue;
      for (int kx = 0; kx < K2; ++kx) {
        const i64 x = (i64)ox * S2 - B2 + kx * D2;
        if (x < 0 || x >= a.in[2]) continue;
        const T* from = a.x + (((i * a.in[0] + z) * a.in[1] + y) * a.in[2] + x) * (DEPTH * GROUPS) + group * DEPTH;
        const T* w = a.w + (i64)((kz * K1 + ky) * K2 + kx) * DEPTH * FILTERS + filter;
        #pragma unroll 4
        for (int c = 0; c < DEPTH; ++c) sum += (ACC)LOAD(from[c]) * (ACC)LOAD(w[(i64)c * FILTERS]);
      }
    }
  }
#if BIASED
  sum += (ACC)LOAD(a.bias[filter]);
#endif
  a.y[linear] = STORE(sum);
}
)";

}  // namespace

std::string generate_conv_direct(const DirectConvProblem& p) {
  std::string head;
  const auto define = [&](const std::string& name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("T", storage_type(p.dtype)), define("ACC", p.dtype == DType::f64 ? "double" : "float"), define("THREADS", kDirectThreads);
  define("LOAD(e)", loaded(p.dtype, "(e)")), define("STORE(e)", stored(p.dtype, "(e)"));
  define("FILTERS", p.filters), define("DEPTH", p.depth), define("GROUPS", p.groups), define("BIASED", p.has_bias ? 1 : 0);
  for (std::size_t d = 0; d < 3; ++d)
    define(cat("K", d), p.kernel[d]), define(cat("S", d), p.stride[d]), define(cat("D", d), p.dilation[d]), define(cat("B", d), p.begin[d]);
  return cat(prelude(), head, kKernel);
}

}  // namespace tenfold::backends::cuda
