// Printing kernels for wgmma.
#include "backends/cuda/codegen/product/gemm_wgmma.h"

#include "backends/cuda/codegen/gelu.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_tail.h"
#include "backends/cuda/codegen/product/gemm_wgmma_parts.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kMain = R"(
struct Arguments { TensorMap a, b, y, r, s; const void* tail[8]; i64 m; float2* parts; };
constexpr int kGroupRows = 64 * BLOCKS, kTileRows = ALTERNATE ? kGroupRows : kGroupRows * GROUPS, kThreads = 128 * (GROUPS + 1);
constexpr int kABytes = kTileRows * 128, kBBytes = COLUMNS * 128, kStageBytes = kABytes + kBBytes;
constexpr int kPanels = COLUMNS / PANEL, kPanelRow = PANEL * sizeof(OUT), kSlotBytes = kGroupRows * kPanelRow;
constexpr int kStagingAt = STAGES * kStageBytes, kBarriersAt = kStagingAt + GROUPS * SLOTS * kSlotBytes;
constexpr int kAcross = (N + COLUMNS - 1) / COLUMNS, kShared = ALTERNATE ? 1 : GROUPS, kAhead = kSteps < STAGES ? kSteps : STAGES;

__device__ __forceinline__ u32 of_lane(u32 x, int lane) { return __shfl_sync(~0u, x, lane); }
__device__ __forceinline__ float of_lane(float x, int lane) { return __shfl_sync(~0u, x, lane); }

extern "C" __global__ void __launch_bounds__(kThreads, 1) gemm(const __grid_constant__ Arguments a) {
  extern __shared__ u8 shared[];
  const u32 base = (u32)__cvta_generic_to_shared(shared) + 1023 & ~1023u;
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0), lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32 % 4, 0);
  const u32 barriers = base + kBarriersAt;
  const auto filled = [&](int stage) { return barriers + 8 * stage; };
  const auto freed = [&](int stage) { return barriers + 8 * (STAGES + stage); };
  const auto slot_filled = [&](int g, int slot) { return barriers + 8 * (2 * STAGES + g * SLOTS + slot); };
  const auto slot_freed = [&](int g, int slot) { return barriers + 8 * (2 * STAGES + GROUPS * SLOTS + g * SLOTS + slot); };
  const int tiles = (int)((a.m + kTileRows - 1) / kTileRows) * kAcross;
  if (threadIdx.x == 0) {
    fetch_description(a.a), fetch_description(a.b), fetch_description(a.y);
    for (int s = 0; s < STAGES; ++s) start_barrier(filled(s), 1), start_barrier(freed(s), 4 * kShared);
    for (int g = 0; g < GROUPS; ++g)
      for (int s = 0; s < SLOTS; ++s) start_barrier(slot_filled(g, s), 1), start_barrier(slot_freed(g, s), 1);
    asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async;" ::: "memory");
    // Weights are constant, so the first ones come while the kernel before still runs.
    const int n0 = blockIdx.x % kAcross * COLUMNS;
    for (int k = 0; k < kAhead; ++k) {
      const u32 to_b = base + k * kStageBytes + kABytes, barrier = filled(k);
      expect_bytes(barrier, kStageBytes);
      WEIGHTS
    }
  }
  __syncthreads();
  // What the kernel before wrote is there from here on, if this one was started early; the next one may be.
  asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");

  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(GROUPS == 2 ? 40 : 32));
    if (warp == 0 && lane == 0) {  // asks for tiles of a and b
      int stage = 0;
      u32 parity = 0;
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int n0 = tile % kAcross * COLUMNS;
        const i64 m0 = (i64)(tile / kAcross) * kTileRows;
        PLACE
        for (int k = 0; k < kSteps; ++k) {
          const u32 to = base + stage * kStageBytes, to_b = to + kABytes, barrier = filled(stage);
          if (k >= kAhead || tile != blockIdx.x) {
            wait_for(freed(stage), parity ^ 1);
            expect_bytes(barrier, kStageBytes);
            WEIGHTS
          }
          LOADS
          if (++stage == STAGES) stage = 0, parity ^= 1;
        }
      }
    }
#if STAGED
    if (warp == 1 && lane == 0) {  // asks for what the epilogue reads
      int slot[GROUPS] = {};
      u32 parity[GROUPS] = {};
      int turn = 0;
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int n0 = tile % kAcross * COLUMNS;
        const int m0 = tile / kAcross * kTileRows;
        #pragma unroll
        for (int p = 0; p < kPanels; ++p)
          #pragma unroll
          for (int g = 0; g < GROUPS; ++g) {
            if (ALTERNATE && g != turn) continue;
            wait_for(slot_freed(g, slot[g]), parity[g] ^ 1);
            expect_bytes(slot_filled(g, slot[g]), kSlotBytes);
            load_matrix(base + kStagingAt + (g * SLOTS + slot[g]) * kSlotBytes, a.r, n0 + p * PANEL, m0 + (ALTERNATE ? 0 : g * kGroupRows),
                        slot_filled(g, slot[g]));
            if (++slot[g] == SLOTS) slot[g] = 0, parity[g] ^= 1;
          }
        if (++turn == GROUPS) turn = 0;
      }
    }
