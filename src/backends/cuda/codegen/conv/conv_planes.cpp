// Printing convolutions by planes.
#include "backends/cuda/codegen/conv/conv_planes.h"

#include <algorithm>

#include "backends/cuda/codegen/mma_parts.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_tail.h"
#include "backends/cuda/codegen/product/gemm_wgmma_parts.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr int kSharedBytes = 227 << 10;

// Tiles in shared memory: positions follow each other, each with the 16 or 32 channels of a stage; their pieces of 16 bytes are permuted as
// TMA leaves them, by bits of the address. Eight positions along x are what wgmma reads at once, wherever they begin: a tap is an offset.
constexpr const char* kParts = R"(
struct Arguments { TensorMap x; const u8* w; u16* y; const void* tail[8]; int images, length; };
constexpr int kThreads = 128 * (GROUPS + 1), kPatchesX = TILE_X / 8, kBoxX = TILE_X + KX - 1, kBoxY = TILE_Y + KY - 1;
constexpr int kBoxBytes = kBoxX * kBoxY * DEPTH * 2, kStageBytes = (kBoxBytes + 1023) / 1024 * 1024;
constexpr int kPosition = DEPTH / 8, kDeeper = 2;   // of 16 bytes: from one position to the next, and to the next 16 channels
constexpr u64 kSwizzle = (u64)(DEPTH == 64 ? 1 : DEPTH == 32 ? 2 : 3) << 62;
constexpr int kPieces = C / DEPTH, kColumns = FOLD * FILTERS, kTapBytes = C * kColumns * 2, kWeightBytes = KY * KX * kTapBytes;
constexpr int kStagesAt = (kWeightBytes + 1023) / 1024 * 1024, kBarriersAt = kStagesAt + STAGES * kStageBytes, kSplits = N / FILTERS;

__device__ __forceinline__ void load_box(u32 to, const TensorMap& map, int c, int x, int y, int z, int image, u32 barrier) {
#if ROWS_ARE_IMAGES
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
               :: "r"(to), "l"(&map), "r"(c), "r"(x), "r"(z), "r"(y), "r"(barrier) : "memory");
#else
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
               :: "r"(to), "l"(&map), "r"(c), "r"(x), "r"(y), "r"(z), "r"(image), "r"(barrier) : "memory");
#endif
}
__device__ __forceinline__ void load_bytes(u32 to, const void* from, int bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}
// Pieces of eight rows of 16 bytes: `deeper` bytes to the next eight channels, `further` to the next eight rows.
__device__ __forceinline__ u64 laid_out(u32 address, int deeper, int further) {
  return (u64)(address >> 4 & 0x3fff) | (u64)(deeper >> 4) << 16 | (u64)(further >> 4) << 32;
}
// What a block computes before it goes elsewhere: a tile of positions, and some steps along the walk.
struct Item {
  int x, y, z, length, image;
  __device__ __forceinline__ Item(const Arguments& a, int item) {
    const int chunks = (OZ + a.length - 1) / a.length, down = (rows(a) + TILE_Y - 1) / TILE_Y;
    z = item % chunks * a.length, item /= chunks;
    x = item % kAcross * TILE_X, item /= kAcross;
    y = item % down * TILE_Y, image = item / down;
    length = min(a.length, OZ - z);
  }
  static constexpr int kAcross = (OX + TILE_X - 1) / TILE_X;
  static __device__ __forceinline__ int rows(const Arguments& a) { return ROWS_ARE_IMAGES ? a.images : OY; }
  static __device__ __forceinline__ int count(const Arguments& a) {
    return (OZ + a.length - 1) / a.length * ((rows(a) + TILE_Y - 1) / TILE_Y) * kAcross * (ROWS_ARE_IMAGES ? 1 : a.images);
  }
};
)";

