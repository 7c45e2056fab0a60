// Products with weights of 4 or 8 bits in blocks. With many rows, a few columns of them become floats in a worker's cache, for the
// kernels of products of floats.
#include "backends/cpu/tactics/gemm/block_scaled_common.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kFloatBytes = 1 << 20;     // of a worker's columns, in its second cache
constexpr std::int64_t kDepth = 384;              // rows of such columns that stay in the first cache
constexpr std::int64_t kRowsOfBlock = 512, kMinRowsOfPart = 128;

template <bool kBytes>
std::vector<Config> configs(const Problem& p) { return block_scaled_configs(p, kBytes); }
template <bool kBytes>
Verdict valid(const Problem& p, const Config& c) {
  return c.size() == 3 ? block_scaled_valid(p, c, kBytes) : Verdict::no("its configuration has another length");
}

// The floats that a worker makes of some columns.
GemmF32Weights columns_of(std::int64_t k, std::int64_t n, const GemmF32Kernels& kernels) {
  const std::int64_t panel = kernels.panel, fit = std::max<std::int64_t>(kFloatBytes / (4 * std::max<std::int64_t>(k, 1)) / panel, 1);
  const std::int64_t shared = ceil_div(ceil_div(n, panel), 8);   // so that several workers have some
  return {.taps = 1, .k = k, .n = std::max<std::int64_t>(std::min(fit, shared), 1) * panel, .k_block = kDepth, .panel = kernels.panel};
}
std::int64_t bytes_of(const GemmF32Weights& columns) { return round_up(columns.floats() * 4, 64); }

struct Kernel {
  BlockScaledFew few;
  const GemmF32Kernels* floats;
  GemmF32Weights columns;   // of all parts but the last
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const GemmF32Kernels& floats = gemm_f32_kernels(c[0]);
  return std::make_shared<Kernel>(Kernel{BlockScaledFew(p, c), &floats, columns_of(k_of(p), n_of(p), floats)});
}

// Of a worker: floats of its columns, then what the epilogue needs; or what few rows do.
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const std::int64_t floats = max_rows(p) > BlockScaledFew::kMaxRows ? bytes_of(columns_of(k_of(p), n_of(p), gemm_f32_kernels(c[0]))) : 0;
  const BlockScaledFew few(p, c);
  return std::max(floats + few.epilogue.scratch_bytes(), few.scratch_bytes());
}

struct ManyRows {
  const Kernel& kernel;
  const RunArgs& args;
  const std::int64_t m;
  const Bound &a = args.in[0], &y = args.out[0];
  MatrixRows a_rows{a, 0, a.rank - 1};
  std::int64_t c_stride = y.rank > 1 ? MatrixRows(y, 0, y.rank - 1).stride() : 0;
  F32Epilogue::Binding bound;

  ManyRows(const Kernel& opened, const RunArgs& arguments, std::int64_t rows) noexcept : kernel(opened), args(arguments), m(rows) {
    kernel.few.epilogue.bind(args, TileAxes::last(y.rank), bound);
  }

  // Columns from `first` on, a multiple of 16, as floats.
  void unpack_columns(const GemmF32Weights& form, std::int64_t first, float* to) const noexcept {
    constexpr std::int64_t kWidth = WeightsBlockScaled::kPanel;
    const WeightsBlockScaled& w = kernel.few.weights;
    const auto unpack = kernel.few.kernels->unpack[w.bits()][kernel.few.values];
    for (std::int64_t column = 0; column < form.panels() * form.panel; column += kWidth) {
      const std::int64_t from = (first + column) / kWidth;
      for (std::int64_t k = 0; k < form.k; k += kDepth) {
        float* const place = to + form.at(k / kDepth, column / form.panel) + column % form.panel;
        const std::int64_t depth = std::min(kDepth, form.k - k);
        if (from < w.panels())
          unpack(kernel.few.panel(args, from), k, k + depth, place, form.panel);
        else
          for (std::int64_t i = 0; i < depth; ++i) std::fill_n(place + i * form.panel, kWidth, 0.f);
      }
    }
  }

  void block_of_rows(const GemmF32Weights& form, std::int64_t column, const float* weights, std::int64_t first, std::int64_t rows,
                     void* scratch) const noexcept {
    const float* table[kRowsOfBlock + kGemmMaxRows * 2];
    GemmF32Block block;
    block.table = table, block.row = first, block.rows = rows, block.column = column;
    block.first_panel = 0, block.last_panel = form.panels();
    block.c = y.as<float>(), block.c_stride = c_stride, block.far = is_far(m, kernel.few.n);
    fill_table(RowTiles(rows, kernel.floats->max_rows), 1, kernel.floats->max_rows, table,
               [&](std::int64_t i, const float** entry) { *entry = a.as<const float>() + a_rows.offset(first + i); });
    gemm_f32_block(*kernel.floats, form, weights, block, kernel.few.epilogue, bound, scratch);
  }

  void run() const noexcept {
    const std::int64_t width = kernel.columns.n, column_parts = ceil_div(kernel.few.n, width);
    const std::int64_t row_parts = column_parts >= 16 ? 1 : std::max<std::int64_t>(m / kMinRowsOfPart, 1);
    args.parallel->for_each(column_parts * row_parts, [&](std::int64_t part, int worker) noexcept {
      const std::int64_t column = part / row_parts * width, i = part % row_parts;
      const std::int64_t first = i * m / row_parts, last = (i + 1) * m / row_parts;
      GemmF32Weights form = kernel.columns;
      form.n = std::min(width, kernel.few.n - column);
      auto* const floats = args.scratch_of<float>(worker);
      unpack_columns(form, column, floats);
      void* const rest = reinterpret_cast<char*>(floats) + bytes_of(kernel.columns);
      for (std::int64_t row = first; row < last; row += kRowsOfBlock)
        block_of_rows(form, column, floats, row, std::min(kRowsOfBlock, last - row), rest);
    });
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const std::int64_t m = rows_of(args);
  if (m == 0 || kernel.few.n == 0) return Status::ok;
  m <= BlockScaledFew::kMaxRows ? kernel.few.run(args, m) : ManyRows(kernel, args, m).run();
  return Status::ok;
}

}  // namespace

Tactic block_scaled_tactic(const char* name, bool bytes) {
  return packed_tactic({.name = name, .ops = {"MatMulBlockScaled"}, .rounds_f32 = bytes, .preferred = bytes,
                        .worker_scratch = worker_scratch},
                       {bytes ? supports_block_scaled_bytes : supports_block_scaled, bytes ? configs<true> : configs<false>,
                        bytes ? valid<true> : valid<false>, block_scaled_bytes, block_scaled_pack, block_scaled_unpack, open, run,
                        constant_gemm_work});
}

}  // namespace tenfold::backends::cpu
