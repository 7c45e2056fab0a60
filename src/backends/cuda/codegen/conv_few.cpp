// Printing convolutions of images with few channels.
#include "backends/cuda/codegen/conv_few.h"

#include "backends/cuda/codegen/gemm_tail.h"
#include "backends/cuda/codegen/mma_parts.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kKernel = R"(
struct Arguments { const u16 *x, *w; u16* y; const void* tail[8]; i64 images; };
constexpr int kThreads = 32 * WARPS, kRow = (15 * SX + KX) * C, kRowPitch = (kRow + 3) / 2 * 2;  // elements of a row of the tile
constexpr int kRowsY = (TILE_Y - 1) * SY + (KY - 1) * DY + 1, kRowsZ = (TILE_Z - 1) * SZ + (KZ - 1) * DZ + 1, kRows = kRowsY * kRowsZ;
constexpr int kCopy = (kRows * kRowPitch + 63) / 64 * 64 + 32, kSteps = DEPTH / 16, kWeights = PACKED_FILTERS * PITCH;
constexpr int kAcross = (OX + 15) / 16, kDown = (OY + TILE_Y - 1) / TILE_Y, kDeep = (OZ + TILE_Z - 1) / TILE_Z;

__device__ __forceinline__ void load_matrices(u32 (&r)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address));
}
// Where the pair of elements k, k + 1 of a window lies, and whether the second one is none of the window's.
__device__ __forceinline__ int place_of(int k, bool& is_last) {
  const int run = k / RUN, e = k % RUN;
  is_last = e + 1 >= KX * C;
  return k < RUN * KY * KZ ? (run / KY * DZ * kRowsY + run % KY * DY) * kRowPitch + e : -1;
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS > 2 ? 1 : 2) conv(const Arguments a) {
  extern __shared__ __align__(128) u16 shared[];   // weights, zeros, the tile once or twice
  u16* const tile = shared + kWeights + 64;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, split = blockIdx.y;
  for (int i = threadIdx.x; i < kWeights / 8; i += kThreads) ((uint4*)shared)[i] = ((const uint4*)(a.w + (i64)split * kWeights))[i];
  for (int i = threadIdx.x; i < 64; i += kThreads) shared[kWeights + i] = 0;
  int place[kSteps][2];   // elements from a window's first
  u32 ends = 0;
  #pragma unroll
  for (int s = 0; s < kSteps; ++s)
    #pragma unroll
    for (int h = 0; h < 2; ++h) {
      bool is_last;
      place[s][h] = place_of(s * 16 + h * 8 + lane % 4 * 2, is_last);
      if (is_last && KX * C % 2 != 0) ends |= 1u << (s * 2 + h) % 32;
    }
  enter();
  const i64 tiles = a.images * (kAcross * kDown * kDeep);
  for (i64 t = blockIdx.x; t < tiles; t += gridDim.x) {
    int rest = (int)(t % (kAcross * kDown * kDeep));
    const i64 image = t / (kAcross * kDown * kDeep);
    const int ox = rest % kAcross * 16, oy = rest / kAcross % kDown * TILE_Y, oz = rest / kAcross / kDown * TILE_Z;
    const u16* from = a.x + image * ((i64)IZ * IY * IX * C);
    __syncthreads();
    const int first = (ox * SX - BX) * C;   // element of an image's row
    for (int i = threadIdx.x; i < kRows * kRowPitch; i += kThreads) {
      const int row = i / kRowPitch, e = i % kRowPitch, iy = oy * SY - BY + row % kRowsY, iz = oz * SZ - BZ + row / kRowsY;
      const bool ok = e < kRow && first + e >= 0 && first + e < IX * C && iy >= 0 && iy < IY && iz >= 0 && iz < IZ;
      const u16 value = ok ? from[((i64)iz * IY + iy) * (IX * C) + first + e] : (u16)0;
      tile[i] = value;
      if (TWICE && i + 1 < kCopy) tile[kCopy + i + 1] = value;
    }
    __syncthreads();

    float c[BLOCKS][FILTERS / 8][4] = {};
    const u16* window[BLOCKS][2];
    #pragma unroll
    for (int b = 0; b < BLOCKS; ++b)
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int line = warp * BLOCKS + b, e = (lane / 4 + h * 8) * SX * C;
        window[b][h] = tile + (line / TILE_Y * SZ * kRowsY + line % TILE_Y * SY) * kRowPitch + e + (TWICE && (e & 1) ? kCopy + 1 : 0);
      }
    #pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      u32 fa[BLOCKS][4], fb[PACKED_FILTERS / 16][4];
      #pragma unroll
      for (int b = 0; b < BLOCKS; ++b)
        #pragma unroll
        for (int q = 0; q < 4; ++q) {
          const int at = place[s][q / 2];
          const u32 both = *(const u32*)(s + 1 == kSteps && at < 0 ? shared + kWeights : window[b][q % 2] + at);
          fa[b][q] = KX * C % 2 != 0 && (ends >> (s * 2 + q / 2) % 32 & 1) ? both & 0xffff : both;
        }
      #pragma unroll
      for (int j = 0; j < PACKED_FILTERS / 16; ++j)
        load_matrices(fb[j], (u32)__cvta_generic_to_shared(shared + (j * 16 + lane / 16 * 8 + lane % 8) * PITCH + s * 16 + lane / 8 % 2 * 8));
      #pragma unroll
      for (int b = 0; b < BLOCKS; ++b)
        #pragma unroll
        for (int j = 0; j < FILTERS / 8; ++j) multiply(c[b][j], fa[b], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }

    #pragma unroll
    for (int b = 0; b < BLOCKS; ++b)
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int line = warp * BLOCKS + b, x = ox + lane / 4 + h * 8, y_at = oy + line % TILE_Y, z = oz + line / TILE_Y;
        const bool there = x < OX && y_at < OY && z < OZ;
        const i64 m = there ? ((image * OZ + z) * OY + y_at) * OX + x : 0;
        #pragma unroll
        for (int j0 = 0; j0 < FILTERS / 8; j0 += 4) {
          u32 pairs[4];
          #pragma unroll
          for (int j = 0; j < 4 && j0 + j < FILTERS / 8; ++j) {
            const int column = split * FILTERS + (j0 + j) * 8 + lane % 4 * 2, n = N % FILTERS == 0 || column < N ? column : N - 2;
            const float sum[2] = {c[b][j0 + j][h * 2], c[b][j0 + j][h * 2 + 1]};
            float y[2];
            TAIL
            pairs[j] = pair(y[0], y[1]);
            if (FILTERS % 32 != 0 && there && column < N) *(u32*)(a.y + m * N + n) = pairs[j];
          }
          if (FILTERS % 32 == 0) {
            exchange(pairs, lane);
            const int n = split * FILTERS + j0 * 8 + lane % 4 * 8;
            if (there && n < N) *(uint4*)(a.y + m * N + n) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
          }
        }
      }
  }
}
)";

}  // namespace

