// Printing products whose rows are normalised: the blocks of a cluster hold a row between them, and tell each other mean and variance
// of their parts.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_wgmma.h"
#include "backends/cuda/codegen/product/gemm_wgmma_parts.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kMain = R"(
struct Arguments { TensorMap a, b, y, r, s; const void* tail[8]; i64 m; };
constexpr int kGroupRows = 64, kTileRows = 64 * GROUPS, kThreads = 128 * (GROUPS + 1);
constexpr int kABytes = kTileRows * 128, kBBytes = COLUMNS * 128, kStageBytes = kABytes + kBBytes;
constexpr int kPanels = COLUMNS / PANEL, kPanelRow = PANEL * 2, kSlotBytes = kGroupRows * kPanelRow;
constexpr int kStagingAt = STAGES * kStageBytes, kBarriersAt = kStagingAt + GROUPS * SLOTS * kSlotBytes;
constexpr int kAhead = kSteps < STAGES ? kSteps : STAGES;
constexpr int kMetAt = kBarriersAt + 8 * (2 * STAGES + 2 * GROUPS * SLOTS), kWarps = 4 * GROUPS;
constexpr int kPartsAt = kMetAt + 8 * 2 * kWarps, kParts = 2 * CLUSTER * kTileRows, kRowAt = kPartsAt + 8 * kParts;
__device__ __forceinline__ u32 of_block(u32 address, int block) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
__device__ __forceinline__ void wait_for_cluster(u32 barrier, u32 parity) {
  asm volatile("{\n\t.reg .pred done;\n\tAGAIN:\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n\t"
               "@done bra DONE;\n\tbra AGAIN;\n\tDONE:\n\t}" :: "r"(barrier), "r"(parity) : "memory");
}
__device__ __forceinline__ void meet() { asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory"); }
__device__ __forceinline__ float2 read_two(u32 address) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(address));
  return x;
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(kThreads, 1) gemm(const __grid_constant__ Arguments a) {
  extern __shared__ u8 shared[];
  const u32 base = (u32)__cvta_generic_to_shared(shared) + 1023 & ~1023u;
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0), lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32 % 4, 0);
  const u32 barriers = base + kBarriersAt;
  const auto filled = [&](int stage) { return barriers + 8 * stage; };
  const auto freed = [&](int stage) { return barriers + 8 * (STAGES + stage); };
  const auto slot_filled = [&](int g, int slot) { return barriers + 8 * (2 * STAGES + g * SLOTS + slot); };
  const auto slot_freed = [&](int g, int slot) { return barriers + 8 * (2 * STAGES + GROUPS * SLOTS + g * SLOTS + slot); };
  const auto met = [&](int w, int turn) { return base + kMetAt + 8 * (w * 2 + turn); };
  const int block = blockIdx.x % CLUSTER, n0 = block * COLUMNS, step = gridDim.x / CLUSTER;
  const int tiles = (int)((a.m + kTileRows - 1) / kTileRows);
  if (threadIdx.x == 0) {
    fetch_description(a.a), fetch_description(a.b), fetch_description(a.y);
    for (int s = 0; s < STAGES; ++s) start_barrier(filled(s), 1), start_barrier(freed(s), 4 * GROUPS * kArriving);
    for (int g = 0; g < GROUPS; ++g)
      for (int s = 0; s < SLOTS; ++s) start_barrier(slot_filled(g, s), 1), start_barrier(slot_freed(g, s), 1);
    for (int w = 0; w < 2 * kWarps; ++w) start_barrier(met(w / 2, w % 2), CLUSTER * kArriving);
    asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async;" ::: "memory");
    // Weights are constant, so the first ones come while the kernel before still runs.
    for (int k = 0; k < kAhead; ++k) {
      expect_bytes(filled(k), kStageBytes);
      load_matrix(base + k * kStageBytes + kABytes, a.b, k * 64, n0, filled(k));
    }
  }
  // Scale, bias and the row that is added: constants, which no kernel before this one writes.
  for (int i = threadIdx.x; i < COLUMNS; i += kThreads) {
    const float scale = LOAD_SCALE(((const SCALE*)a.tail[0])[n0 + i]), bias = LOAD_BIAS(((const BIAS*)a.tail[1])[n0 + i]);
    const float row = HAS_ROW ? LOAD_ROW(((const ROW*)a.tail[2])[n0 + i]) : 0.f;
    const u32 to = base + kRowAt + 4 * i;
    asm volatile("st.shared.f32 [%0], %1;" :: "r"(to), "f"(scale));
    asm volatile("st.shared.f32 [%0], %1;" :: "r"(to + 4 * COLUMNS), "f"(bias));
    asm volatile("st.shared.f32 [%0], %1;" :: "r"(to + 8 * COLUMNS), "f"(row));
  }
  __syncthreads();
  meet();   // the others' barriers have started
  asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");

  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(GROUPS == 2 ? 40 : 32));
    if (warp == 0 && lane == 0) {  // asks for tiles of a and b
      int stage = 0;
      u32 parity = 0;
      for (int tile = blockIdx.x / CLUSTER; tile < tiles; tile += step)
        for (int k = 0; k < kSteps; ++k) {
          if (k >= kAhead || tile != blockIdx.x / CLUSTER) {
            wait_for(freed(stage), parity ^ 1);
            expect_bytes(filled(stage), kStageBytes);
            load_matrix(base + stage * kStageBytes + kABytes, a.b, k * 64, n0, filled(stage));
          }
          load_matrix(base + stage * kStageBytes, a.a, k * 64, tile * kTileRows, filled(stage));
          if (++stage == STAGES) stage = 0, parity ^= 1;
        }
    }
