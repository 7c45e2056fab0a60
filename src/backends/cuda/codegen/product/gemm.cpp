// Printing products: a pipeline of tiles in shared memory, fragments by ldmatrix, and an epilogue over finished rows.
#include "backends/cuda/codegen/product/gemm.h"

#include <algorithm>

#include "backends/cuda/codegen/mma_parts.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_rows.h"
#include "backends/cuda/codegen/product/gemm_tail.h"
#include "base/check.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

constexpr int kTileRow = 128;  // bytes of a tile's row, whose eight pieces are permuted so that no banks collide

constexpr const char* kHelpers = R"(
struct Arguments { const ELEMENT *a, *b; OUT* y; const void* tail[8]; i64 m; };
constexpr int kPiece = 16 / sizeof(ELEMENT), kDepth = 8 * kPiece;   // elements of 16 bytes, and of a tile's row
constexpr int kThreads = 32 * WARPS_DOWN * WARPS_ACROSS, kAcross = (N + COLUMNS - 1) / COLUMNS;
constexpr int kWarpRows = ROWS / WARPS_DOWN, kWarpColumns = COLUMNS / WARPS_ACROSS, kMi = kWarpRows / 16, kNi = kWarpColumns / 8;
constexpr int kStageBytes = (ROWS + COLUMNS) * 128, kPitch = COLUMNS + 4;

__device__ __forceinline__ void load_matrices(u32 (&r)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address));
#if TF32
  #pragma unroll
  for (int i = 0; i < 4; ++i) r[i] = to_tf32(r[i]);
#endif
}
__device__ __forceinline__ void place16(u32 to, uint4 x) {
  asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" :: "r"(to), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w));
}
// 16 bytes, or zeros, from `from` to shared memory.
__device__ __forceinline__ void copy16(u32 to, const void* from, bool there) {
#if __CUDA_ARCH__ >= 800
  const int bytes = there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(bytes));
#else
  uint4 x = make_uint4(0, 0, 0, 0);
  if (there) x = *(const uint4*)from;
  place16(to, x);
#endif
}
__device__ __forceinline__ void commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;");
#endif
}
template <int LEFT> __device__ __forceinline__ void wait_for() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" :: "n"(LEFT));
#endif
}
// Elements one by one, for rows that do not lie at multiples of 16 bytes; get(i) gives element i of 16 bytes.
template <class F> __device__ __forceinline__ void place_each(u32 to, F get) {
  u32 x[4] = {};
  #pragma unroll
  for (int i = 0; i < kPiece; ++i) x[i * sizeof(ELEMENT) / 4] |= (u32)get(i) << 8 * (i * sizeof(ELEMENT) % 4);
  place16(to, make_uint4(x[0], x[1], x[2], x[3]));
}
__device__ __forceinline__ u32 place_of(int row, int piece) { return row * 128 + ((piece ^ row & 7) << 4); }
)";

