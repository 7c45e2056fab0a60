// Printing pooling kernels of several results a thread.
#include "backends/cuda/codegen/pool/pool_strips.h"

#include <algorithm>
#include <map>
#include <vector>

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kParts = R"(
struct Arguments { const T* x; T* y; i64 batch, channels, in[3], out[3], xs[5], ys[5]; };
// What a thread reads of a row: from which column on, how many elements, into which word; and where it then finds the taps of its results.
__device__ constexpr int kFrom[READS] = {FROM}, kWide[READS] = {WIDE}, kWord[READS] = {WORD}, kAt[V * K2] = {AT};
constexpr int kHeight = (ROWS - 1) * S1 + (K1 - 1) * D1 + 1, kResultWords = V * sizeof(T) > 4 ? V * sizeof(T) / 4 : 1;
constexpr int kHeld = LAST ? kResultWords : WORDS;
__device__ __forceinline__ constexpr bool needs(int row, int y) {
  return y >= row * S1 && (y - row * S1) % D1 == 0 && (y - row * S1) / D1 < K1;
}
__device__ __forceinline__ constexpr bool is_needed(int y) {
  bool any = false;
  for (int r = 0; r < ROWS; ++r) any = any || needs(r, y);
  return any;
}
template <int N> __device__ __forceinline__ void fetch(const T* from, u32* to) {
  u32 x[N];
  read<N>((const u32*)from, x);
  #pragma unroll
  for (int i = 0; i < N; ++i) to[i] = x[i];
}
__device__ __forceinline__ void get(const T* line, const int column, const int extent, const i64 step, const bool there,
                                    u32 (&raw)[WORDS]) {
  #pragma unroll
  for (int l = 0; l < READS; ++l) {
    constexpr int kBytes = sizeof(T);
    u32* to = raw + kWord[l];
    const int at = column + kFrom[l], bytes = kWide[l] * kBytes;
    #pragma unroll
    for (int w = 0; w < (bytes + 3) / 4; ++w) to[w] = FILL;
    if (!there || (u32)at >= (u32)extent) continue;
    const T* from = line + (LAST ? at * step : (i64)at);
    if (bytes == 16) fetch<4>(from, to);
    else if (bytes == 8) fetch<2>(from, to);
    else if (bytes == 4) fetch<1>(from, to);
    else to[0] = *(const u16*)from;
  }
}
__device__ __forceinline__ float element(u32 word, int, float*) { return __uint_as_float(word); }
__device__ __forceinline__ float element(u32 word, int at, u16*) { const u16 e = (u16)(word >> at % 2 * 16); return LOAD(e); }
__device__ __forceinline__ float element(const u32* words, int at) { return element(words[at * sizeof(T) / 4], at, (T*)0); }
__device__ __forceinline__ void put(float x, int, u32& word, float*) { word = __float_as_uint(x); }
__device__ __forceinline__ void put(float x, int at, u32& word, u16*) {
  const u32 e = (u32)STORE(x);
  word = at % 2 ? word | e << 16 : e;
}
__device__ __forceinline__ u32 most(u32 a, u32 b) {
#if PAIRS && __CUDA_ARCH__ >= 800
  u32 y;
  asm("max.NaN.PAIR %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
#else
  u32 y = 0;
  #pragma unroll
  for (int i = 0; i < 4 / (int)sizeof(T); ++i) put(max_nan(element(a, i, (T*)0), element(b, i, (T*)0)), i, y, (T*)0);
  return y;
#endif
}
// Taps of the window from `start` on that count.
template <int TAPS, int STEP> __device__ __forceinline__ int counted(int start, int extent, int end) {
#if COUNT_PADS
  return max(0, min(TAPS, (extent + end - start + STEP - 1) / STEP));
#else
  return max(0, (start >= extent ? 0 : min(TAPS, (extent - start + STEP - 1) / STEP)) - (start < 0 ? (-start + STEP - 1) / STEP : 0));
#endif
}
)";

constexpr const char* kMax = R"(
struct Window {
  u32 best[ROWS][kHeld];
  __device__ __forceinline__ void start() {
    #pragma unroll
    for (int r = 0; r < ROWS; ++r)
      #pragma unroll
      for (int w = 0; w < kHeld; ++w) best[r][w] = FILL;
  }
  __device__ __forceinline__ void join(int y, u32 (&raw)[WORDS]) {
    #pragma unroll
    for (int k = 1; k < (LAST ? K2 : 1); ++k)
      #pragma unroll
      for (int w = 0; w < kHeld; ++w) raw[w] = most(raw[w], raw[k * kHeld + w]);
    #pragma unroll
    for (int r = 0; r < ROWS; ++r)
      #pragma unroll
      for (int w = 0; w < kHeld && needs(r, y); ++w) best[r][w] = most(best[r][w], raw[w]);
  }
  __device__ __forceinline__ void finish(int r, const float*, u32 (&y)[kResultWords]) const {
    #pragma unroll
    for (int v = 0; v < V; ++v) {
      float x = element(best[r], LAST ? v : kAt[v * K2]);
      #pragma unroll
      for (int k = 1; k < (LAST ? 1 : K2); ++k) x = max_nan(x, element(best[r], kAt[v * K2 + k]));
      put(x, v, y[v * sizeof(T) / 4], (T*)0);
    }
  }
};
)";

