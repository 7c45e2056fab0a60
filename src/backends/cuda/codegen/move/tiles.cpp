// Printing the tile copy.
#include "backends/cuda/codegen/move/tiles.h"

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

// A column more than a tile is wide: neither its rows nor its columns meet in one bank.
constexpr const char* kKernel = R"(
struct Arguments { const ELEMENT* from; ELEMENT* to; i64 a, b, from_a, from_b, to_a, to_b, tiles_a, tiles_b, axes, wide,
                   extent[AXES], from_stride[AXES], to_stride[AXES]; };
extern "C" __global__ void __launch_bounds__(THREADS) tiles(const Arguments g) {
  enter();
  constexpr int kSide = SIDE, kStep = 32 * VECTOR, kRows = THREADS / 32, kBits = 8 * sizeof(ELEMENT);
  __shared__ ELEMENT tile[kSide][kSide + 1];
  i64 rest = blockIdx.x;
  const i64 b0 = rest % g.tiles_b * kSide;
  rest /= g.tiles_b;
  const i64 a0 = rest % g.tiles_a * kSide;
  rest /= g.tiles_a;
  const ELEMENT* from = g.from;
  ELEMENT* to = g.to;
  for (int d = 0; d < (int)g.axes; ++d) {
    const i64 i = rest % g.extent[d];
    rest /= g.extent[d], from += i * g.from_stride[d], to += i * g.to_stride[d];
  }
  const int row = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (g.wide) {
    WORD words[kSide / kRows][kSide / kStep];   // all that a thread reads is under way at once
    #pragma unroll
    for (int r = 0; r < kSide; r += kRows)
      #pragma unroll
      for (int s = 0; s < kSide; s += kStep)
        if (const i64 b = b0 + s + lane * VECTOR; a0 + r + row < g.a && b < g.b)
          words[r / kRows][s / kStep] = *(const WORD*)(from + (a0 + r + row) * g.from_a + b);
    #pragma unroll
    for (int r = 0; r < kSide; r += kRows)
      #pragma unroll
      for (int s = 0; s < kSide; s += kStep)
        #pragma unroll
        for (int v = 0; v < VECTOR; ++v)
          tile[r + row][s + lane * VECTOR + v] = (ELEMENT)(words[r / kRows][s / kStep] >> (v * kBits % (8 * sizeof(WORD))));
  } else {
    for (int r = 0; r < kSide; r += kRows)
      for (int v = 0; v < kSide / 32; ++v)
        if (const i64 a = a0 + r + row, b = b0 + lane + 32 * v; a < g.a && b < g.b)
          tile[r + row][lane + 32 * v] = from[a * g.from_a + b * g.from_b];
  }
  __syncthreads();
  if (g.wide) {
    #pragma unroll
    for (int r = 0; r < kSide; r += kRows)
      #pragma unroll
      for (int s = 0; s < kSide; s += kStep)
        if (const i64 a = a0 + s + lane * VECTOR; b0 + r + row < g.b && a < g.a) {
          WORD word = 0;
          #pragma unroll
          for (int v = 0; v < VECTOR; ++v) word |= (WORD)tile[s + lane * VECTOR + v][r + row] << (v * kBits % (8 * sizeof(WORD)));
          *(WORD*)(to + (b0 + r + row) * g.to_b + a) = word;
        }
  } else {
    for (int r = 0; r < kSide; r += kRows)
      for (int v = 0; v < kSide / 32; ++v)
        if (const i64 a = a0 + lane + 32 * v, b = b0 + r + row; a < g.a && b < g.b)
          to[a * g.to_a + b * g.to_b] = tile[lane + 32 * v][r + row];
  }
}
)";

}  // namespace

std::string generate_tiles(int element_bytes, bool large) {
  const int vector = tile_vector(element_bytes);
  return cat(prelude(), "#define ELEMENT u", 8 * element_bytes, "\n#define WORD u", 8 * element_bytes * vector, "\n#define VECTOR ", vector,
             "\n#define SIDE ", tile_side(element_bytes, large),
             "\n#define AXES ", kTileAxes, "\n#define THREADS ", kTileThreads, "\n", kKernel);
}

}  // namespace tenfold::backends::cuda
