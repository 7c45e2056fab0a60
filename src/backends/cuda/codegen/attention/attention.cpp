// Printing attention kernels for tensor cores: softmax is kept as a running maximum and sum, as in FlashAttention (Dao et al., 2022).
#include "backends/cuda/codegen/attention/attention.h"

#include "backends/cuda/codegen/mma_parts.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

// Fragments are those of mma.m16n8k16: thread t holds rows t/4 and t/4+8, columns 2(t%4) and the next, of every 8; those of mma.m16n8k8
// for f32, rounded to tf32.
constexpr const char* kMma = R"(
constexpr int kPiece = 16 / sizeof(T);   // elements
// What a register of a fragment holds: two elements of 16 bits, or one of f32, rounded.
__device__ __forceinline__ u32 fragment(const T* from) {
#if TF32
  return to_tf32(__float_as_uint(*from));
#else
  return *(const u32*)from;
#endif
}
__device__ __forceinline__ void load_transposed(u32& b0, u32& b1, const T* row) {
  const u32 address = (u32)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b0), "=r"(b1) : "r"(address));
}
__device__ __forceinline__ void load_matrices(u32 (&r)[4], const T* row) {
  const u32 address = (u32)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address));
}
__device__ __forceinline__ void load_transposed4(u32 (&r)[4], const T* row) {
  const u32 address = (u32)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address));
}
constexpr float kLog2 = 1.4426950408889634f;
__device__ __forceinline__ float power_of_2(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
// A mask in powers of two. What is finite stays so: a row that the lowest float masks whole is an even mean of all values.
__device__ __forceinline__ float in_powers(float m) { return m > -INFINITY_F ? fmaxf(m * kLog2, -3e38f) : m; }
// One row of a warp's result: of each 8 columns the two that a thread holds.
template <bool ALIGNED, int BLOCKS_OF_8>
__device__ __forceinline__ void store_row(T* y, const float (&out)[BLOCKS_OF_8][4], int h, float scale) {
  #pragma unroll
  for (int n = 0; n < BLOCKS_OF_8; ++n) {
    const int column = n * 8 + threadIdx.x % 4 * 2;
#if TF32
    if (ALIGNED && column < REAL_VALUE) *(float2*)(y + column) = make_float2(out[n][2 * h] * scale, out[n][2 * h + 1] * scale);
#else
    if (ALIGNED && column < REAL_VALUE) *(u32*)(y + column) = pair(out[n][2 * h] * scale, out[n][2 * h + 1] * scale);
#endif
    if (ALIGNED) continue;
    if (column < REAL_VALUE) y[column] = STORE(out[n][2 * h] * scale);
    if (column + 1 < REAL_VALUE) y[column + 1] = STORE(out[n][2 * h + 1] * scale);
  }
}
// All rows of a warp's result; each thread has the sum of the weights of its own keys.
template <bool ALIGNED, int BLOCKS_OF_8>
__device__ __forceinline__ void store_rows(const Arguments& a, const Rows& rows, i64 head, i64 batch, int first,
                                           const float (&out)[BLOCKS_OF_8][4], const float (&sum)[2]) {
  #pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float all = over_warp<Sum, 4>(sum[h]);
    const int row = first + threadIdx.x % 32 / 4 + 8 * h;
    if (row >= rows.queries) continue;
    store_row<ALIGNED>(a.y + batch * a.ys[0] + head * a.ys[1] + (rows.begin + row) * a.ys[2], out, h, 1.0f / all);
  }
}
__device__ __forceinline__ void copy16(T* to, const T* from, bool there) {
#if __CUDA_ARCH__ >= 800
  const int bytes = there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes));
#else
  *(uint4*)to = there ? *(const uint4*)from : make_uint4(0, 0, 0, 0);
#endif
}
__device__ __forceinline__ void copy16(T* to, const T* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((u32)__cvta_generic_to_shared(to)), "l"(from));
#else
  *(uint4*)to = *(const uint4*)from;
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
// ROWS rows of REAL elements into rows of PITCH in shared memory, or `rows` if only these are wanted; rows past `count` and columns past
// `real` become zero.
template <int ROWS, int WIDTH, int PITCH, bool ALIGNED>
__device__ __forceinline__ void fetch(T* to, const T* from, i64 stride, int count, int real, int rows = ROWS) {
  constexpr int kRow = WIDTH / kPiece, kStep = 32 * WARPS / kRow;
  const int column = threadIdx.x % kRow * kPiece;
  int row = threadIdx.x / kRow;
  if (row >= kStep) return;   // threads that are left over
  const T* next = from + row * stride + column;
  if (ALIGNED && real == WIDTH && count >= ROWS) {   // nothing to ask about, and few instructions: they are what attention waits for
    #pragma unroll
    for (int i = 0; i < (ROWS + kStep - 1) / kStep; ++i, next += kStep * stride)
      if (ROWS % kStep == 0 || row + i * kStep < ROWS) copy16(to + (row + i * kStep) * PITCH + column, next);
    return;
  }
  #pragma unroll 1
  for (; row < rows; row += kStep, next += kStep * stride) {
    T* place = to + row * PITCH + column;
    if (ALIGNED) {
      const bool there = row < count && column < real;
      copy16(place, there ? next : from, there);
    } else {
      for (int v = 0; v < kPiece; ++v) place[v] = row < count && column + v < real ? next[v] : (T)0;
    }
  }
}
)";