#endif
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(GROUPS == 2 ? 232 : 160));
    const int own = group - 1;
    int stage = ALTERNATE ? own * kSteps % STAGES : 0, slot = 0;
    u32 parity = ALTERNATE ? own * kSteps / STAGES & 1 : 0, slot_parity = 0;
    const auto release = [&](int s) {
      if (lane == 0) arrive(freed(s));
    };
    if (ALTERNATE && own == GROUPS - 1) pass_on(4, 256);  // the first group may begin
    for (int tile = blockIdx.x + (ALTERNATE ? own * gridDim.x : 0); tile < tiles; tile += (ALTERNATE ? GROUPS : 1) * gridDim.x) {
      SUM c[BLOCKS][COLUMNS / 2];
      const int n0 = tile % kAcross * COLUMNS, row = warp * 16 + lane / 4;
      const i64 m0 = (i64)(tile / kAcross) * kTileRows + (ALTERNATE ? 0 : own * kGroupRows);
      ROWS
      COLUMNWISE
      if (ALTERNATE) group_barrier(4 + own, 256);
      int previous = 0;
      for (int k = 0; k < kSteps; ++k) {
        wait_for(filled(stage), parity);
        const u64 da = described(base + stage * kStageBytes + (ALTERNATE ? 0 : own * kGroupRows * 128));
        const u64 db = described(base + stage * kStageBytes + kABytes);
        begin_products();
        #pragma unroll
        for (int s = 0; s < 4; ++s)
          #pragma unroll
          for (int i = 0; i < BLOCKS; ++i) multiply(c[i], da + i * 512 + s * 2, db + s * 2, s > 0 || k > 0);
        commit_products();
        if (k > 0) {
          wait_for_products<1>();
          release(previous);
        }
        previous = stage;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
      if (ALTERNATE) pass_on(4 + (own + 1) % GROUPS, 256);
      wait_for_products<0>();
      release(previous);
      if (ALTERNATE) {  // the other groups' tiles
        stage += (GROUPS - 1) * kSteps;
        parity ^= stage / STAGES & 1;
        stage %= STAGES;
      }
      #pragma unroll
      for (int i = 0; i < BLOCKS; ++i)
        #pragma unroll
        for (int e = 0; e < COLUMNS / 2; ++e) asm volatile("" : SUM_REGISTER(c[i][e]));

#if MOMENTS
      float total[BLOCKS][2] = {}, squares[BLOCKS][2] = {};
#endif
      #pragma unroll
      for (int p = 0; p < kPanels; ++p) {
        const u32 panel = base + kStagingAt + (own * SLOTS + slot) * kSlotBytes;
#if STAGED
        wait_for(slot_filled(own, slot), slot_parity);
#else
        if (warp == 0 && lane == 0) wait_for_stores<SLOTS - 1>();
        group_barrier(1 + own, 128);
#endif
        const auto piece_of = [&](int j) {
          const u32 at = (j * 8 + lane % 4 * 2) * sizeof(OUT);
          return panel + row * kPanelRow + ((at >> 4 ^ row * kPanelRow / 128 & kPanelRow / 16 - 1) << 4) + (at & 15);
        };
#if STAGED
        OUT staged[2][BLOCKS][2][2];   // read one step ahead: reading and writing shared memory keep their order
        const auto read_ahead = [&](int j) {
          #pragma unroll
          for (int i = 0; i < BLOCKS; ++i)
            #pragma unroll
            for (int h = 0; h < 2; ++h) get(piece_of(j) + (i * 64 + h * 8) * kPanelRow, staged[j % 2][i][h]);
        };
        read_ahead(0);
#endif
        #pragma unroll
        for (int j = 0; j < PANEL / 8; ++j) {
          const int column = n0 + p * PANEL + j * 8 + lane % 4 * 2, n = N % COLUMNS == 0 || column < N ? column : N - 2;
          const int two = p * PANEL / 2 + j * 4;   // the pair of columns that the warp's first lane has
          const u32 piece = piece_of(j);
          SHARED
#if STAGED
          if (j + 1 < PANEL / 8) read_ahead(j + 1);
#endif
          #pragma unroll
          for (int i = 0; i < BLOCKS; ++i)
            #pragma unroll
            for (int h = 0; h < 2; ++h) {
              const u32 place = piece + (i * 64 + h * 8) * kPanelRow;
              const i64 m = min(m0 + i * 64 + h * 8 + row, a.m - 1);
              const SUM sum[2] = {c[i][(p * PANEL / 8 + j) * 4 + h * 2], c[i][(p * PANEL / 8 + j) * 4 + h * 2 + 1]};
#if STAGED
              const auto read_staged = [&](OUT (&x)[2]) { x[0] = staged[j % 2][i][h][0], x[1] = staged[j % 2][i][h][1]; };
#endif
              RESULT y[2];
              TAIL
              put(place, y[0], y[1]);
#if MOMENTS
              total[i][h] += y[0] + y[1], squares[i][h] += y[0] * y[0], squares[i][h] += y[1] * y[1];
#endif
            }
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        group_barrier(1 + own, 128);
        if (warp == 0 && lane == 0) {
          if (m0 < a.m) store_matrix(panel, a.y, n0 + p * PANEL, (int)m0);
#if STAGED
          if (SLOTS > 1 && p > 0) {
            wait_for_stores<1>();
            arrive(slot_freed(own, (slot + SLOTS - 1) % SLOTS));
          }
          if (p == kPanels - 1 || SLOTS == 1) {
            wait_for_stores<0>();
            arrive(slot_freed(own, slot));
          }
#endif
        }
        if (++slot == SLOTS) slot = 0, slot_parity ^= 1;
      }
#if MOMENTS
      #pragma unroll
      for (int i = 0; i < BLOCKS; ++i)
        #pragma unroll
        for (int h = 0; h < 2; ++h) {
          const float2 part = make_float2(over_warp<Sum, 4>(total[i][h]), over_warp<Sum, 4>(squares[i][h]));
          const i64 m = m0 + i * 64 + h * 8 + row;
          if (lane % 4 == 0 && m < a.m) a.parts[tile % kAcross * a.m + m] = part;
        }
#endif
    }
    if (warp == 0 && lane == 0) wait_for_stores<0>();  // shared memory must outlast them
  }
}
)";

}  // namespace

