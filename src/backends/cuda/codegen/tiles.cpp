// Printing the tile copy.
#include "backends/cuda/codegen/tiles.h"

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

// A column more than a tile is wide: neither its rows nor its columns meet in one bank. Blocks are fewer than 2^31, hence 32 bits.
constexpr const char* kPlaces = R"(
struct Arguments { const ELEMENT* from; ELEMENT* to; i64 a, b, from_a, from_b, to_a, to_b, tiles_a, tiles_b, axes, wide,
                   extent[AXES], from_stride[AXES], to_stride[AXES]; };
constexpr int kSide = SIDE, kStep = 32 * VECTOR, kRows = THREADS / 32, kBits = 8 * sizeof(ELEMENT);
struct Tile { const ELEMENT* from; ELEMENT* to; i64 a, b; };   // source and result of its outer axes, its first element on its own
__device__ __forceinline__ Tile tile_of(const Arguments& g) {
  u32 rest = blockIdx.x, above = rest / (u32)g.tiles_b;
  Tile t{g.from, g.to, 0, (i64)(rest - above * (u32)g.tiles_b) * kSide};
  rest = above, above = rest / (u32)g.tiles_a;
  t.a = (i64)(rest - above * (u32)g.tiles_a) * kSide;
  rest = above;
  for (int d = 0; d < (int)g.axes; ++d) {
    above = rest / (u32)g.extent[d];
    const i64 i = rest - above * (u32)g.extent[d];
    rest = above, t.from += i * g.from_stride[d], t.to += i * g.to_stride[d];
  }
  return t;
}
)";

// Elements of 16 bits: words of two rows become words of two columns on their way into shared memory. Of 64 columns the even ones lie before
// the odd ones.
constexpr const char* kPairs = R"(
__device__ __forceinline__ void wide(const Arguments& g, const Tile& t, u32* shared) {
  const auto at = [&](int pair, int column) -> u32& { return shared[pair * (kSide + 1) + column]; };
  const int row = threadIdx.x / 32, lane = threadIdx.x % 32;
  constexpr int kPairs = kSide / 2;
  u32 words[kPairs / kRows][kSide / kStep][2];   // all that a thread reads is under way at once
  #pragma unroll
  for (int r = 0; r < kPairs; r += kRows)
    #pragma unroll
    for (int s = 0; s < kSide; s += kStep)
      if (const i64 a = t.a + 2 * (r + row), b = t.b + s + lane * 2; a < g.a && b < g.b)
        #pragma unroll
        for (int v = 0; v < 2; ++v) words[r / kRows][s / kStep][v] = *(const u32*)(t.from + (a + v) * g.from_a + b);
  #pragma unroll
  for (int r = 0; r < kPairs; r += kRows)
    #pragma unroll
    for (int s = 0; s < kSide; s += kStep) {
      const u32 x = words[r / kRows][s / kStep][0], y = words[r / kRows][s / kStep][1];
      at(r + row, s + lane) = __byte_perm(x, y, 0x5410), at(r + row, s + 32 + lane) = __byte_perm(x, y, 0x7632);
    }
  __syncthreads();
  #pragma unroll
  for (int r = 0; r < kSide; r += kRows)
    #pragma unroll
    for (int s = 0; s < kPairs; s += 32)
      if (const i64 a = t.a + 2 * (s + lane), b = t.b + r + row; b < g.b && a < g.a) {
        const int column = r + row;
        *(u32*)(t.to + b * g.to_b + a) = at(s + lane, column / kStep * kStep + column % kStep / 2 + column % 2 * 32);
      }
}
)";

constexpr const char* kElements = R"(
__device__ __forceinline__ void wide(const Arguments& g, const Tile& t, ELEMENT* shared) {
  const auto at = [&](int a, int b) -> ELEMENT& { return shared[a * (kSide + 1) + b]; };
  const int row = threadIdx.x / 32, lane = threadIdx.x % 32;
  WORD words[kSide / kRows][kSide / kStep];   // all that a thread reads is under way at once
  #pragma unroll
  for (int r = 0; r < kSide; r += kRows)
    #pragma unroll
    for (int s = 0; s < kSide; s += kStep)
      if (const i64 a = t.a + r + row, b = t.b + s + lane * VECTOR; a < g.a && b < g.b)
        words[r / kRows][s / kStep] = *(const WORD*)(t.from + a * g.from_a + b);
  #pragma unroll
  for (int r = 0; r < kSide; r += kRows)
    #pragma unroll
    for (int s = 0; s < kSide; s += kStep)
      #pragma unroll
      for (int v = 0; v < VECTOR; ++v)
        at(r + row, s + lane * VECTOR + v) = (ELEMENT)(words[r / kRows][s / kStep] >> (v * kBits % (8 * sizeof(WORD))));
  __syncthreads();
  #pragma unroll
  for (int r = 0; r < kSide; r += kRows)
    #pragma unroll
    for (int s = 0; s < kSide; s += kStep)
      if (const i64 a = t.a + s + lane * VECTOR, b = t.b + r + row; b < g.b && a < g.a) {
        WORD word = 0;
        #pragma unroll
        for (int v = 0; v < VECTOR; ++v) word |= (WORD)at(s + lane * VECTOR + v, r + row) << (v * kBits % (8 * sizeof(WORD)));
        *(WORD*)(t.to + b * g.to_b + a) = word;
      }
}
)";

constexpr const char* kKernel = R"(
extern "C" __global__ void __launch_bounds__(THREADS) tiles(const Arguments g) {
  enter();
  __shared__ WORD shared[kSide * (kSide + 1) * sizeof(ELEMENT) / sizeof(WORD) + 1];
  const Tile t = tile_of(g);
  if (g.wide) return wide(g, t, (SHARED*)shared);
  ELEMENT* const tile = (ELEMENT*)shared;
  const int row = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int r = 0; r < kSide; r += kRows)
    for (int v = 0; v < kSide / 32; ++v)
      if (const i64 a = t.a + r + row, b = t.b + lane + 32 * v; a < g.a && b < g.b)
        tile[(r + row) * (kSide + 1) + lane + 32 * v] = t.from[a * g.from_a + b * g.from_b];
  __syncthreads();
  for (int r = 0; r < kSide; r += kRows)
    for (int v = 0; v < kSide / 32; ++v)
      if (const i64 a = t.a + lane + 32 * v, b = t.b + r + row; a < g.a && b < g.b)
        t.to[a * g.to_a + b * g.to_b] = tile[(lane + 32 * v) * (kSide + 1) + r + row];
}
)";

}  // namespace

std::string generate_tiles(int element_bytes, bool large) {
  const int vector = tile_vector(element_bytes);
  return cat(prelude(), "#define ELEMENT u", 8 * element_bytes, "\n#define WORD u", 8 * element_bytes * vector, "\n#define VECTOR ", vector,
             "\n#define SIDE ", tile_side(element_bytes, large),
             "\n#define AXES ", kTileAxes, "\n#define THREADS ", kTileThreads,
             "\n#define SHARED ", element_bytes == 2 ? "u32" : "ELEMENT", "\n", kPlaces, element_bytes == 2 ? kPairs : kElements, kKernel);
}

}  // namespace tenfold::backends::cuda
