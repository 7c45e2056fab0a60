// Printing the attention kernel for Hopper: a warp asks for what groups of four warps multiply; softmax is kept as a running maximum and
// sum, as in FlashAttention (Dao et al., 2022), unless one step sees all keys.
#include "backends/cuda/codegen/attention/attention_wgmma.h"

#include "backends/cuda/codegen/mma_parts.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_wgmma_parts.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kParts = R"(
struct Arguments { TensorMap q, k, v; const MASK* mask; RESULT* y; i64 ms[4], ys[3]; int queries, keys, heads, group, batches; };
constexpr int kRow = CHUNK * 2, kChunks = (SIZE + CHUNK - 1) / CHUNK, kRows = 64 * GROUPS, kThreads = 128 * (TEAMS * GROUPS + 1);
constexpr int kQueryChunk = kRows * kRow, kQueryBytes = kChunks * kQueryChunk, kKeyChunk = KEYS * kRow, kKeyBytes = kChunks * kKeyChunk;
constexpr int kStagesAt = 2 * kQueryBytes, kMasksAt = kStagesAt + STAGES * 2 * kKeyBytes, kBarriersAt = kMasksAt + STAGES * KEYS * 4;
constexpr int kTeamBytes = kBarriersAt + 8 * (2 * STAGES + 4) + 1023 & ~1023;
constexpr float kLog2 = 1.4426950408889634f;
// Scores are kept in powers of two. Without a mask they are scaled as they are raised: one instruction less.
constexpr float kScale = (float)SCALE * kLog2, kFactor = MASKED ? 1.f : kScale;
// As TMA leaves a chunk of columns: rows of kRow bytes whose pieces are permuted within groups of eight. `stride`: from one chunk to the
// next, for values, whose columns a product takes across chunks.
__device__ __forceinline__ u64 placed(u32 address, int stride) {
  return (u64)(address >> 4 & 0x3fff) | (u64)(stride >> 4) << 16 | (u64)(8 * kRow >> 4) << 32 | (u64)(CHUNK == 64 ? 1 : 2) << 62;
}
__device__ __forceinline__ void load_box(u32 to, const TensorMap& map, int column, int row, int head, int batch, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
               :: "r"(to), "l"(&map), "r"(column), "r"(row), "r"(head), "r"(batch), "r"(barrier) : "memory");
}
__device__ __forceinline__ float power_of_2(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
// A mask in powers of two. What is finite stays so: a row that the lowest float masks whole is an even mean of all values.
__device__ __forceinline__ float in_powers(float m) { return m > -INFINITY_F ? fmaxf(m * kLog2, -3e38f) : m; }
template <int COUNT> __device__ __forceinline__ void settle(float (&x)[COUNT]) {   // nothing reads them before the products have ended
  #pragma unroll
  for (int i = 0; i < COUNT; ++i) asm volatile("" : "+f"(x[i]));
}
struct Unit {
  int row, head, batch, steps;   // first row of a tile of queries
  __device__ __forceinline__ Unit(const Arguments& a, int unit) {
    const int across = (a.queries + kRows - 1) / kRows;
    row = unit % across * kRows, head = unit / across % a.heads, batch = unit / across / a.heads;
    steps = WHOLE ? 1 : (a.keys + KEYS - 1) / KEYS;
    if (CAUSAL && !WHOLE) steps = min(steps, (row + kRows - 1) / KEYS + 1);   // what lies beyond is hidden
  }
};
)";