int WgmmaTile::shared_bytes() const {
  const int slot_bytes = 64 * blocks * panel() * result_bytes;
  return 1024 + stages * (rows() + columns) * 128 + groups * slots * slot_bytes + 8 * (2 * stages + 2 * groups * slots);
}

int staged_operand(const GemmProblem& p) {
  for (std::size_t o = 0; o < p.tail.size(); ++o)
    if (p.tail[o].kind == TailKind::whole && p.tail[o].dtype == p.out) return static_cast<int>(o);
  return -1;
}

std::string generate_wgmma(const GemmProblem& p, const WgmmaTile& tile) {
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  const int staged = staged_operand(p);
  define("OUT", storage_type(p.out)), define("RESULT", compute_type(p.out)), define("SUM", compute_type(p.sum()));
  define("SUM_REGISTER(x)", is_float(p.sum()) ? "\"+f\"(x)" : "\"+r\"(x)");
  define("BF16", p.out == DType::bf16 ? 1 : 0), define("N", p.n), define("BLOCKS", tile.blocks), define("COLUMNS", tile.columns);
  define("GROUPS", tile.groups), define("ALTERNATE", tile.alternate ? 1 : 0), define("STAGES", tile.stages);
  define("SLOTS", tile.slots), define("PANEL", tile.panel()), define("STAGED", staged >= 0 ? 1 : 0), define("WIDTH", 2);
  define("MOMENTS", p.moments ? 1 : 0);
  const WgmmaLoads step = p.is_conv ? conv_loads(p) : matrix_loads(p);
  define("kSteps", step.steps);
  std::string main = kMain;
  replace_once(main, "PLACE\n", step.place + "\n");
  replace_once(main, "LOADS\n", step.loads + "\n");
  for (int i = 0; i < 2; ++i) replace_once(main, "WEIGHTS\n", step.weights + "\n");
  replace_once(main, "ROWS\n", load_rows(p));
  replace_once(main, "COLUMNWISE\n", load_columns(p));
  replace_once(main, "SHARED\n", share_columns(p));
  GemmProblem shown = p;
  const std::optional<GeluEnd> gelu = p.body && !p.moments ? gelu_end(*p.body) : std::nullopt;
  if (gelu) shown.body = &gelu->before, replace_once(main, "put(place, y[0], y[1]);", "put_gelu(place, y[0], y[1]);");
  replace_once(main, "              TAIL\n",
               print_tail(
                   shown, staged, [](const std::string& y) { return cat("y[v] = ", y, ";"); },
                   [](const std::string& operand) { return cat("row", operand, "[i][h]"); },
                   [&](const std::string& operand) {
                     return held_by_lanes(p.tail[std::stoul(operand)]) ? cat("column", operand, "[v]") : std::string();
                   }));
  return cat(prelude(), head, wgmma_helpers(), panel_helpers(p.out), gelu ? gelu_of_two(p.out, gelu->factor) : "",
             wgmma_multiply(tile.columns, p.in, p.weight), main);
}

}  // namespace tenfold::backends::cuda