constexpr const char* kKernel = R"(
constexpr int kQueries = 16 * WARPS, kSizePitch = SIZE + kPiece, kValuePitch = VALUE_STORED + kPiece, kMaskPitch = KEYS + 8;
constexpr int kStage = KEYS * kSizePitch + KEYS * kValuePitch + (MASK_TILES ? kQueries * kMaskPitch : 0);   // elements
// Keys, values and the mask's tile of one step are copied while the step before is computed.
template <bool ALIGNED> __device__ __forceinline__ void attend(const Arguments& a) {
  extern __shared__ __align__(16) T shared[];
  const int lane = threadIdx.x % 32, group = lane / 4, pairs = lane % 4 * 2, warp_row = threadIdx.x / 32 * 16;
  const int block_row = (int)blockIdx.x * kQueries, first = block_row + warp_row;
  if (clears_rest(a)) return;
  const i64 head = blockIdx.y, batch = blockIdx.z;
  const Rows rows = rows_of(a, batch);
  const int queries = rows.queries, keys = rows.keys;
  if (PACKED && block_row >= queries) return;
  const T* q = a.q + batch * a.qs[0] + head * a.qs[1] + (rows.begin + block_row) * a.qs[2];
  const T* k = a.k + batch * a.ks[0] + head / a.group * a.ks[1] + rows.begin * a.ks[2];
  const T* v = a.v + batch * a.vs[0] + head / a.group * a.vs[1] + rows.begin * a.vs[2];
#if MASKED
  const MASK* mask = a.mask + batch * a.ms[0] + head * a.ms[1];
#endif
  T* const query_room = shared + 2 * kStage;
  const auto load = [&](int step) {
    const int start = step * KEYS, count = min(KEYS, keys - start);
    T* stage = shared + step % 2 * kStage;
    fetch<KEYS, SIZE, kSizePitch, ALIGNED>(stage, k + start * a.ks[2], a.ks[2], count, REAL_SIZE);
    fetch<KEYS, VALUE_STORED, kValuePitch, ALIGNED>(stage + KEYS * kSizePitch, v + start * a.vs[2], a.vs[2], count, REAL_VALUE);
#if MASK_TILES
    fetch<kQueries, KEYS, kMaskPitch, ALIGNED>(stage + KEYS * (kSizePitch + kValuePitch),
                                               (const T*)mask + block_row * a.ms[2] + start, a.ms[2], queries - block_row, count);
#endif
  };
  const int steps = (keys + KEYS - 1) / KEYS;
  fetch<kQueries, SIZE, kSizePitch, ALIGNED>(query_room, q, a.qs[2], queries - block_row, REAL_SIZE);
  load(0);
  commit();
  u32 query[SIZE / DEPTH][4];
  float out[VALUE / 8][4] = {}, most[2] = {-INFINITY_F, -INFINITY_F}, sum[2] = {0.f, 0.f};
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) load(step + 1);
    commit();
    wait_for<1>();
    __syncthreads();
    if (step == 0) {
      #pragma unroll
      for (int s = 0; s < SIZE / DEPTH; ++s) {
        load_matrices(query[s], query_room + (warp_row + lane % 16) * kSizePitch + s * DEPTH + lane / 16 * kPiece);
#if TF32
        #pragma unroll
        for (int f = 0; f < 4; ++f) query[s][f] = to_tf32(query[s][f]);
#endif
      }
    }
    const T* stage = shared + step % 2 * kStage;
    const T* values = stage + KEYS * kSizePitch;
    const int start = step * KEYS;
    float score[KEYS / 8][4];
    #pragma unroll
    for (int n = 0; n < KEYS / 8; ++n) {
      #pragma unroll
      for (int f = 0; f < 4; ++f) score[n][f] = 0.f;
      #pragma unroll
      for (int s = 0; s < SIZE / DEPTH; ++s) {
        const T* row = stage + (n * 8 + group) * kSizePitch + s * DEPTH + lane % 4 * (4 / sizeof(T));
        multiply(score[n], query[s], fragment(row), fragment(row + kPiece));
      }
    }
    const bool whole = start + KEYS <= keys;
    float peak[2] = {most[0], most[1]};
    #pragma unroll
    for (int n = 0; n < KEYS / 8; ++n)
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int key = start + n * 8 + pairs, row = first + group + h * 8;
        float x = score[n][2 * h] * SCALE, y = score[n][2 * h + 1] * SCALE;
#if MASK_TILES
        const u32 two = *(const u32*)(stage + KEYS * (kSizePitch + kValuePitch) + (warp_row + group + h * 8) * kMaskPitch + n * 8 + pairs);
        x += LOAD_MASK((u16)two), y += LOAD_MASK((u16)(two >> 16));