constexpr const char* kMain = R"(
extern "C" __global__ void __launch_bounds__(kThreads, 1) attention(const __grid_constant__ Arguments a) {
  extern __shared__ u8 shared[];
  const int lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32 % 4, 0), group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  const bool asks = group == TEAMS * GROUPS;   // of the last group, a warp for each team
  const int team = asks ? warp : group / GROUPS, own = group % GROUPS;
  const u32 base = ((u32)__cvta_generic_to_shared(shared) + 1023 & ~1023u) + team * kTeamBytes;
  const auto filled = [&](int stage) { return base + kBarriersAt + 8 * stage; };
  const auto freed = [&](int stage) { return base + kBarriersAt + 8 * (STAGES + stage); };
  const auto queries_filled = [&](int room) { return base + kBarriersAt + 8 * (2 * STAGES + room); };
  const auto queries_freed = [&](int room) { return base + kBarriersAt + 8 * (2 * STAGES + 2 + room); };
  const int first = blockIdx.x + team * gridDim.x, stride = TEAMS * gridDim.x;
  const int units = (a.queries + kRows - 1) / kRows * a.heads * a.batches;
  if (threadIdx.x == 0) fetch_description(a.q), fetch_description(a.k), fetch_description(a.v);
  if (asks && lane == 0 && team < TEAMS) {
    for (int s = 0; s < STAGES; ++s) {
      start_barrier(filled(s), MASK_ROW ? 1 + kArriving : 1);
      start_barrier(freed(s), 4 * GROUPS * kArriving);
    }
    for (int r = 0; r < 2; ++r) start_barrier(queries_filled(r), 1), start_barrier(queries_freed(r), 4 * GROUPS);
    asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
  int stage = 0, room = 0;
  u32 parity = 0, room_parity = 0;
  const auto next_stage = [&] { if (++stage == STAGES) stage = 0, parity ^= 1; };
  const auto next_room = [&] { room ^= 1, room_parity ^= room == 0; };

  if (asks) {   // for queries, keys and values; and prepares the mask
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (team >= TEAMS) return;
    for (int unit = first; unit < units; unit += stride, next_room()) {
      const Unit u(a, unit);
      for (int step = 0; step < u.steps; ++step, next_stage()) {
        wait_for(freed(stage), parity ^ 1);
        if (lane == 0) {
          const u32 to = base + kStagesAt + stage * 2 * kKeyBytes;
          expect_bytes(filled(stage), 2 * kKeyBytes);
          for (int c = 0; c < kChunks; ++c)
            load_box(to + c * kKeyChunk, a.k, c * CHUNK, step * KEYS, u.head / a.group, u.batch, filled(stage));
          for (int c = 0; c < kChunks; ++c)
            load_box(to + kKeyBytes + c * kKeyChunk, a.v, c * CHUNK, step * KEYS, u.head / a.group, u.batch, filled(stage));
          if (step == 0) {
            wait_for(queries_freed(room), room_parity ^ 1);
            expect_bytes(queries_filled(room), kQueryBytes);
            for (int c = 0; c < kChunks; ++c)
              load_box(base + room * kQueryBytes + c * kQueryChunk, a.q, c * CHUNK, u.row, u.head, u.batch, queries_filled(room));
          }
        }
#if MASK_ROW
        #pragma unroll
        for (int i = lane; i < KEYS; i += 32) {
          const int key = step * KEYS + i;
          float m = -INFINITY_F;
          if (key < a.keys) { const MASK x = a.mask[u.batch * a.ms[0] + u.head * a.ms[1] + key * a.ms[3]]; m = LOAD_MASK(x); }
          m = in_powers(m);
          asm volatile("st.shared.f32 [%0], %1;" :: "r"(base + kMasksAt + (stage * KEYS + i) * 4), "f"(m) : "memory");
        }
        __syncwarp();
        if (arrives(lane)) arrive(filled(stage));
#endif
      }
    }
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(REGISTERS));
  const int own_row = own * 64 + warp * 16 + lane / 4, pairs = lane % 4 * 2;
  for (int unit = first; unit < units; unit += stride, next_room()) {
    const Unit u(a, unit);
    const u32 queries_at = base + room * kQueryBytes;
    wait_for(queries_filled(room), room_parity);
    float out[SIZE / 2], most[2] = {-INFINITY_F, -INFINITY_F}, sum[2] = {0.f, 0.f};
#if !WHOLE
    #pragma unroll
    for (int e = 0; e < SIZE / 2; ++e) out[e] = 0.f;
#endif
    #pragma unroll 1
    for (int step = 0; step < u.steps; ++step, next_stage()) {
      const u32 keys_at = base + kStagesAt + stage * 2 * kKeyBytes;
      wait_for(filled(stage), parity);
      const u64 dq = placed(queries_at + own * 64 * kRow, 16), dk = placed(keys_at, 16), dv = placed(keys_at + kKeyBytes, kKeyChunk);
      float score[KEYS / 2];
      begin_products();
      #pragma unroll
      for (int s = 0; s < (SIZE + 15) / 16; ++s) {
        const int chunk = s / (CHUNK / 16), piece = s % (CHUNK / 16) * 32;
        multiply(score, dq + (chunk * kQueryChunk + piece) / 16, dk + (chunk * kKeyChunk + piece) / 16, s > 0);
      }
      commit_products();
      wait_for_products<0>();
      settle(score);
      if (lane == 0 && step + 1 == u.steps) arrive(queries_freed(room));
      SOFTMAX
      begin_products();
      #pragma unroll
      for (int s = 0; s < KEYS / 16; ++s)
        multiply_values(out, weight[s], dv + s * kRow, WHOLE ? s > 0 : 1);
      commit_products();
      wait_for_products<0>();
      settle(out);
      if (MASK_ROW) __syncwarp();   // all have read the mask
      if (arrives(lane)) arrive(freed(stage));
    }
    #pragma unroll
    for (int h = 0; h < 2; ++h) sum[h] = 1.0f / over_warp<Sum, 4>(sum[h]);
    #pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = u.row + own_row + h * 8;
      RESULT* const y = a.y + u.batch * a.ys[0] + u.head * a.ys[1] + row * a.ys[2];
      const auto two = [&](int n) { return both(out[n * 4 + h * 2] * sum[h], out[n * 4 + h * 2 + 1] * sum[h]); };
      #pragma unroll
      for (int n = 0; n + 4 <= SIZE / 8; n += 4) {   // a thread's two columns of four pieces become eight of one
        u32 v[4] = {two(n), two(n + 1), two(n + 2), two(n + 3)};
        exchange(v, lane);
        if (row < a.queries) put_eight(y + (n + lane % 4) * 8, v);
      }
      #pragma unroll
      for (int n = SIZE / 32 * 4; n < SIZE / 8; ++n)
        if (row < a.queries) *(decltype(both(0.f, 0.f))*)(y + n * 8 + pairs) = two(n);
    }
  }
}
)";

