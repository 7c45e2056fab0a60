// Printing depthwise convolutions.
#include "backends/cuda/codegen/conv/conv_depthwise.h"

#include <algorithm>

#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_tail.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kKernel = R"(
struct Arguments { const IN *a; const WEIGHT* b; OUT* y; const void* tail[8]; i64 m; };
template <int WIDTH> __device__ __forceinline__ void compute(const Arguments& a) {
  const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x, m = i / (N / WIDTH);
  const int n = (int)(i % (N / WIDTH)) * WIDTH;
  if (m >= a.m) return;
  const int position = (int)(m % (OZ * OY * OX));
  const IN* image = a.a + m / (OZ * OY * OX) * ((i64)IZ * IY * IX * N) + n;
  const int top[3] = {position / (OY * OX) * SZ - BZ, position / OX % OY * SY - BY, position % OX * SX - BX};
  const SUM zero = ZERO;
  SUM sum[WIDTH] = {};
  #pragma unroll
  for (int tap = 0; tap < KZ * KY * KX; ++tap) {
    const int iz = top[0] + tap / (KY * KX) * DZ, iy = top[1] + tap / KX % KY * DY, ix = top[2] + tap % KX * DX;
    if (iz < 0 || iz >= IZ || iy < 0 || iy >= IY || ix < 0 || ix >= IX) continue;
    IN e[WIDTH];
    WEIGHT w[WIDTH];
    read<WIDTH>(image + ((iz * IY + iy) * (i64)IX + ix) * N, e);
    read<WIDTH>(a.b + tap * N + n, w);
    #pragma unroll
    for (int v = 0; v < WIDTH; ++v) sum[v] += ((SUM)LOAD(e[v]) - zero) * (SUM)LOAD_WEIGHT(w[v]);
  }
  OUT y[WIDTH];
  TAIL
  write<WIDTH>(a.y + m * PITCH + n, y);
}
extern "C" __global__ void __launch_bounds__(THREADS) vectors(const Arguments a) { enter(); compute<MOST>(a); }
extern "C" __global__ void __launch_bounds__(THREADS) singles(const Arguments a) { enter(); compute<1>(a); }
)";

}  // namespace

int depthwise_width(const GemmProblem& p) {
  int width = 8;
  while (p.n % width != 0 || p.row_pitch() % width != 0) width /= 2;
  return width;
}

std::string generate_conv_depthwise(const GemmProblem& p) {
  std::string head;
  const auto define = [&](const std::string& name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("IN", storage_type(p.in)), define("WEIGHT", storage_type(p.weight)), define("OUT", storage_type(p.out));
  define("SUM", compute_type(p.sum())), define("LOAD(e)", loaded(p.in, "(e)")), define("LOAD_WEIGHT(e)", loaded(p.weight, "(e)"));
  define("THREADS", kDepthwiseThreads), define("N", p.n), define("PITCH", p.row_pitch()), define("MOST", depthwise_width(p));
  define("ZERO", p.zero_point < 0 ? "0" : cat("*(const ", storage_type(p.in), "*)a.tail[", p.zero_point, "]"));
  const char* axes[3] = {"Z", "Y", "X"};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto axis = [&](const char* what, std::int64_t value) { define(cat(what, axes[d]), value); };
    axis("I", p.in_extent[d]), axis("O", p.out_extent[d]), axis("K", p.kernel[d]), axis("S", p.stride[d]), axis("D", p.dilation[d]),
        axis("B", p.begin[d]);
  }
  std::string main = kKernel;
  replace_once(main, "  TAIL\n", print_tail(p, -1, [&](const std::string& y) { return cat("y[v] = ", stored(p.out, y), ";"); }));
  return cat(prelude(), head, main);
}

}  // namespace tenfold::backends::cuda