#elif MASKED
        if (row < queries) {
          if (key < keys) { const MASK m = mask[row * a.ms[2] + key * a.ms[3]]; x += LOAD_MASK(m); }
          if (key + 1 < keys) { const MASK m = mask[row * a.ms[2] + (key + 1) * a.ms[3]]; y += LOAD_MASK(m); }
        }
#endif
        if ((!whole && key >= keys) || (CAUSAL && key > row)) x = -INFINITY_F;
        if ((!whole && key + 1 >= keys) || (CAUSAL && key + 1 > row)) y = -INFINITY_F;
        score[n][2 * h] = x, score[n][2 * h + 1] = y;
        peak[h] = fmaxf(peak[h], fmaxf(x, y));
      }
    #pragma unroll
    for (int h = 0; h < 2; ++h) {
      peak[h] = over_warp<Max, 4>(peak[h]);
      const float shrink = peak[h] == -INFINITY_F ? 1.f : __expf(most[h] - peak[h]);   // nothing seen yet: nothing to shrink
      sum[h] *= shrink;
      #pragma unroll
      for (int n = 0; n < VALUE / 8; ++n) { out[n][2 * h] *= shrink; out[n][2 * h + 1] *= shrink; }
      most[h] = peak[h];
    }
#if TF32
    // Keys are added up in another order than they lie: a thread's own weights are those of keys 2(t%4) and the next.
    #pragma unroll
    for (int s = 0; s < KEYS / 8; ++s) {
      u32 weight[4];
      #pragma unroll
      for (int f = 0; f < 4; ++f) {   // rows group and group + 8, of the first key, then of the next
        const int h = f % 2;
        const float x = __expf(score[s][2 * h + f / 2] - (most[h] == -INFINITY_F ? 0.f : most[h]));
        sum[h] += x;
        weight[f] = to_tf32(__float_as_uint(x));
      }
      #pragma unroll
      for (int n = 0; n < VALUE / 8; ++n) {
        const T* value = values + (s * 8 + pairs) * kValuePitch + n * 8 + group;
        multiply(out[n], weight, fragment(value), fragment(value + kValuePitch));
      }
    }
#else
    #pragma unroll
    for (int s = 0; s < KEYS / 16; ++s) {
      u32 weight[4];
      #pragma unroll
      for (int f = 0; f < 4; ++f) {   // of the two blocks of 8 keys, rows group and group + 8
        const int n = 2 * s + f / 2, h = f % 2;
        const float base = most[h] == -INFINITY_F ? 0.f : most[h];   // a row of which nothing is seen has weights of zero
        const float x = __expf(score[n][2 * h] - base), y = __expf(score[n][2 * h + 1] - base);
        sum[h] += x + y;
        weight[f] = pair(x, y);
      }
      #pragma unroll
      for (int n = 0; n < VALUE / 8; ++n) {
        u32 b0, b1;
        load_transposed(b0, b1, values + (s * 16 + lane % 16) * kValuePitch + n * 8);
        multiply(out[n], weight, b0, b1);
      }
    }
#endif
    __syncthreads();   // the next step's copies go where this one read
  }
  store_rows<ALIGNED>(a, rows, head, batch, first, out, sum);
}
)";

constexpr const char* kExports = R"(
extern "C" __global__ void __launch_bounds__(BOUNDS) vectors(Arguments a) {
  enter();
  attend<REAL_SIZE % kPiece == 0 && REAL_VALUE % kPiece == 0>(a);
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) singles(Arguments a) { enter(); attend<false>(a); }
)";

}  // namespace

int attention_shared_bytes(const AttentionProblem& p) {
  const auto up = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
  if (p.whole > 0) {  // keys, queries and values of one head, and the mask's row; twice where blocks stay
    const std::int64_t queries = 16 * p.row_blocks * p.warps, row = up(p.size, 16) + 8, value_row = up(p.value_size, 16) + 8;
    return static_cast<int>((p.blocks > 0 ? 2 : 1) * (2 * (row * (p.whole + queries) + value_row * p.whole) + 4 * p.whole));
  }
  const std::int64_t bytes = bits(p.dtype) / 8, piece = 16 / bytes;
  const std::int64_t size_pitch = up(p.size, 16) + piece, value_pitch = up(p.value_size, 8) + piece;
  const std::int64_t queries = 16 * p.warps;
  const std::int64_t stage = kAttentionKeys * (size_pitch + value_pitch) + (p.mask_tiles ? queries * (kAttentionKeys + 8) : 0);
  return static_cast<int>(bytes * (2 * stage + queries * size_pitch));
}

std::string generate_attention_mma(const AttentionProblem& p) {
  const std::string kernel = p.blocks > 0 ? attention_stream_text() : p.whole > 0 ? attention_whole_text() : kKernel;
  return cat(prelude(), attention_head(p), p.dtype == DType::f32 ? mma_tf32_helper() : mma_helpers(), kMma, kernel, kExports);
}

}  // namespace tenfold::backends::cuda
