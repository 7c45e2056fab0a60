// The loop over one block of C. Blocks of K are outermost, so that a block's rows of A and one panel of B stay in the caches;
// weights of blocks to come are fetched while earlier ones compute, for those of a large model lie in memory.
#include "backends/cpu/gemm/f32/gemm_f32.h"

namespace tenfold::backends::cpu {

const GemmF32Kernels& gemm_f32_kernels(std::int64_t isa) {
  switch (isa) {
    case kGemmAvx512: return tenfold_gemm_f32_avx512;
    case kGemmDotAvx2: return tenfold_dot_f32_avx2;
    case kGemmDotAvx512: return tenfold_dot_f32_avx512;
    case kGemmBroadAvx512: return tenfold_gemm_f32_broad_avx512;
    case kGemmQuadAvx512: return tenfold_gemm_f32_quad_avx512;
    case kGemmPairsAvx512: return tenfold_gemm_f32_pairs_avx512;
    case kGemmFoursAvx512: return tenfold_gemm_f32_fours_avx512;
    default: return tenfold_gemm_f32_avx2;
  }
}

Verdict gemm_isa_runs(const DeviceInfo& device, std::int64_t isa, bool dots) {
  if (isa < 0 || isa >= kGemmIsaCount || (!dots && gemm_f32_kernels(isa).lanes > 1))
    return Verdict::no("it names no instruction set of this version");
  const bool wide = isa != kGemmAvx2 && isa != kGemmDotAvx2;
  return Verdict::only_if((device.features & (wide ? kAvx512 : kAvx2)) != 0, "this machine lacks its instruction set");
}

namespace {

struct BlockLoop {
  const GemmF32Kernels& kernels;
  const GemmF32Weights& w;
  const float* packed;
  const GemmF32Block& block;
  const F32Epilogue::Binding& bound;
  RowTiles tiles{block.rows, kernels.max_rows};
  std::int64_t k_blocks = w.k_blocks(), columns = w.panels() * w.panel;

  // What all tiles share that multiply panels [panel, panel + count) of one block of K.
  GemmF32Tile shared(std::int64_t k_block, std::int64_t panel, int count) const noexcept {
    GemmF32Tile t;
    t.offset = block.offset + k_block * w.k_block;
    t.taps = w.taps;
    t.k = w.depth(k_block);
    t.panel_step = w.panel * w.taps * w.stored(t.k);
    t.panel = packed + k_block * w.k_block * w.taps * columns + panel * t.panel_step;  // w.at() without its division
    t.c_stride = block.c_stride;
    t.cols = std::min<std::int64_t>(std::int64_t{count} * w.panel, w.n - panel * w.panel);
    t.accumulate = k_block > 0;
    return t;
  }

  // The panel that is multiplied after this one, to be fetched by all tiles of rows together; with very few there is no time to.
  struct Next {
    const char* at = nullptr;
    std::int64_t bytes = 0, of_tile = 0;
    int lines = 0;
    void give(GemmF32Tile& t, std::int64_t tile) const noexcept {
      const bool requested = tile * of_tile < bytes;
      t.soon = requested ? at + tile * of_tile : nullptr;
      t.soon_lines = requested ? lines : 0;
    }
  };
  Next next(std::int64_t k_block, std::int64_t panel, const GemmF32Tile& t) const noexcept {
    if (tiles.count < 3) return {};
    if (panel == block.last_panel) {
      const bool last = k_block + 1 == k_blocks;  // then the next block of columns follows, as a rule
      if (last && panel == w.panels()) return {};
      k_block = last ? 0 : k_block + 1;
      panel = last ? panel : block.first_panel;
    }
    const GemmF32Tile first = shared(k_block, panel, 1);
    Next n{.at = reinterpret_cast<const char*>(first.panel), .bytes = first.panel_step * 4};
    const std::int64_t times = t.taps * ((t.k + kSoonSteps - 1) / kSoonSteps);
    n.lines = static_cast<int>((n.bytes + 64 * times * tiles.count - 1) / (64 * std::max<std::int64_t>(times * tiles.count, 1)));
    n.of_tile = times * n.lines * 64;
    return n;
  }