// In the order in which a window is told: depth, height, width.
constexpr const char* kMean = R"(
struct Window {
  float sum[ROWS][V];
  __device__ __forceinline__ void start() {
    #pragma unroll
    for (int r = 0; r < ROWS; ++r)
      #pragma unroll
      for (int v = 0; v < V; ++v) sum[r][v] = 0.f;
  }
  __device__ __forceinline__ void join(int y, u32 (&raw)[WORDS]) {
    #pragma unroll
    for (int r = 0; r < ROWS; ++r)
      #pragma unroll
      for (int k = 0; k < K2 && needs(r, y); ++k)
        #pragma unroll
        for (int v = 0; v < V; ++v) sum[r][v] += element(raw, kAt[v * K2 + k]);
  }
  __device__ __forceinline__ void finish(int r, const float* count, u32 (&y)[kResultWords]) const {
    #pragma unroll
    for (int v = 0; v < V; ++v) put(sum[r][v] / count[LAST ? 0 : v], v, y[v * sizeof(T) / 4], (T*)0);
  }
};
)";

constexpr const char* kKernel = R"(
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) strips(Arguments a) {
  enter();
  const INDEX vectors = LAST ? (INDEX)(CHANNELS) / V : ((INDEX)OUT2 + V - 1) / V, strips = ((INDEX)OUT1 + ROWS - 1) / ROWS;
  INDEX i = (INDEX)blockIdx.x * THREADS + threadIdx.x;
  const int vector = (int)(i % vectors);
  i /= vectors;
  int right = 0, channel = vector * V;
  if (LAST) right = (int)(i % (INDEX)OUT2), i /= (INDEX)OUT2;
  const int top = (int)(i % strips) * ROWS;
  i /= strips;
  const int depth = (int)(i % (INDEX)OUT0);
  i /= (INDEX)OUT0;
  if (!LAST) right = vector * V, channel = (int)(i % (INDEX)(CHANNELS)), i /= (INDEX)(CHANNELS);
  if (i >= (INDEX)a.batch) return;
  const T* x = a.x + (i64)i * a.xs[0] + channel * a.xs[1];
  const int z = depth * S0 - B0, y = top * S1 - B1, column = right * S2 - (LAST ? B2 : 0);
  Window window;
  window.start();
  #pragma unroll
  for (int kz = 0; kz < K0; ++kz) {
    const int plane = z + kz * D0;
    #pragma unroll
    for (int ky = 0; ky < kHeight; ++ky) {
      if (!is_needed(ky)) continue;
      const int row = y + ky;
      u32 raw[WORDS];
      get(x + plane * a.xs[2] + row * a.xs[3], column, (int)a.in[2], a.xs[4], (u32)plane < (u32)a.in[0] && (u32)row < (u32)a.in[1], raw);
      window.join(ky, raw);
    }
  }
  u32 results[ROWS][kResultWords];
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float count[LAST ? 1 : V];
    #pragma unroll
    for (int v = 0; v < (LAST ? 1 : V); ++v)
      count[v] = (float)max(1, counted<K0, D0>(z, (int)a.in[0], E0) * counted<K1, D1>(y + r * S1, (int)a.in[1], E1) *
                                   counted<K2, D2>((right + v) * S2 - B2, (int)a.in[2], E2));
    window.finish(r, count, results[r]);
  }
  T* to = a.y + (i64)i * a.ys[0] + channel * a.ys[1] + depth * a.ys[2] + top * a.ys[3] + right * a.ys[4];
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (top + r >= (int)OUT1) break;
    #pragma unroll
    for (int v = 0; v < V; v += STORED) {
      T* at = to + r * a.ys[3] + v;
      if (!LAST && right + v >= (int)OUT2) break;
      PIECE out[STORED * sizeof(T) / sizeof(PIECE)];
      #pragma unroll
      for (int w = 0; w < STORED * sizeof(T) / sizeof(PIECE); ++w)
        out[w] = (PIECE)(results[r][v * sizeof(T) / 4 + w] >> v * sizeof(T) % 4 * 8);
      write<STORED * sizeof(T) / sizeof(PIECE)>((PIECE*)at, out);
    }
  }
}
)";

constexpr int kBlocks = 2;   // that a multiprocessor is to have room for