int FewProblem::filters() const {
  const int most = 64, n = static_cast<int>(gemm.n);
  if (n <= most) return n;
  return n % 64 == 0 ? 64 : n % 32 == 0 ? 32 : n % 48 == 0 ? 48 : 64;
}

int FewProblem::shared_bytes(const FewTile& tile) const {
  const auto rows = [&](std::size_t d, int results) { return (results - 1) * gemm.stride[d] + (gemm.kernel[d] - 1) * gemm.dilation[d] + 1; };
  const std::int64_t pitch_x = ((15 * gemm.stride[2] + gemm.kernel[2]) * gemm.channels + 3) / 2 * 2;
  const std::int64_t copy = (rows(1, tile.y) * rows(0, tile.z) * pitch_x + 63) / 64 * 64 + 32;
  return static_cast<int>((packed_filters() * pitch() + 64 + copy * (twice() ? 2 : 1)) * 2);
}

std::string generate_conv_few(const FewProblem& p, const FewTile& tile) {
  const GemmProblem& g = p.gemm;
  std::string head;
  const auto define = [&](const std::string& name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("MMA_TYPE", g.in == DType::bf16 ? "\"bf16\"" : "\"f16\""), define("WIDTH", 2), define("C", g.channels), define("N", g.n);
  define("RUN", p.run()), define("DEPTH", p.depth()), define("PITCH", p.pitch()), define("FILTERS", p.filters());
  define("PACKED_FILTERS", p.packed_filters()), define("TWICE", p.twice() ? 1 : 0);
  define("TILE_Y", tile.y), define("TILE_Z", tile.z), define("BLOCKS", tile.blocks), define("WARPS", tile.warps());
  const char* axes[3] = {"Z", "Y", "X"};
  for (std::size_t d = 0; d < 3; ++d) {
    define(cat("I", axes[d]), g.in_extent[d]), define(cat("O", axes[d]), g.out_extent[d]), define(cat("K", axes[d]), g.kernel[d]);
    define(cat("S", axes[d]), g.stride[d]), define(cat("D", axes[d]), g.dilation[d]), define(cat("B", axes[d]), g.begin[d]);
  }
  std::string main = kKernel;
  replace_once(main, "            TAIL\n", print_tail(g, -1, [](const std::string& y) { return cat("y[v] = ", y, ";"); }));
  return cat(prelude(), head, mma_helpers(), exchange_helper(), main);
}

}  // namespace tenfold::backends::cuda
