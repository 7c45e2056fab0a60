// Printing tiled products.
#include "backends/cuda/codegen/product/gemm_tiled.h"

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kLoading = R"(
struct Place { i64 down, across, batch[AXES]; };
struct Arguments { const IN* a; const IN* b; OUT* y; const void* tail[TAIL_SLOTS]; int m, n, k, axes, a_along, b_along; i64 extent[AXES];
                   Place at_a, at_b, at_y, at_tail[TAIL_SLOTS]; };
constexpr int kThreads = 32 * DOWN * ACROSS, kVector = 16 / sizeof(IN);
constexpr int kThreadRows = ROWS / DOWN / 4, kThreadColumns = COLUMNS / ACROSS / 8;   // a warp is 4 x 8 lanes
// Lines of shared memory: those of a term of the sum for rows and for columns, and a row of results. Their ends keep lanes in other banks.
constexpr int kLineA = ROWS + 4, kLineB = COLUMNS + 4, kHalf = DEPTH * (kLineA + kLineB), kRoom = 2 * kHalf;

__device__ __forceinline__ i64 matrix_at(const Arguments& a, const Place& place, i64 batch) {
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
)";

constexpr const char* kKernel = R"(
// The next terms are on their way from memory while those in one half of the room are multiplied.
template <int V> __device__ __forceinline__ void compute(const Arguments& a, int a_along, int b_along) {
  enter();
  __shared__ Pack<ACC, 4> shared[kRoom / 4];
  ACC* const room = (ACC*)shared;
  const int across = (a.n - 1) / COLUMNS + 1, down = (a.m - 1) / ROWS + 1;
  const int n0 = (int)(blockIdx.x % across) * COLUMNS, m0 = (int)(blockIdx.x / across % down) * ROWS;
  const i64 batch = blockIdx.x / across / down;
  const IN* const matrix_a = a.a + matrix_at(a, a.at_a, batch) + m0 * a.at_a.down;
  const IN* const matrix_b = a.b + matrix_at(a, a.at_b, batch) + n0 * a.at_b.across;
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
  OUT* const y = a.y + matrix_at(a, a.at_y, batch);
  TAIL_POINTERS
  // Results go through the room, as many rows of each thread at a time as it holds: neighbouring threads then write neighbours.
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
      TAIL_OF_ONE
    }
  }
}
)";

std::string tail_pointers(const TiledProblem& p) {
  std::string out;
  for (std::size_t o = 0; o < p.tail.size(); ++o)
    out += cat("const ", storage_type(p.tail[o]), "* const p", o, " = (const ", storage_type(p.tail[o]), "*)a.tail[", o,
               "] + matrix_at(a, a.at_tail[", o, "], batch);\n  ");
  return out;
}

std::string tail_of_one(const TiledProblem& p) {
  std::string out;
  std::vector<std::string> inputs{"e"}, results{"all"};
  if (p.body) out += cat("const ", compute_type(p.body->inputs[0]), " e = all;\n");
  for (std::size_t o = 0; o < p.tail.size(); ++o) {
    const std::string element = cat("p", o, "[m * a.at_tail[", o, "].down + n * a.at_tail[", o, "].across]");
    out += cat("      const ", compute_type(p.tail[o]), " e", o, " = ", loaded(p.tail[o], element), ";\n");
    inputs.push_back(cat("e", o));
  }
  if (p.body) out += print_body(*p.body, inputs, "t", "      ", results);
  return out + cat("      y[m * a.at_y.down + n * a.at_y.across] = ", stored(p.out, results[0]), ";");
}

}  // namespace

std::string generate_gemm_tiled(const TiledProblem& p, const TiledTile& tile) {
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  const bool wide = p.in == DType::f64;
  define("IN", storage_type(p.in)), define("OUT", storage_type(p.out)), define("LOAD(x)", loaded(p.in, "(x)"));
  define("ACC", wide ? "double" : "float"), define("DEPTH", (tile.rows * tile.columns > 64 * 64 ? 16 : 32) / (wide ? 2 : 1));
  define("ROWS", tile.rows), define("COLUMNS", tile.columns), define("DOWN", tile.warps_down), define("ACROSS", tile.warps_across);
  define("AXES", kTiledAxes), define("TAIL_SLOTS", kTiledTail);
  std::string text = kKernel;
  replace_once(text, "TAIL_POINTERS", tail_pointers(p));
  replace_once(text, "TAIL_OF_ONE", tail_of_one(p));
  // One block of a multiprocessor is enough: with two the compiler spills, and 4096 x 4096 x 4096 takes 1.12 of the time.
  const auto kernel = [&](const char* name, const char* vector, const auto& a_along, const auto& b_along) {
    text += cat("extern \"C\" __global__ void __launch_bounds__(kThreads, 1) ", name, "(const Arguments a) {\n");
    text += cat("  compute<", vector, ">(a, ", a_along, ", ", b_along, ");\n}\n");
  };
  if (p.vectors) kernel("vectors", "kVector", p.a_along, p.b_along);
  if (p.singles) kernel("singles", "1", "a.a_along", "a.b_along");
  return cat(prelude(), head, kLoading, text);
}

}  // namespace tenfold::backends::cuda