// Two neighbouring results as they lie in memory, and eight of them, of 16 or of 8 bits.
std::string stores(const AttentionProblem& p) {
  if (bits(p.out) == 16)
    return R"(
__device__ __forceinline__ u32 both(float low, float high) { return pair(low, high); }
__device__ __forceinline__ void put_eight(u16* y, const u32 (&v)[4]) { *(uint4*)y = make_uint4(v[0], v[1], v[2], v[3]); }
)";
  const char* both =
      p.out == DType::f8e4m3fn
          ? R"(u16 y; asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(y) : "f"(ended(high)), "f"(ended(low))); return y;)"
          : "return (u16)((u8)ended(low) | (u16)(u8)ended(high) << 8);";
  return cat(attention_end(p), "__device__ __forceinline__ u16 both(float low, float high) { ", both, " }\n",
             "__device__ __forceinline__ void put_eight(RESULT* y, const u32 (&v)[4]) {\n"
             "  *(uint2*)y = make_uint2(v[0] | v[1] << 16, v[2] | v[3] << 16);\n}\n");
}

// From scores to weights, rounded as the product with the values takes them.
constexpr const char* kSoftmax = R"(
      const int start = step * KEYS;
#if MASKED
      #pragma unroll
      for (int n = 0; n < KEYS / 8; ++n) {
#if MASK_ROW
        float2 two;
        const u32 place = base + kMasksAt + (stage * KEYS + n * 8 + pairs) * 4;
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(two.x), "=f"(two.y) : "r"(place));
#endif
        #pragma unroll
        for (int e = 0; e < 4; ++e) {
          float& x = score[n * 4 + e];
#if MASK_ROW
          x = fmaf(x, kScale, e % 2 ? two.y : two.x);
#else
          const int row = u.row + own_row + e / 2 * 8, key = start + n * 8 + pairs + e % 2;
          float m = 0.f;
          if (row < a.queries && key < a.keys) {
            const MASK raw = a.mask[u.batch * a.ms[0] + u.head * a.ms[1] + row * a.ms[2] + key * a.ms[3]];
            m = LOAD_MASK(raw);
          }
          x = fmaf(x, kScale, in_powers(m));
#endif
        }
      }
#endif
      if (!MASK_ROW && (ALL_KEYS < 0 || ALL_KEYS % KEYS != 0) && start + KEYS > (ALL_KEYS < 0 ? a.keys : ALL_KEYS)) {
        #pragma unroll
        for (int i = 0; i < KEYS / 2; ++i)
          if (start + i / 4 * 8 + pairs + i % 2 >= (ALL_KEYS < 0 ? a.keys : ALL_KEYS)) score[i] = -INFINITY_F;
      }
      if (CAUSAL && start + KEYS > u.row + own * 64 + warp * 16) {
        #pragma unroll
        for (int i = 0; i < KEYS / 2; ++i)
          if (start + i / 4 * 8 + pairs + i % 2 > u.row + own_row + i % 4 / 2 * 8) score[i] = -INFINITY_F;
      }
      float peak[2] = {most[0], most[1]};
      #pragma unroll
      for (int i = 0; i < KEYS / 2; ++i) peak[i % 4 / 2] = fmaxf(peak[i % 4 / 2], score[i]);
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        peak[h] = over_warp<Max, 4>(peak[h]);
        const float base_score = peak[h] == -INFINITY_F ? 0.f : peak[h] * kFactor;   // a row of which nothing is seen has weights of zero
