// Products of any float type without tensor cores: a thread sums up a tile of results in registers, its block's rows and columns come
// through shared memory, and extents and strides are given by the run, so that operands may be transposed, broadcast or strided.
//
//   shared memory: half 0: DEPTH lines of a, ROWS + 4 each, DEPTH lines of b, COLUMNS + 4 each | half 1      afterwards: rows of results
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/gemm/gemm_tiled.cpp prints those of a problem
#define IN float
#define OUT float
#define LOAD(x) x
#define ACC float            // of sums
#define DEPTH 16             // terms in shared memory
#define ROWS 128             // of a block
#define COLUMNS 128
#define DOWN 4               // warps
#define ACROSS 2
#define EPILOGUE_POINTERS                                              // operands of the epilogue, of this matrix of the batch
#define EPILOGUE y[m * a.at_y.down + n * a.at_y.across] = all;         // `all` at row m, column n
#define VECTORS 1            // a kernel `vectors` that reads 16 bytes at once, along k of a and of b or across
#define VECTORS_ALONG true, false
#define SINGLES 1            // a kernel `singles`
#endif

#include "backends/cuda/kernels/gemm/gemm_tiled_args.h"

using namespace tenfold::backends::cuda;

constexpr int kThreads = 32 * DOWN * ACROSS, kVector = 16 / sizeof(IN);
constexpr int kThreadRows = ROWS / DOWN / 4, kThreadColumns = COLUMNS / ACROSS / 8;   // a warp is 4 x 8 lanes
// Lines of shared memory: those of a term of the sum for rows and for columns, and a row of results. Their ends keep lanes in other banks.
constexpr int kLineA = ROWS + 4, kLineB = COLUMNS + 4, kHalf = DEPTH * (kLineA + kLineB), kRoom = 2 * kHalf;

__device__ __forceinline__ i64 matrix_at(const TiledArguments& a, const TiledPlace& place, i64 batch) {
  i64 at = 0;
  for (int d = a.axes - 1; d >= 0; --d) {
    at += batch % a.extent[d] * place.batch[d];
    batch /= a.extent[d];
  }
  return at;
}

// LINES rows (or columns) of DEPTH terms each pass through registers, V elements that lie together at once, either one behind the other in
// a line (`along`) or in lines side by side. What is outside counts as 0.
template <int LINES, int V> struct Walk {
  static constexpr int kPieces = LINES * DEPTH / kThreads / V;
  int along, line, term, more_lines, more_terms;
  const IN* from;
  IN next[kPieces][V];
  __device__ __forceinline__ Walk(int along, const IN* matrix, i64 by_line, i64 by_term) : along(along) {
    const int across = along ? DEPTH / V : LINES / V, outer = (int)threadIdx.x / across, inner = (int)threadIdx.x % across * V;
    line = along ? outer : inner, term = along ? inner : outer;
    more_lines = along ? kThreads / across : 0, more_terms = along ? 0 : kThreads / across;
    from = matrix + line * by_line + term * by_term;
  }
  __device__ __forceinline__ void load(i64 by_line, i64 by_term, int lines, int terms) {
    const i64 step = more_lines * by_line + more_terms * by_term;
    #pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      #pragma unroll
      for (int v = 0; v < V; ++v) next[i][v] = 0;
      if (line + i * more_lines < lines && term + i * more_terms < terms) read<V>(from + i * step, next[i]);
    }
    from += DEPTH * by_term;
  }
  __device__ __forceinline__ void put(ACC* to) const {
    to += term * (LINES + 4) + line;
    #pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      ACC piece[V];
      #pragma unroll
      for (int v = 0; v < V; ++v) piece[v] = LOAD(next[i][v]);
      if (along || V == 1) {
        #pragma unroll
        for (int v = 0; v < V; ++v) to[v * (LINES + 4)] = piece[v];
      } else {
        constexpr int kAtOnce = V == 1 ? 1 : 16 / sizeof(ACC);
        #pragma unroll
        for (int v = 0; v < V; v += kAtOnce) write<kAtOnce>(to + v, *(ACC(*)[kAtOnce])(piece + v));
      }
      to += more_terms * (LINES + 4) + more_lines;
    }
  }
};

