// Pad in every mode. As the reference: a negative count crops first; what is left is repeated as the mode says. A thread writes WIDTH
// elements side by side, of one row or of two, and goes on with others: counts are read once for each block.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; tactics/move/pad_elements.cpp prints those of a problem
#define ELEMENT u16
#define AXIS i64             // of which the axes are
#define MODE 0               // constant, edge, wrap, reflect
#define BY_WORDS 1           // the source is dense, and pads are constant
#define RANK 3
#define THREADS 256
#define WIDE 8               // elements of 16 bytes
#define INDEX u32
#define INT int
#define EXTENT(d) a.y_dims[d]
#define LAST_STRIDE 1
#endif

#include "backends/cuda/kernels/move/pad_args.h"

using namespace tenfold::backends::cuda;
typedef PadArgumentsOf<ELEMENT, AXIS> Arguments;

struct Counts { INT moved[RANK], cropped[RANK], extent[RANK]; };   // of each dim: elements before, elements cut off before, elements left
struct Row { i64 from; bool inside; };
__device__ __forceinline__ INT source(INT i, INT extent) {
  if (i >= 0 && i < extent) return i;
  if (MODE == 0 || extent <= 0) return -1;
  if (MODE == 1) return i < 0 ? 0 : extent - 1;
  const INT period = MODE == 2 ? extent : max((INT)1, 2 * (extent - 1)), folded = (i % period + period) % period;
  return folded < extent ? folded : period - folded;
}
__device__ __forceinline__ Row row_at(const Arguments& a, const Counts& c, INDEX row) {
  Row r{0, true};
  #pragma unroll
  for (int d = RANK - 2; d >= 0; --d) {
    const INDEX above = row / (INDEX)EXTENT(d);
    const INT at = source((INT)(row - above * (INDEX)EXTENT(d)) - c.moved[d], c.extent[d]);
    r.inside = r.inside && at >= 0;
    r.from += (i64)(at + c.cropped[d]) * a.x_strides[d];
    row = above;
  }
  return r;
}
#if BY_WORDS
constexpr int kSize = sizeof(ELEMENT);
// 16 bytes of the source from anywhere, by whole words; what lies before or behind the source counts as nought.
__device__ __forceinline__ void read_words(const Arguments& a, const ELEMENT* from, u32 (&w)[5]) {
  const u32* const words = (const u32*)((u64)from & ~3ull);
  if ((const void*)words >= (const void*)a.x && (const void*)(words + 5) <= (const void*)a.x_end) {
    #pragma unroll
    for (int i = 0; i < 5; ++i) w[i] = words[i];
  } else {
    #pragma unroll
    for (int i = 0; i < 5; ++i)
      w[i] = (const void*)(words + i + 1) > (const void*)a.x && (const void*)(words + i) < (const void*)a.x_end ? words[i] : 0;
  }
}
// Where outer dims have no pads, what lies within them repeats: a thread finds out once where its 16 bytes come from, which touch two rows
// at most, and writes them again and again, a period of whole 16 bytes further each time.
__device__ __forceinline__ bool pad_periods(const Arguments& a, const Counts& c, ELEMENT fill) {
  int dims = 0;
  while (dims < RANK && c.moved[dims] == 0 && a.x_dims[dims] == a.y_dims[dims] && c.extent[dims] == (INT)a.y_dims[dims]) ++dims;
  i64 inner = 1, outer = 1, source_inner = 1;
  for (int d = 0; d < RANK; ++d) d < dims ? outer *= a.y_dims[d] : (inner *= a.y_dims[d], source_inner *= a.x_dims[d]);
  int images = 1;   // of a period
  while (images * inner % WIDE != 0) images *= 2;
  const i64 periods = outer / images, vectors = images * inner / WIDE, threads = (i64)gridDim.x * THREADS;
  if (outer % images != 0 || periods < 8 || vectors > threads) return false;
  const i64 id = (i64)blockIdx.x * THREADS + threadIdx.x, v = id % vectors, first = id / vectors, step = threads / vectors;
  if (first >= step) return true;
  const INDEX length = (INDEX)EXTENT(RANK - 1), row = (INDEX)(v * WIDE) / length;
  const INT column = (INT)((INDEX)(v * WIDE) - row * length), at = column - c.moved[RANK - 1];
  const bool crosses = column + WIDE > (INT)length;
  const Row here = row_at(a, c, row), next = crosses ? row_at(a, c, row + 1) : here;
  u32 of_here[4] = {}, of_next[4] = {}, filled[4] = {};
  bool any_here = false, any_next = false;
  #pragma unroll
  for (int i = 0; i < WIDE; ++i) {
    const bool over = column + i >= (INT)length;
    const INT place = at + i - (over ? (INT)length : 0);
    const bool there = (over ? next.inside : here.inside) && place >= 0 && place < c.extent[RANK - 1];
    any_here |= there && !over, any_next |= there && over;
    #pragma unroll
    for (int w = 0; w < (kSize + 3) / 4; ++w) {
      const int word = i * kSize / 4 + w, shift = i * kSize % 4 * 8;
      const u32 mask = (kSize >= 4 ? ~0u : (1u << kSize % 4 * 8) - 1) << shift;
      of_here[word] |= there && !over ? mask : 0, of_next[word] |= there && over ? mask : 0;
      filled[word] |= there ? 0 : (u32)((u64)fill >> w * 32) << shift & mask;
    }
  }
  const ELEMENT* from = a.x + here.from + at + c.cropped[RANK - 1] + first * images * source_inner;
  const ELEMENT* from_next = a.x + next.from + at - (INT)length + c.cropped[RANK - 1] + first * images * source_inner;
  uint4* to = (uint4*)a.y + first * vectors + v;
  const i64 ahead = step * images * source_inner;
  const auto shifted = [](const u32 (&w)[5], int i, const ELEMENT* place) {
    return __funnelshift_r(w[i], w[i + 1], ((u32)(u64)place & 3) * 8);
  };
  constexpr int kAtOnce = 4;
  for (i64 p = first; p < periods; p += step * kAtOnce) {
    u32 one[kAtOnce][5], two[kAtOnce][5];
    #pragma unroll
    for (int u = 0; u < kAtOnce; ++u)
      if (any_here && p + u * step < periods) read_words(a, from + u * ahead, one[u]);
    #pragma unroll
    for (int u = 0; u < kAtOnce; ++u)
      if (any_next && p + u * step < periods) read_words(a, from_next + u * ahead, two[u]);
    #pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      u32 y[4];
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        y[i] = filled[i];
        if (any_here) y[i] |= shifted(one[u], i, from + u * ahead) & of_here[i];
        if (any_next) y[i] |= shifted(two[u], i, from_next + u * ahead) & of_next[i];
      }
      if (p + u * step < periods) to[u * step * vectors] = make_uint4(y[0], y[1], y[2], y[3]);
    }
    from += kAtOnce * ahead, from_next += kAtOnce * ahead, to += kAtOnce * step * vectors;
  }
  return true;
}
#endif
template <int WIDTH> __device__ __forceinline__ void pad_by(const Arguments& a) {
  enter();
  __shared__ Counts c;
  if (threadIdx.x < RANK) {
    const int d = threadIdx.x;
    i64 before = 0, after = 0;
    for (int s = 0; s < (int)a.count; ++s) {
      i64 axis = a.axes ? (i64)a.axes[s] : s;
      if (axis < 0) axis += RANK;
      if (axis == a.axis[d]) before = a.pads[s], after = a.pads[s + a.count];
    }
    const i64 cropped = min(a.x_dims[d], max((i64)0, -before));
    c.cropped[d] = (INT)cropped, c.moved[d] = (INT)max((i64)0, before);
    c.extent[d] = (INT)max((i64)0, a.x_dims[d] - cropped + min((i64)0, after));
  }
  __syncthreads();
  const ELEMENT fill = a.value ? *a.value : (ELEMENT)0;
#if BY_WORDS
  if (WIDTH == WIDE && pad_periods(a, c, fill)) return;
#endif
  const INDEX total = (INDEX)a.total, length = (INDEX)EXTENT(RANK - 1), stride = gridDim.x * (INDEX)THREADS * WIDTH;
  for (INDEX first = ((INDEX)blockIdx.x * THREADS + threadIdx.x) * WIDTH; first < total; first += stride) {
    const INDEX row = first / length;
    const INT column = (INT)(first - row * length);
    const Row here = row_at(a, c, row), next = WIDTH > 1 && column + WIDTH > (INT)length ? row_at(a, c, row + 1) : here;
    ELEMENT v[WIDTH];
    #pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
      const bool over = column + i >= (INT)length;
      const Row r = over ? next : here;
      const INT at = source(column + i - (over ? (INT)length : 0) - c.moved[RANK - 1], c.extent[RANK - 1]);
      const bool there = r.inside && at >= 0 && (WIDTH == 1 || first + i < total);
      v[i] = there ? a.x[r.from + (i64)(at + c.cropped[RANK - 1]) * LAST_STRIDE] : fill;
    }
    if (WIDTH == 1 || first + WIDTH <= total) {
      write<WIDTH>(a.y + first, v);
    } else {
      #pragma unroll
      for (int i = 0; i < WIDTH; ++i)
        if (first + i < total) a.y[first + i] = v[i];
    }
  }
}
extern "C" __global__ void __launch_bounds__(THREADS) vectors(const Arguments a) { pad_by<WIDE>(a); }
extern "C" __global__ void __launch_bounds__(THREADS) singles(const Arguments a) { pad_by<1>(a); }
