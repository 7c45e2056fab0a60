// Printing products of few rows.
#include "backends/cuda/codegen/product/gemm_few.h"

#include <algorithm>

#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_tail.h"
#include "backends/cuda/codegen/product/gemm_wgmma_parts.h"
#include "base/check.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kMain = R"(
struct Arguments { TensorMap a, b; OUT* y; const void* tail[8]; i64 m; };
constexpr int kThreads = 128, kRows = 64, kABytes = kRows * 128, kStageBytes = kABytes + COLUMNS * 128, kPitch = COLUMNS + 4;

extern "C" __global__ void CLUSTER __launch_bounds__(kThreads) gemm(const __grid_constant__ Arguments a) {
  extern __shared__ u8 shared[];
  const u32 base = (u32)__cvta_generic_to_shared(shared) + 1023 & ~1023u, barriers = base + BARRIERS_AT;
  const int lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32, 0), z = blockIdx.z;
  const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * COLUMNS;
  const int begin = kSteps * z / SPLIT, count = kSteps * (z + 1) / SPLIT - begin;
  if (threadIdx.x == 0) {
    for (int s = 0; s < count; ++s) start_barrier(barriers + 8 * s, 1);
    asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async;" ::: "memory");
    for (int s = 0; s < count; ++s) {
      expect_bytes(barriers + 8 * s, kStageBytes);
      load_matrix(base + s * kStageBytes + kABytes, a.b, (begin + s) * DEPTH, first_column, barriers + 8 * s);
    }
  }
  // The matrix is constant; what the kernel before wrote is there from here on.
  asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
  if (threadIdx.x == 0)
    for (int s = 0; s < count; ++s) load_matrix(base + s * kStageBytes, a.a, (begin + s) * DEPTH, first_row, barriers + 8 * s);
  __syncthreads();

  float c[COLUMNS / 2];
  for (int s = 0; s < count; ++s) {
    wait_for(barriers + 8 * s, 0);
    const u64 da = described(base + s * kStageBytes), db = described(base + s * kStageBytes + kABytes);
    begin_products();
    #pragma unroll
    for (int i = 0; i < 4; ++i) multiply(c, da + i * 2, db + i * 2, s > 0 || i > 0);
    commit_products();
  }
  wait_for_products<0>();
  #pragma unroll
  for (int e = 0; e < COLUMNS / 2; ++e) asm volatile("" : "+f"(c[e]));
  __syncthreads();   // sums go where tiles were

  #pragma unroll
  for (int j = 0; j < COLUMNS / 8; ++j)
    #pragma unroll
    for (int h = 0; h < 2; ++h) {
      const u32 to = base + 4 * ((warp * 16 + lane / 4 + h * 8) * kPitch + j * 8 + lane % 4 * 2);
      asm volatile("st.shared.v2.f32 [%0], {%1, %2};" :: "r"(to), "f"(c[j * 4 + h * 2]), "f"(c[j * 4 + h * 2 + 1]) : "memory");
    }
#if SPLIT > 1
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
  constexpr int kAcross = COLUMNS / WIDTH, kOwnRows = kRows / SPLIT;
  for (int i = threadIdx.x; i < kOwnRows * kAcross; i += kThreads) {
    const int r = z * kOwnRows + i / kAcross, column = i % kAcross * WIDTH, n = first_column + column;
    const i64 m = first_row + r;
    if (m >= a.m || n >= N) continue;
    float part[SPLIT][WIDTH], sum[WIDTH] = {};
    #pragma unroll
    for (int p = 0; p < SPLIT; ++p) {
      u32 there;
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(base + 4 * (r * kPitch + column)), "r"(p));
      asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(part[p][0]), "=f"(part[p][1]), "=f"(part[p][2]), "=f"(part[p][3]) : "r"(there));
    }
    #pragma unroll
    for (int p = 0; p < SPLIT; ++p)   // in one order: the same bits every time
      #pragma unroll
      for (int v = 0; v < WIDTH; ++v) sum[v] += part[p][v];
    OUT y[WIDTH];
    TAIL
    write<WIDTH>(a.y + m * N + n, y);
  }
#if SPLIT > 1
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");   // nobody leaves while others read
#endif
}
)";

constexpr int kWidth = 4;  // results that a thread finishes at once

int stage_bytes(int columns) { return (64 + columns) * 128; }
// Tiles, and then sums, in the same place.
int room(const FewTile& t, std::int64_t k) {
  return std::max(t.steps(k) * stage_bytes(t.columns), (64 * (t.columns + 4) * 4 + 1023) / 1024 * 1024);
}

}  // namespace

int FewTile::steps(std::int64_t k) const { return static_cast<int>(ceil_div(ceil_div(k, std::int64_t{depth}), std::int64_t{split})); }
int FewTile::shared_bytes(std::int64_t k) const { return 1024 + room(*this, k) + 8 * steps(k); }

std::string generate_gemm_few(const GemmProblem& p, const FewTile& t) {
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("OUT", storage_type(p.out)), define("BF16", p.in == DType::bf16 ? 1 : 0), define("N", p.n), define("COLUMNS", t.columns);
  define("SPLIT", t.split), define("WIDTH", kWidth), define("kSteps", ceil_div(p.k, std::int64_t{t.depth}));
  define("DEPTH", t.depth), define("BARRIERS_AT", room(t, p.k));
  define("CLUSTER", t.split > 1 ? cat("__cluster_dims__(1, 1, ", t.split, ")") : "");
  std::string main = kMain;
  replace_once(main, "    TAIL\n", print_tail(p, -1, [&](const std::string& y) { return cat("y[v] = ", stored(p.out, y), ";"); }));
  return cat(prelude(), head, wgmma_helpers(), wgmma_multiply(t.columns, p.in, p.in), main);
}

}  // namespace tenfold::backends::cuda