// The next terms are on their way from memory while those in one half of the room are multiplied.
template <int V> __device__ __forceinline__ void compute(const TiledArguments& a, int a_along, int b_along) {
  enter();
  __shared__ Pack<ACC, 4> shared[kRoom / 4];
  ACC* const room = (ACC*)shared;
  const int across = (a.n - 1) / COLUMNS + 1, down = (a.m - 1) / ROWS + 1;
  const int n0 = (int)(blockIdx.x % across) * COLUMNS, m0 = (int)(blockIdx.x / across % down) * ROWS;
  const i64 batch = blockIdx.x / across / down;
  const IN* const matrix_a = (const IN*)a.a + matrix_at(a, a.at_a, batch) + m0 * a.at_a.down;
  const IN* const matrix_b = (const IN*)a.b + matrix_at(a, a.at_b, batch) + n0 * a.at_b.across;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warp_row = warp / ACROSS, warp_column = warp % ACROSS;
  const int my_row = warp_row * 4 * kThreadRows + lane / 8 * 4, my_column = warp_column * 8 * kThreadColumns + lane % 8 * 4;
  ACC sum[kThreadRows][kThreadColumns] = {};
  Walk<ROWS, V> walk_a(a_along, matrix_a, a.at_a.down, a.at_a.across);
  Walk<COLUMNS, V> walk_b(b_along, matrix_b, a.at_b.across, a.at_b.down);
  const auto fetch = [&](int k0) {
    walk_a.load(a.at_a.down, a.at_a.across, a.m - m0, a.k - k0);
    walk_b.load(a.at_b.across, a.at_b.down, a.n - n0, a.k - k0);
  };
  fetch(0);
  ACC *tile_a = room, *other = room + kHalf;
  for (int k0 = 0; k0 < a.k; k0 += DEPTH) {
    ACC* const tile_b = tile_a + DEPTH * kLineA;
    walk_a.put(tile_a);
    walk_b.put(tile_b);
    __syncthreads();
    if (k0 + DEPTH < a.k) fetch(k0 + DEPTH);
    #pragma unroll
    for (int t = 0; t < DEPTH; ++t) {
      ACC x[kThreadRows], w[kThreadColumns];
      #pragma unroll
      for (int i = 0; i < kThreadRows; i += 4) read<4>(tile_a + t * kLineA + my_row + i * 4, *(ACC(*)[4])(x + i));
      #pragma unroll
      for (int j = 0; j < kThreadColumns; j += 4) read<4>(tile_b + t * kLineB + my_column + j * 8, *(ACC(*)[4])(w + j));
      #pragma unroll
      for (int i = 0; i < kThreadRows; ++i)
        #pragma unroll
        for (int j = 0; j < kThreadColumns; ++j) sum[i][j] += x[i] * w[j];
    }
    ACC* const swapped = tile_a;
    tile_a = other, other = swapped;
  }
  OUT* const y = (OUT*)a.y + matrix_at(a, a.at_y, batch);
  EPILOGUE_POINTERS
  // Results go through the room, as many rows of each thread at a time as it holds: neighboring threads then write neighbors.
  constexpr int kFit = kRoom / kLineB / (ROWS / kThreadRows);
  constexpr int kSlice = kFit >= kThreadRows ? kThreadRows : kFit >= 4 ? 4 : kFit >= 2 ? 2 : 1;
  #pragma unroll
  for (int first = 0; first < kThreadRows; first += kSlice) {
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < kSlice; ++i)
      #pragma unroll
      for (int j = 0; j < kThreadColumns; j += 4)
        write<4>(room + ((warp_row * 4 + lane / 8) * kSlice + i) * kLineB + my_column + j * 8, *(ACC(*)[4])(sum[first + i] + j));
    __syncthreads();
    #pragma unroll 4
    for (int at = threadIdx.x; at < ROWS / kThreadRows * kSlice * COLUMNS; at += kThreads) {
      const int slot = at / COLUMNS, i = first + slot % kSlice, strip = slot / kSlice;
      const i64 m = m0 + strip / 4 * 4 * kThreadRows + i / 4 * 16 + strip % 4 * 4 + i % 4, n = n0 + at % COLUMNS;
      if (m >= a.m || n >= a.n) continue;
      const ACC all = room[slot * kLineB + at % COLUMNS];
      EPILOGUE
    }
  }
}

// One block of a multiprocessor is enough: with two the compiler spills, and 4096 x 4096 x 4096 takes 1.12 of the time.
#if VECTORS
extern "C" __global__ void __launch_bounds__(kThreads, 1) vectors(const TiledArguments a) { compute<kVector>(a, VECTORS_ALONG); }
#endif
#if SINGLES
extern "C" __global__ void __launch_bounds__(kThreads, 1) singles(const TiledArguments a) { compute<1>(a, a.a_along, a.b_along); }
#endif