constexpr const char* kMain = R"(
extern "C" __global__ void __launch_bounds__(kThreads, 1) conv(const __grid_constant__ Arguments a) {
  extern __shared__ u8 shared[];
  const u32 base = (u32)__cvta_generic_to_shared(shared) + 1023 & ~1023u, barriers = base + kBarriersAt;
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0), lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32 % 4, 0);
  const auto filled = [&](int stage) { return barriers + 8 * stage; };
  const auto freed = [&](int stage) { return barriers + 8 * (STAGES + stage); };
  const u32 weights_there = barriers + 16 * STAGES;
  const int split = blockIdx.x % kSplits, first_item = blockIdx.x / kSplits, items = Item::count(a), step = gridDim.x / kSplits;
  if (threadIdx.x == 0) {
    fetch_description(a.x);
    for (int s = 0; s < STAGES; ++s) start_barrier(filled(s), 1), start_barrier(freed(s), 4 * GROUPS);
    start_barrier(weights_there, 1);
    asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async;" ::: "memory");
    expect_bytes(weights_there, kWeightBytes);  // no kernel before this one writes them
    for (int tap = 0; tap < KY * KX; ++tap)
      load_bytes(base + tap * kTapBytes, a.w + (i64)split * kWeightBytes + tap * kTapBytes, kTapBytes, weights_there);
  }
  __syncthreads();
  // What the kernel before wrote is there from here on, if this one was started early; the next one may be.
  asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");

  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(GROUPS == 2 ? 40 : 32));
    if (warp == 0 && lane == 0) {  // asks for planes
      int stage = 0;
      u32 parity = 0;
      for (int item = first_item; item < items; item += step) {
        const Item it(a, item);
        for (int i = 0; i < it.length + FOLD - 1; ++i) {
          const int plane = it.z + i - BZ;
          if (plane < 0 || plane >= IZ) continue;
          for (int piece = 0; piece < kPieces; ++piece) {
            wait_for(freed(stage), parity ^ 1);
            expect_bytes(filled(stage), kBoxBytes);
            load_box(base + kStagesAt + stage * kStageBytes, a.x, piece * DEPTH, it.x - BX, it.y - BY, plane, it.image, filled(stage));
            if (++stage == STAGES) stage = 0, parity ^= 1;
          }
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(GROUPS == 2 ? 232 : 160));
    int stage = 0, patch[BLOCKS], patch_x[BLOCKS], patch_y[BLOCKS];
    u32 parity = 0;
    #pragma unroll
    for (int b = 0; b < BLOCKS; ++b) {
      const int q = (group - 1) * BLOCKS + b;
      patch_x[b] = q % kPatchesX * 8, patch_y[b] = q / kPatchesX * 8, patch[b] = (patch_y[b] * kBoxX + patch_x[b]) * kPosition;
    }
    const auto release = [&](int s) {
      if (lane == 0) arrive(freed(s));
    };
    const u64 weights = laid_out(base, kColumns * 16, 128);
    wait_for(weights_there, 0);
    for (int item = first_item; item < items; item += step) {
      const Item it(a, item);
      float c[BLOCKS][kColumns / 2] = {};
      for (int i = 0; i < it.length + FOLD - 1; ++i) {
        const int plane = it.z + i - BZ;
        if (plane >= 0 && plane < IZ) {
          // Results that this plane adds to: at both ends of an item fewer than the fold. The first of them is always c's first.
          const int first = max(0, FOLD - 1 - i), count = first > 0 ? FOLD - first : min(FOLD, it.length + FOLD - 1 - i);
          int previous = 0;
          #pragma unroll 1
          for (int piece = 0; piece < kPieces; ++piece) {
            wait_for(filled(stage), parity);
            const u64 da = laid_out(base + kStagesAt + stage * kStageBytes, 16, kBoxX * kPosition * 16) | kSwizzle;
            const u64 db = weights + (piece * (DEPTH / 8 * kColumns) + first * FILTERS);
            begin_products();
            PRODUCTS
            commit_products();
            if (piece > 0) {
              wait_for_products<1>();
              release(previous);
            }
            previous = stage;
            if (++stage == STAGES) stage = 0, parity ^= 1;
          }
          wait_for_products<0>();
          release(previous);
        }
        #pragma unroll
        for (int b = 0; b < BLOCKS; ++b)
          #pragma unroll
          for (int e = 0; e < kColumns / 2; ++e) asm volatile("" : "+f"(c[b][e]));
        if (i >= FOLD - 1) {  // the first of the planes is complete
          const int z = it.z + i - (FOLD - 1);
          #pragma unroll
          for (int b = 0; b < BLOCKS; ++b)
            #pragma unroll
            for (int h = 0; h < 2; ++h) {
              const int x = it.x + patch_x[b] + lane / 4, row = it.y + patch_y[b] + 2 * warp + h;
              const bool there = x < OX && row < Item::rows(a);
              const i64 m = !there ? 0 : ROWS_ARE_IMAGES ? ((i64)row * OZ + z) * OX + x : (((i64)it.image * OZ + z) * OY + row) * OX + x;
              #pragma unroll
              for (int j0 = 0; j0 < FILTERS / 8; j0 += 4) {
                u32 pairs[4];
                #pragma unroll
                for (int j = 0; j < 4 && j0 + j < FILTERS / 8; ++j) {
                  const int n = split * FILTERS + (j0 + j) * 8 + lane % 4 * 2, e = (j0 + j) * 4 + h * 2;
                  const float sum[2] = {c[b][e], c[b][e + 1]};
                  float y[2];
                  TAIL
                  pairs[j] = pair(y[0], y[1]);
                  if (FILTERS % 32 != 0 && there) *(u32*)(a.y + m * PITCH + n) = pairs[j];
                }
                if (FILTERS % 32 == 0) {
                  exchange(pairs, lane);
                  if (there)
                    *(uint4*)(a.y + m * PITCH + split * FILTERS + j0 * 8 + lane % 4 * 8) =
                        make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
                }
              }
            }
          #pragma unroll
          for (int b = 0; b < BLOCKS; ++b)
            #pragma unroll
            for (int e = 0; e < kColumns / 2; ++e) c[b][e] = e + FILTERS / 2 < kColumns / 2 ? c[b][e + FILTERS / 2] : 0.f;
        }
      }
    }
  }
}
)";

