// The loop over one block of C. Blocks of K are outermost, so that a block's rows of A and one panel of B stay in the caches.
#include "backends/cpu/gemm/gemm_f32.h"

namespace tenfold::backends::cpu {

const GemmF32Kernels& gemm_f32_kernels(std::int64_t isa) { return isa == kGemmAvx512 ? tenfold_gemm_f32_avx512 : tenfold_gemm_f32_avx2; }

Verdict gemm_isa_runs(const DeviceInfo& device, std::int64_t isa) {
  if (isa != kGemmAvx2 && isa != kGemmAvx512) return Verdict::no("it names no instruction set of this version");
  return Verdict::only_if((device.features & (isa == kGemmAvx512 ? kAvx512 : kAvx2)) != 0, "this machine lacks its instruction set");
}

namespace {

struct BlockLoop {
  const GemmF32Kernels& kernels;
  const GemmF32Weights& w;
  const float* packed;
  const GemmF32Block& block;
  const F32End::Binding& bound;
  bool finish;                                    // in registers, after the last block of K

  // Panels [panel, panel + count) of one block of K, times all rows.
  void panels(std::int64_t k_block, std::int64_t panel, int count, GemmF32Function wide) const noexcept {
    const RowTiles tiles(block.rows, kernels.max_rows);
    const bool last = k_block + 1 == w.k_blocks();
    const std::int64_t column = panel * w.panel;
    GemmF32Tile t;
    t.rows = block.table;
    t.offset = block.offset + k_block * w.k_block;
    t.taps = w.taps;
    t.k = w.depth(k_block);
    t.panel = packed + w.at(k_block, panel);
    t.panel_step = w.panel * w.taps * t.k;
    t.c_stride = block.c_stride;
    t.cols = std::min<std::int64_t>(std::int64_t{count} * w.panel, w.n - column);
    t.accumulate = k_block > 0;
    for (std::int64_t i = 0; i < tiles.count; ++i, t.rows += w.taps * kernels.max_rows) {
      const std::int64_t row = block.row + tiles.begin(i), height = tiles.begin(i + 1) - tiles.begin(i);
      t.c = block.c + row * block.c_stride + block.column + column;
      GemmF32Finish f;
      if (finish && last) f = bound.at(row, block.column + column), t.finish = &f;
      (wide ? wide : kernels.tile[height - 1])(t);
    }
  }

  void all() const noexcept {
    const bool few = block.rows <= kGemmWideRows;
    const int width = few ? kernels.wide_panels[block.rows - 1] : 1;
    const GemmF32Function wide = few ? kernels.wide[block.rows - 1] : nullptr;
    for (std::int64_t k_block = 0; k_block < w.k_blocks(); ++k_block) {
      std::int64_t panel = block.first_panel;
      for (; wide && panel + width <= block.last_panel; panel += width) panels(k_block, panel, width, wide);
      for (; panel < block.last_panel; ++panel) panels(k_block, panel, 1, nullptr);
    }
  }
};

}  // namespace

void gemm_f32_block(const GemmF32Kernels& kernels, const GemmF32Weights& w, const float* packed, const GemmF32Block& block,
                    const F32End& end, const F32End::Binding& bound, void* scratch) noexcept {
  if (block.rows <= 0) return;
  BlockLoop{kernels, w, packed, block, bound, bound.any}.all();
  if (end.in_registers()) return;
  const std::int64_t first = block.first_panel * w.panel, last = std::min(w.n, block.last_panel * w.panel);
  const float* sums = block.c + block.row * block.c_stride + block.column + first;
  end.apply(bound, block.row, block.rows, block.column + first, last - first, sums, block.c_stride, scratch);
}

}  // namespace tenfold::backends::cpu