#if !WHOLE
        const float shrink = power_of_2(most[h] * kFactor - base_score);
        most[h] = peak[h], sum[h] *= shrink;
        #pragma unroll
        for (int e = 0; e < SIZE / 4; ++e) out[e / 2 * 4 + h * 2 + e % 2] *= shrink;
#endif
        peak[h] = base_score;
      }
      u32 weight[KEYS / 16][4];
      #pragma unroll
      for (int s = 0; s < KEYS / 16; ++s)
        #pragma unroll
        for (int f = 0; f < 4; ++f) {   // of the two blocks of 8 keys, rows group and group + 8
          const int at = (2 * s + f / 2) * 4 + f % 2 * 2;
          const float x = power_of_2(fmaf(score[at], kFactor, -peak[f % 2])), y = power_of_2(fmaf(score[at + 1], kFactor, -peak[f % 2]));
          sum[f % 2] += x + y;
          weight[s][f] = pair(x, y);
        }
)";

// A function multiply_values(c, a, b, add): c = a * b, added to c or not; a in registers, rows of b along k.
std::string values_multiply(std::int64_t columns, bool bf16) {
  const std::int64_t count = columns / 2;
  std::string registers, operands;
  for (std::int64_t i = 0; i < count; ++i) registers += cat(i ? ", %" : "%", i), operands += cat(i ? ", " : "", "\"+f\"(c[", i, "])");
  const char* type = bf16 ? "bf16" : "f16";
  return cat("__device__ __forceinline__ void multiply_values(float (&c)[", count, "], const u32 (&a)[4], u64 b, int add) {\n",
             "  asm volatile(\"{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, %", count + 5,
             ", 0;\\n\\t\"\n  \"wgmma.mma_async.sync.aligned.m64n", columns, "k16.f32.", type, ".", type, " {", registers, "}, {%", count,
             ", %", count + 1, ", %", count + 2, ", %", count + 3, "}, %", count + 4, ", p, 1, 1, 1;\\n\\t}\"\n  : ", operands,
             " : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b), \"r\"(add));\n}\n");
}

}  // namespace

int attention_chunk(const AttentionProblem& p) { return p.size <= 32 ? 32 : 64; }

int AttentionTile::shared_bytes(const AttentionProblem& p) const {
  const int chunk = attention_chunk(p), columns = static_cast<int>((p.size + chunk - 1) / chunk) * chunk;
  const int team = 2 * 2 * columns * queries() + stages * (2 * 2 * columns * keys + 4 * keys) + 8 * (2 * stages + 4);
  return 1024 + teams * ((team + 1023) / 1024 * 1024);
}

std::string generate_attention_wgmma(const AttentionProblem& p, const AttentionTile& tile, std::int64_t keys, std::int64_t most_keys) {
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  const bool bf16 = p.dtype == DType::bf16;
  define("BF16", bf16 ? 1 : 0), define("MASK", storage_type(p.mask)), define("LOAD_MASK(x)", loaded(p.mask, "(x)"));
  define("RESULT", storage_type(p.out));
  define("SIZE", p.size), define("CHUNK", attention_chunk(p)), define("SCALE", p.scale);
  define("GROUPS", tile.groups), define("TEAMS", tile.teams), define("KEYS", tile.keys), define("STAGES", tile.stages);
  define("REGISTERS", tile.registers()), define("ALL_KEYS", keys), define("WHOLE", most_keys <= tile.keys ? 1 : 0);
  define("CAUSAL", p.causal ? "true" : "false");
  define("MASKED", p.masked ? 1 : 0), define("MASK_ROW", p.masked && p.mask_row ? 1 : 0);
  std::string main = kMain;
  replace_once(main, "      SOFTMAX\n", kSoftmax);
  return cat(prelude(), head, wgmma_helpers(), arrivals(), exchange_helper(), wgmma_multiply(tile.keys, p.dtype, p.dtype),
             values_multiply(p.size, bf16), stores(p), kParts, main);
}

}  // namespace tenfold::backends::cuda