// A function that adds a product to the first columns of c.
std::string multiply_first(int columns, int all, bool bf16) {
  std::string registers, operands;
  for (int i = 0; i < columns / 2; ++i) registers += cat(i ? ", %" : "%", i), operands += cat(i ? ", " : "", "\"+f\"(c[", i, "])");
  const char* type = bf16 ? "bf16" : "f16";
  return cat("__device__ __forceinline__ void multiply_", columns, "(float (&c)[", all / 2, "], u64 a, u64 b) {\n",
             "  asm volatile(\"{\\n\\t.reg .pred p;\\n\\tsetp.eq.b32 p, 0, 0;\\n\\t\"\n  \"wgmma.mma_async.sync.aligned.m64n", columns,
             "k16.f32.", type, ".", type, " {", registers, "}, %", columns / 2, ", %", columns / 2 + 1, ", p, 1, 1, 0, 0;\\n\\t}\"\n  : ",
             operands, " : \"l\"(a), \"l\"(b));\n}\n");
}
// All taps of a piece of a plane, for `count` planes of results.
std::string products(int count, int fold, int filters) {
  return cat("            ", count < fold ? cat("if (count == ", count, ")") : std::string("else"), R"( {
              #pragma unroll 1
              for (int ky = 0; ky < KY; ++ky)
                #pragma unroll
                for (int kx = 0; kx < KX; ++kx)
                  #pragma unroll
                  for (int s = 0; s < DEPTH / 16; ++s)
                    #pragma unroll
                    for (int b = 0; b < BLOCKS; ++b)
                      multiply_)", count * filters, R"((c[b], da + (patch[b] + (ky * kBoxX + kx) * kPosition + s * kDeeper),
                                 db + ((ky * KX + kx) * (C / 8) + s * 2) * kColumns);
            }
)");
}

}  // namespace

int PlanesTile::stage_bytes(const PlanesProblem& p) const {
  const int positions = (x + static_cast<int>(p.gemm.kernel[2]) - 1) * (y + p.row_taps() - 1);
  return (positions * depth(p) * 2 + 1023) / 1024 * 1024;
}
int PlanesTile::stages(const PlanesProblem& p) const {
  return std::clamp((kSharedBytes - 1024 - 256 - (weight_bytes(p) + 1023) / 1024 * 1024) / stage_bytes(p), 0, 8);
}
int PlanesTile::shared_bytes(const PlanesProblem& p) const {
  return 1024 + 256 + (weight_bytes(p) + 1023) / 1024 * 1024 + stages(p) * stage_bytes(p);
}

std::string planes_weight_at(const PlanesProblem& p, const PlanesTile& tile) {
  const std::int64_t channels = p.gemm.channels, filters = tile.filters, taps = p.taps();
  const std::string tap = cat("((k) / ", channels, ")"), channel = cat("((k) % ", channels, ")");
  const std::string row = cat("((", p.fold() - 1, " - ", tap, " / ", taps, ") * ", filters, " + (n) % ", filters, ")");
  return cat("(((((n) / ", filters, " * ", taps, " + ", tap, " % ", taps, ") * ", channels / 8, " + ", channel, " / 8) * ",
             tile.columns(p), " + ", row, ") * 8 + ", channel, " % 8)");
}

std::string generate_conv_planes(const PlanesProblem& p, const PlanesTile& tile) {
  const GemmProblem& g = p.gemm;
  const std::size_t walk = p.walk();
  const bool bf16 = g.in == DType::bf16;
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("BF16", bf16 ? 1 : 0), define("WIDTH", 2), define("N", g.n), define("PITCH", g.row_pitch()), define("C", g.channels),
      define("FILTERS", tile.filters);
  define("TILE_X", tile.x), define("TILE_Y", tile.y), define("GROUPS", tile.groups), define("BLOCKS", tile.blocks());
  define("DEPTH", tile.depth(p)), define("STAGES", tile.stages(p)),
      define("ROWS_ARE_IMAGES", p.rows_are_images() ? 1 : 0);
  define("FOLD", p.fold()), define("KY", p.row_taps()), define("KX", g.kernel[2]);
  define("IZ", g.in_extent[walk]), define("OZ", g.out_extent[walk]), define("OY", g.out_extent[1]), define("OX", g.out_extent[2]);
  define("BZ", g.begin[walk]), define("BY", p.rows_are_images() ? 0 : g.begin[1]), define("BX", g.begin[2]);
  std::string multiplies, all;
  for (int count = 1; count <= p.fold(); ++count) {
    multiplies += multiply_first(count * tile.filters, tile.columns(p), bf16);
    all += cat(count > 1 && count < p.fold() ? "            else\n" : "", products(count, p.fold(), tile.filters));
  }
  std::string main = kMain;
  replace_once(main, "            PRODUCTS\n", all);
  replace_once(main, "                  TAIL\n", print_tail(g, -1, [](const std::string& y) { return cat("y[v] = ", y, ";"); }));
  return cat(prelude(), head, wgmma_helpers(), exchange_helper(), multiplies, kParts, main);
}

}  // namespace tenfold::backends::cuda