#if STAGED
    if (warp == 1 && lane == 0) {  // asks for what is added
      u32 parity = 0;
      for (int tile = blockIdx.x / CLUSTER; tile < tiles; tile += step, parity ^= 1)
        for (int p = 0; p < kPanels; ++p)
          for (int g = 0; g < GROUPS; ++g) {
            wait_for(slot_freed(g, p), parity ^ 1);
            expect_bytes(slot_filled(g, p), kSlotBytes);
            load_matrix(base + kStagingAt + (g * SLOTS + p) * kSlotBytes, a.r, n0 + p * PANEL, tile * kTileRows + g * kGroupRows,
                        slot_filled(g, p));
          }
    }
#endif
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(GROUPS == 2 ? 232 : 160));
    const int own = group - 1, own_warp = own * 4 + warp, row = warp * 16 + lane / 4;
    int stage = 0, turn = 0;
    u32 parity = 0, slot_parity = 0, met_parity = 0;
    for (int tile = blockIdx.x / CLUSTER; tile < tiles; tile += step) {
      float c[1][COLUMNS / 2];
      int previous = 0;
      for (int k = 0; k < kSteps; ++k) {
        wait_for(filled(stage), parity);
        const u64 da = described(base + stage * kStageBytes + own * kGroupRows * 128);
        const u64 db = described(base + stage * kStageBytes + kABytes);
        begin_products();
        #pragma unroll
        for (int s = 0; s < 4; ++s) multiply(c[0], da + s * 2, db + s * 2, s > 0 || k > 0);
        commit_products();
        if (k > 0) {
          wait_for_products<1>();
          if (arrives(lane)) arrive(freed(previous));
        }
        previous = stage;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
      wait_for_products<0>();
      if (arrives(lane)) arrive(freed(previous));
      #pragma unroll
      for (int e = 0; e < COLUMNS / 2; ++e) asm volatile("" : "+f"(c[0][e]));

      const int m0 = tile * kTileRows + own * kGroupRows;
      const auto place_of = [&](int p, int j) {
        const int piece = j ^ row * kPanelRow / 128 & PANEL / 8 - 1;   // as TMA permutes them
        return base + kStagingAt + (own * SLOTS + p) * kSlotBytes + row * kPanelRow + (piece << 4) + lane % 4 * 4;
      };
      const auto constants_of = [&](int which, int p, int j) {
        return read_two(base + kRowAt + 4 * (which * COLUMNS + p * PANEL + j * 8 + lane % 4 * 2));
      };
#if !STAGED
      if (warp == 0 && lane == 0) wait_for_stores<0>();   // of the tile before
      group_barrier(1 + own, 128);
#endif
      float mean[2] = {0.f, 0.f}, spread[2] = {0.f, 0.f};
      #pragma unroll
      for (int p = 0; p < kPanels; ++p) {
#if STAGED
        wait_for(slot_filled(own, p), slot_parity);
#endif
        #pragma unroll
        for (int j = 0; j < PANEL / 8; ++j) {
          const float2 added = constants_of(2, p, j);
          #pragma unroll
          for (int h = 0; h < 2; ++h) {
            float& x = c[0][(p * PANEL / 8 + j) * 4 + h * 2];
            float& y = c[0][(p * PANEL / 8 + j) * 4 + h * 2 + 1];
            x += added.x, y += added.y;
#if STAGED
            u32 both;
            asm volatile("ld.shared.b32 %0, [%1];" : "=r"(both) : "r"(place_of(p, j) + h * 8 * kPanelRow));
            x += LOAD((u16)both), y += LOAD((u16)(both >> 16));
#endif
            mean[h] += x + y;
#if KEPT
            asm volatile("st.shared.b32 [%0], %1;" :: "r"(place_of(p, j) + h * 8 * kPanelRow), "r"(pair(x, y)));
#endif
          }
        }
      }
#if KEPT
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      group_barrier(1 + own, 128);
      if (warp == 0 && lane == 0 && m0 < a.m)
        for (int p = 0; p < kPanels; ++p) store_matrix(base + kStagingAt + (own * SLOTS + p) * kSlotBytes, a.s, n0 + p * PANEL, m0);
#endif
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        mean[h] = over_warp<Sum, 4>(mean[h]) * (1.0f / COLUMNS);
        #pragma unroll
        for (int e = 0; e < COLUMNS / 4; ++e) {
          const float d = c[0][e / 2 * 4 + h * 2 + e % 2] - mean[h];
          spread[h] += d * d;
        }
        spread[h] = over_warp<Sum, 4>(spread[h]);
      }
      // Each warp tells the warps with the same rows; two rooms take turns, for a faster one may be a tile ahead.
      const auto part_of = [&](int which, int h) {
        return base + kPartsAt + 8 * ((turn * CLUSTER + which) * kTileRows + own * kGroupRows + row + h * 8);
      };
      if (lane % 4 < 2) {
        const u32 own_part = part_of(block, lane % 4);
        const float own_mean = lane % 4 == 0 ? mean[0] : mean[1], own_spread = lane % 4 == 0 ? spread[0] : spread[1];
        #pragma unroll
        for (int r = 0; r < CLUSTER; ++r)
          asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" 
                       :: "r"(of_block(own_part, r)), "f"(own_mean), "f"(own_spread) : "memory");
      }
      asm volatile("fence.acq_rel.cluster;" ::: "memory");
      __syncwarp();
      const auto tell = [&](int which) {
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                     :: "r"(of_block(met(own_warp, turn), which)) : "memory");
      };
      if (kArriving > 1)
        for (int r = 0; r < CLUSTER; ++r) tell(r);
      else if (lane < CLUSTER)
        tell(lane);
      wait_for_cluster(met(own_warp, turn), met_parity);
      float inverse[2];
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        float2 part[CLUSTER];
        float all = 0.f, squares = 0.f;
        #pragma unroll
        for (int r = 0; r < CLUSTER; ++r) part[r] = read_two(part_of(r, h)), all += part[r].x, squares += part[r].y;
        mean[h] = all * (1.0f / CLUSTER);
        #pragma unroll
        for (int r = 0; r < CLUSTER; ++r) squares += COLUMNS * (part[r].x - mean[h]) * (part[r].x - mean[h]);
        inverse[h] = rsqrtf(squares * (1.0f / N) + EPSILON);
      }
      if ((turn ^= 1) == 0) met_parity ^= 1;