constexpr const char* kMain = R"(
// With room for one block wanted: otherwise the compiler saves registers and reads fragments late.
extern "C" __global__ void CLUSTER __launch_bounds__(kThreads, 1) gemm(const Arguments a) {
  enter();
  extern __shared__ __align__(128) u8 shared[];
  const u32 base = (u32)__cvta_generic_to_shared(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, piece = threadIdx.x % 8;
  const int first_column = blockIdx.x % kAcross * COLUMNS, parts = PHASES * GROUPS;
  const Part part(blockIdx.x / kAcross % parts);
  const i64 first_row = (i64)(blockIdx.x / kAcross / parts) * ROWS;
  constexpr int kRowStep = kThreads / 8, kARows = (ROWS + kRowStep - 1) / kRowStep, kBRows = (COLUMNS + kRowStep - 1) / kRowStep;
  const int tiles = (part.terms + kDepth - 1) / kDepth;
  const int begin = (int)((i64)tiles * blockIdx.z / SPLIT), end = (int)((i64)tiles * (blockIdx.z + 1) / SPLIT);
  const ELEMENT* weights = a.b + (i64)part.weights() * ((i64)N * K);

  Row rows[kARows] = {ROW_LIST};
  const ELEMENT pad = PAD;
  const auto load = [&](int tile) {
    const u32 stage = base + tile % STAGES * kStageBytes;
    const int k = tile * kDepth + piece * kPiece;
    #pragma unroll
    for (int i = 0; i < kARows; ++i) {
      const int r = threadIdx.x / 8 + i * kRowStep;
      if (ROWS % kRowStep != 0 && r >= ROWS) continue;
#if VECTORS
      bool ok;
      const ELEMENT* from = rows[i].at(part, k, ok);
#if PADDED
      if (!ok) place16(stage + place_of(r, piece), make_uint4(pad * 0x01010101u, pad * 0x01010101u, pad * 0x01010101u, pad * 0x01010101u));
      else
#endif
      copy16(stage + place_of(r, piece), from, ok);
#else
      place_each(stage + place_of(r, piece), [&](int e) {
        bool ok;
        const ELEMENT* from = rows[i].at(part, k + e, ok);
        return ok ? *from : pad;
      });
#endif
    }
    #pragma unroll
    for (int i = 0; i < kBRows; ++i) {
      const int r = threadIdx.x / 8 + i * kRowStep, n = first_column + r;
      if (COLUMNS % kRowStep != 0 && r >= COLUMNS) continue;
      const u32 to = stage + ROWS * 128 + place_of(r, piece);
#if VECTORS
      const bool ok = n < N && k < part.terms;
      copy16(to, ok ? weights + (i64)n * K + k : weights, ok);
#else
      place_each(to, [&](int e) { return n < N && k + e < part.terms ? weights[WEIGHT_AT(n, k + e)] : (ELEMENT)0; });
#endif
    }
  };

  SUM c[kMi][kNi][4] = {};
  #pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (begin + s < end) load(begin + s);
    commit();
  }
  const int warp_row = warp / WARPS_ACROSS * kWarpRows, warp_column = warp % WARPS_ACROSS * kWarpColumns;
  for (int tile = begin; tile < end; ++tile) {
    wait_for<STAGES - 2>();
    __syncthreads();
    if (tile + STAGES - 1 < end) load(tile + STAGES - 1);
    commit();
    const u32 stage = base + tile % STAGES * kStageBytes;
    #pragma unroll
    for (int s = 0; s < 4; ++s) {
      u32 fa[kMi][4], fb[kNi / 2][4];
      #pragma unroll
      for (int i = 0; i < kMi; ++i) load_matrices(fa[i], stage + place_of(warp_row + i * 16 + lane % 16, s * 2 + lane / 16));
      #pragma unroll
      for (int j = 0; j < kNi / 2; ++j)
        load_matrices(fb[j], stage + ROWS * 128 + place_of(warp_column + j * 16 + lane / 16 * 8 + lane % 8, s * 2 + lane / 8 % 2));
      #pragma unroll
      for (int i = 0; i < kMi; ++i)
        #pragma unroll
        for (int j = 0; j < kNi; ++j) multiply(c[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }
  }
  wait_for<0>();
  __syncthreads();

  // Sums pass through shared memory, so that the epilogue reads and writes whole rows.
  SUM* sums = (SUM*)shared;
  #pragma unroll
  for (int i = 0; i < kMi; ++i)
    #pragma unroll
    for (int j = 0; j < kNi; ++j)
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        const SUM two[2] = {c[i][j][2 * h], c[i][j][2 * h + 1]};
        write<2>(sums + (warp_row + i * 16 + lane / 4 + 8 * h) * kPitch + warp_column + j * 8 + lane % 4 * 2, two);
      }
#if SPLIT > 1
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
  constexpr int kVectors = COLUMNS / WIDTH, kOwnRows = ROWS / SPLIT;
  for (int i = threadIdx.x; i < kOwnRows * kVectors; i += kThreads) {
    const int r = blockIdx.z * kOwnRows + i / kVectors, column = i % kVectors * WIDTH, across = first_column + column;
    const i64 down = first_row + r;
    if (down >= a.m || across >= N) continue;
    SUM sum[WIDTH];
#if SPLIT > 1
    const u32 own = (u32)__cvta_generic_to_shared(sums + r * kPitch + column);
    SUM shares[SPLIT][WIDTH];   // all of them are under way before the first is added
    #pragma unroll
    for (int z = 0; z < SPLIT; ++z) {
      u32 there;
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(z));
#if VECTORS
      #pragma unroll
      for (int v = 0; v < WIDTH; v += 4)
        asm volatile("ld.shared::cluster.v4.b32 {%0,%1,%2,%3}, [%4];"
                     : SUM_REGISTER(shares[z][v]), SUM_REGISTER(shares[z][v + 1]), SUM_REGISTER(shares[z][v + 2]),
                       SUM_REGISTER(shares[z][v + 3])
                     : "r"(there + 4 * v));
#else
      asm volatile("ld.shared::cluster.b32 %0, [%1];" : SUM_REGISTER(shares[z][0]) : "r"(there));
#endif
    }
    #pragma unroll
    for (int v = 0; v < WIDTH; ++v) {
      sum[v] = 0;
      #pragma unroll
      for (int z = 0; z < SPLIT; ++z) sum[v] += shares[z][v];   // in one order: the same bits every time
    }
#else
    #pragma unroll
    for (int v = 0; v < WIDTH; ++v) sum[v] = sums[r * kPitch + column + v];
#endif
    OUT y[WIDTH];
#if SPREADS
    const int tap = across / RESULT, n = across % RESULT, position = (int)(down % (IZ * IY * IX));
    const int result_z = position / (IY * IX) * KZ + tap / (KY * KX), result_y = position / IX % IY * KY + tap / KX % KY;
    const i64 m = ((down / (IZ * IY * IX) * (IZ * KZ) + result_z) * (IY * KY) + result_y) * (i64)(IX * KX) + position % IX * KX + tap % KX;
#else
    const int n = part.group * N + across;
    const i64 m = RESULT_ROW(down);
    if (m < 0) continue;
#endif
    TAIL
    write<WIDTH>(a.y + m * PITCH + n, y);
  }
#if SPLIT > 1
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");   // nobody leaves while others read
#endif
}
)";

}  // namespace