  void run(GemmF32Tile& t, std::int64_t i, std::int64_t k_block, std::int64_t panel, GemmF32Function wide) const noexcept {
    const std::int64_t first = tiles.begin(i), row = block.row + first, column = block.column + panel * w.panel;
    t.rows = block.table + i * w.taps * kernels.max_rows;
    t.c = block.c + row * block.c_stride + column;
    t.fetch = block.far;
    GemmF32EpilogueArgs epilogue;
    if (bound.any && k_block + 1 == k_blocks) epilogue = bound.at(row, column), t.epilogue = &epilogue;
    (wide ? wide : kernels.tile[tiles.begin(i + 1) - first - 1])(t);
  }

  // B as a whole stays near while each tile of rows passes over it: C is written row by row. Tiles of two vectors want it in L1.
  bool stays_near() const noexcept {
    const std::int64_t near = w.panel > tenfold_gemm_f32_avx512.panel ? 128 << 10 : 24 << 10;
    return k_blocks == 1 && w.taps * w.k * (block.last_panel - block.first_panel) * w.panel * 4 <= near;
  }
  void rows_first() const noexcept {
    if (kernels.many[0]) {
      many(0, tiles.higher);
      return many(tiles.higher, tiles.count);
    }
    for (std::int64_t i = 0; i < tiles.count; ++i) {
      for (std::int64_t panel = block.first_panel; panel < block.last_panel; ++panel) {
        GemmF32Tile t = shared(0, panel, 1);
        run(t, i, 0, panel, nullptr);
      }
    }
  }
  // Tiles [first, last), which have equally many rows.
  void many(std::int64_t first, std::int64_t last) const noexcept {
    if (first == last) return;
    const std::int64_t row = block.row + tiles.begin(first), column = block.column + block.first_panel * w.panel;
    GemmF32Tile t = shared(0, block.first_panel, static_cast<int>(block.last_panel - block.first_panel));
    t.rows = block.table + first * w.taps * kernels.max_rows;
    t.c = block.c + row * block.c_stride + column;
    t.fetch = block.far;
    GemmF32EpilogueArgs epilogue;
    if (bound.any) epilogue = bound.at(row, column), t.epilogue = &epilogue;
    kernels.many[tiles.begin(first + 1) - tiles.begin(first) - 1](t, last - first);
  }

  // A panel of B stays in L1 while all rows pass.
  void panels_first() const noexcept {
    const bool few = block.rows <= kGemmWideRows;
    const int width = few ? kernels.wide_panels[block.rows - 1] : 1;
    const GemmF32Function wide = few ? kernels.wide[block.rows - 1] : nullptr;
    for (std::int64_t k_block = 0; k_block < k_blocks; ++k_block) {
      for (std::int64_t panel = block.first_panel; panel < block.last_panel;) {
        const bool several = wide && panel + width <= block.last_panel;
        GemmF32Tile t = shared(k_block, panel, several ? width : 1);
        const Next after = next(k_block, panel + 1, t);
        for (std::int64_t i = 0; i < tiles.count; ++i) {
          after.give(t, i);
          run(t, i, k_block, panel, several ? wide : nullptr);
        }
        panel += several ? width : 1;
      }
    }
  }

  void all() const noexcept {
    if (tiles.count > 1 && stays_near())
      rows_first();
    else
      panels_first();
  }
};

}  // namespace

void gemm_f32_block(const GemmF32Kernels& kernels, const GemmF32Weights& w, const float* packed, const GemmF32Block& block,
                    const F32Epilogue& epilogue, const F32Epilogue::Binding& bound, void* scratch) noexcept {
  if (block.rows <= 0) return;
  BlockLoop{kernels, w, packed, block, bound}.all();
  if (epilogue.in_registers()) return;
  const std::int64_t first = block.first_panel * w.panel, last = std::min(w.n, block.last_panel * w.panel);
  const float* sums = block.c + block.row * block.c_stride + block.column + first;
  epilogue.apply(bound, block.row, block.rows, block.column + first, last - first, sums, block.c_stride, scratch);
}

}  // namespace tenfold::backends::cpu