#if KEPT
      if (warp == 0 && lane == 0) wait_for_stores<0>();
      group_barrier(1 + own, 128);
#endif
      #pragma unroll
      for (int p = 0; p < kPanels; ++p) {
        #pragma unroll
        for (int j = 0; j < PANEL / 8; ++j) {
          const float2 scale = constants_of(0, p, j), bias = constants_of(1, p, j);
          #pragma unroll
          for (int h = 0; h < 2; ++h) {
            const float x = (c[0][(p * PANEL / 8 + j) * 4 + h * 2] - mean[h]) * inverse[h] * scale.x + bias.x;
            const float y = (c[0][(p * PANEL / 8 + j) * 4 + h * 2 + 1] - mean[h]) * inverse[h] * scale.y + bias.y;
            asm volatile("st.shared.b32 [%0], %1;" :: "r"(place_of(p, j) + h * 8 * kPanelRow), "r"(pair(x, y)));
          }
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        group_barrier(1 + own, 128);
        if (warp == 0 && lane == 0 && m0 < a.m)
          store_matrix(base + kStagingAt + (own * SLOTS + p) * kSlotBytes, a.y, n0 + p * PANEL, m0);
      }
#if STAGED
      if (warp == 0 && lane == 0) {
        wait_for_stores<0>();
        for (int p = 0; p < kPanels; ++p) arrive(slot_freed(own, p));
      }
      slot_parity ^= 1;
#endif
    }
    if (warp == 0 && lane == 0) wait_for_stores<0>();  // shared memory must outlast them
  }
  __syncwarp();
  meet();   // and what the others write here
}
)";

}  // namespace

int WgmmaNormTile::shared_bytes() const {
  return tile().shared_bytes() + 8 * 2 * 4 * groups + 8 * 2 * cluster * 64 * groups + 3 * 4 * columns;
}

std::string generate_wgmma_norm(const ProductNormProblem& p, const WgmmaNormTile& t) {
  std::string head = norm_definitions(p);
  const auto define = [&](const std::string& name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  const WgmmaTile tile = t.tile();
  define("COLUMNS", t.columns), define("GROUPS", t.groups), define("STAGES", t.stages);
  define("SLOTS", tile.slots), define("PANEL", tile.panel()), define("CLUSTER", t.cluster);
  define("kSteps", (p.k + kWgmmaDepth - 1) / kWgmmaDepth);
  return cat(prelude(), head, wgmma_helpers(), arrivals(), wgmma_multiply(t.columns, p.type, p.type), kMain);
}

}  // namespace tenfold::backends::cuda