int bytes_of(const PoolStripsProblem& p) { return bits(p.pool.dtype) / 8; }
int floor_div(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

struct Reads {
  std::vector<int> from, wide, word, at;
  int words = 0;
};
Reads reads_of(const PoolStripsProblem& p) {
  Reads all;
  const int width = p.pool.width, per_word = std::max(1, 4 / bytes_of(p)), taps = static_cast<int>(p.pool.kernel[2]);
  const auto add = [&](int from, int wide) {
    all.from.push_back(from), all.wide.push_back(wide), all.word.push_back(all.words);
    all.words += (wide + per_word - 1) / per_word;
  };
  const auto column = [&](int v, int k) {
    return v * static_cast<int>(p.pool.stride[2]) + k * static_cast<int>(p.pool.dilation[2]) - static_cast<int>(p.pool.begin[2]);
  };
  if (p.channels_last) {
    for (int k = 0; k < taps; ++k) add(k * static_cast<int>(p.pool.dilation[2]), width);
    for (int v = 0; v < width; ++v)
      for (int k = 0; k < taps; ++k) all.at.push_back(k * width + v);
    return all;
  }
  std::map<int, std::pair<int, int>> pieces;   // first and last column of each that a tap reads
  for (int v = 0; v < width; ++v)
    for (int k = 0; k < taps; ++k) {
      const int c = column(v, k);
      const auto [it, is_new] = pieces.try_emplace(floor_div(c, p.piece), c, c);
      it->second = {std::min(it->second.first, c), std::max(it->second.second, c)};
    }
  for (const auto& [number, ends] : pieces) {   // of a piece at an edge, say, half of it may do
    int wide = p.piece;
    while (wide > 1 && wide / 2 * bytes_of(p) >= 4 && floor_div(ends.first, wide / 2) == floor_div(ends.second, wide / 2)) wide /= 2;
    add(floor_div(ends.first, wide) * wide, wide);
  }
  for (int v = 0; v < width; ++v)
    for (int k = 0; k < taps; ++k) {
      std::size_t l = 0;
      while (column(v, k) >= all.from[l] + all.wide[l]) ++l;
      all.at.push_back(all.word[l] * per_word + column(v, k) - all.from[l]);
    }
  return all;
}

}  // namespace

int pool_strips_reads(const PoolStripsProblem& p) {
  int rows = 0;
  const PoolProblem& w = p.pool;
  for (std::int64_t y = 0; y < (p.rows - 1) * w.stride[1] + (w.kernel[1] - 1) * w.dilation[1] + 1; ++y) {
    bool needed = false;
    for (int r = 0; r < p.rows; ++r) {
      const std::int64_t at = y - r * w.stride[1];
      needed = needed || (at >= 0 && at % w.dilation[1] == 0 && at / w.dilation[1] < w.kernel[1]);
    }
    rows += needed;
  }
  return rows * static_cast<int>(w.kernel[0] * static_cast<std::int64_t>(reads_of(p).from.size()));
}

std::string generate_pool_strips(const PoolStripsProblem& p) {
  std::string head;
  const auto define = [&](const std::string& name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  const auto list = [&](const std::string& name, const std::vector<int>& values) {
    std::string text;
    for (int v : values) text += cat(text.empty() ? "" : ", ", v);
    define(name, text);
  };
  const PoolProblem& w = p.pool;
  const Reads reads = reads_of(p);
  define("T", storage_type(w.dtype)), define("V", w.width), define("ROWS", p.rows), define("LAST", p.channels_last ? 1 : 0);
  define("THREADS", kPoolStripsThreads), define("BLOCKS", kBlocks);
  const int at_once = p.channels_last ? w.width : p.stored;
  define("STORED", at_once), define("PIECE", at_once * bytes_of(p) < 4 ? "u16" : "u32");
  for (std::size_t d = 0; d < 3; ++d) {
    define(cat("K", d), w.kernel[d]), define(cat("S", d), w.stride[d]), define(cat("D", d), w.dilation[d]);
    define(cat("B", d), w.begin[d]), define(cat("E", d), w.end[d]);
    define(cat("OUT", d), w.out[d] > 0 ? cat(w.out[d]) : cat("a.out[", d, "]"));
  }
  define("INDEX", w.few ? "u32" : "i64"), define("CHANNELS", w.channels > 0 ? cat(w.channels) : "a.channels");
  define("COUNT_PADS", w.count_pads ? 1 : 0);
  define("READS", reads.from.size()), define("WORDS", reads.words);
  list("FROM", reads.from), list("WIDE", reads.wide), list("WORD", reads.word), list("AT", reads.at);
  define("LOAD(e)", loaded(w.dtype, "(e)")), define("STORE(f)", stored(w.dtype, "(f)"));
  define("FILL", !w.is_max ? "0u" : w.dtype == DType::f32 ? "0xff800000u" : w.dtype == DType::f16 ? "0xfc00fc00u" : "0xff80ff80u");
  define("PAIRS", w.dtype == DType::f32 ? 0 : 1);
  std::string parts = kParts;
  replace_once(parts, "max.NaN.PAIR", w.dtype == DType::bf16 ? "max.NaN.bf16x2" : "max.NaN.f16x2");
  return cat(prelude(), head, parts, w.is_max ? kMax : kMean, kKernel);
}

}  // namespace tenfold::backends::cuda