std::int64_t GemmProblem::phase_count() const {
  return has_phases() ? std::ssize(phases[0]) * std::ssize(phases[1]) * std::ssize(phases[2]) : 1;
}

int GemmProblem::spatial_rank() const {
  for (std::size_t d = 0; d < 2; ++d)
    if (in_extent[d] != 1 || kernel[d] != 1 || begin[d] != 0 || out_extent[d] != 1) return 3 - static_cast<int>(d);
  return 1;
}

int GemmTile::shared_bytes() const { return std::max(stages * (rows + columns) * kTileRow, rows * (columns + 4) * 4); }

std::int64_t blocks(const GemmProblem& p, const GemmTile& tile, std::int64_t m) {
  return ceil_div(m, std::int64_t{tile.rows}) * ceil_div(p.n, std::int64_t{tile.columns}) * p.groups * p.phase_count();
}

std::string generate_gemm(const GemmProblem& p, const GemmTile& tile) {
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("OUT", storage_type(p.out)), define("ELEMENT", bits(p.in) == 8 ? "u8" : bits(p.in) == 16 ? "u16" : "u32");
  define("SUM", compute_type(p.sum()));
  define("SUM_REGISTER(x)", is_float(p.sum()) ? "\"=f\"(x)" : "\"=r\"(x)"), define("MMA_TYPE", cat("\"", mma_type(p.in), "\""));
  define("TF32", p.in == DType::f32 ? 1 : 0), define("PADDED", p.is_conv && p.zero_point >= 0 ? 1 : 0);
  define("PAD", p.is_conv && p.zero_point >= 0 ? cat("*(const u8*)a.tail[", p.zero_point, "]") : "0");
  define("N", p.n), define("K", p.k), define("ROWS", tile.rows), define("COLUMNS", tile.columns), define("WARPS_DOWN", tile.warps_down);
  define("WARPS_ACROSS", tile.warps_across), define("STAGES", tile.stages), define("SPLIT", tile.split);
  define("WEIGHT_AT(n, k)", p.weight_at.empty() ? "((i64)(n) * K + (k))" : p.weight_at), define("VECTORS", p.vectors ? 1 : 0),
      define("WIDTH", p.vectors ? 8 : 1);
  define("CLUSTER", tile.split > 1 ? cat("__cluster_dims__(1, 1, ", tile.split, ")") : "");
  define("SPREADS", p.spreads ? 1 : 0), define("RESULT", p.width()), define("PITCH", p.row_pitch());
  define("GROUPS", p.groups), define("PHASES", p.phase_count()), define("RESULT_ROW(m)", p.has_phases() ? "part.result(m)" : "(m)");
  const int row_step = tile.threads() / 8, count = (tile.rows + row_step - 1) / row_step;
  std::string list;
  for (int i = 0; i < count; ++i) list += cat(i ? ", " : "", "Row(a, part, first_row + threadIdx.x / 8 + ", i * row_step, ")");
  std::string main = kMain;
  replace_once(main, "ROW_LIST", list);
  replace_once(main, "    TAIL\n", print_tail(p, -1, [&](const std::string& y) { return cat("y[v] = ", stored(p.out, y), ";"); }));
  const std::string products = bits(p.in) == 8 ? mma_bytes_helper(p.in, p.weight) : bits(p.in) == 32 ? mma_tf32_helper() : mma_helpers();
  return cat(prelude(), head, products, kHelpers, print_rows(p), main);
}

}  // namespace tenfold::backends::cuda
