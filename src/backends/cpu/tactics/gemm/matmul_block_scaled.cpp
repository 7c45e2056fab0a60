// matmul_block_scaled: floats times a constant matrix of 4 or 8 bits with a scale for each block of a column. With few rows, weights become
// floats in registers, and the product is bound by reading them as they are. With many, a few columns of them become floats in a worker's
// cache, for the kernels of products of floats.
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/matrix_rows.h"
#include "backends/cpu/gemm/weights/weights_block_scaled.h"
#include "backends/cpu/tactics/gemm/constant_gemm_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMaxFewRows = 12;          // more are bound by arithmetic, and worth floats that all of them share
constexpr std::int64_t kFloatBytes = 1 << 20;     // of a worker's columns, in its second cache
constexpr std::int64_t kDepth = 384;              // rows of such columns that stay in the first cache
constexpr std::int64_t kRowsOfBlock = 512, kMinRowsOfPart = 128;

const BlockScaledKernels& kernels_of(std::int64_t isa) {
  return isa == kGemmAvx512 ? tenfold_block_scaled_avx512 : tenfold_block_scaled_avx2;
}
WeightsBlockScaled weights_of(const Problem& p) {
  return {k_of(p), n_of(p), p.attributes->integer("block_size"), p.in[1].dtype};
}
bool has_zeros(const Problem& p) { return p.anchor_inputs > 3; }

Verdict supports(const Problem& p) {
  if (const Verdict rows = supports_rows_times_constant(p); !rows) return rows;
  for (int i = 2; i < p.anchor_inputs; ++i)
    if (!p.in[static_cast<std::size_t>(i)].constant) return Verdict::no("scales or zero points are not constant");
  const std::int64_t block = p.attributes->integer("block_size");
  return Verdict::only_if(block % 16 == 0 || block >= k_of(p), "blocks are no multiples of 16");
}

// {instruction set, panels of a part with few rows}
std::vector<Config> configs(const Problem& p) {
  const std::int64_t isa = best_gemm_isa(*p.device), panels = std::max<std::int64_t>(weights_of(p).panels(), 1);
  std::vector<Config> all;
  // One part is for small products alone: tuned on a busy machine a large one would never be shared again.
  const bool small = likely_rows(p) * k_of(p) * n_of(p) < 1 << 20;
  for (const std::int64_t parts : {std::int64_t{small ? 1 : 4}, std::int64_t{2}, std::int64_t{16}}) {
    const Config c{isa, ceil_div(panels, parts)};
    // Below some microseconds nothing is gained by handing values to another core.
    if (all.empty() || (c != all.back() && k_of(p) * n_of(p) >= parts * (1 << 15))) all.push_back(c);
  }
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 2) return Verdict::no("its configuration has another length");
  if (c[0] != kGemmAvx2 && c[0] != kGemmAvx512) return Verdict::no("it names no instruction set of this version");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  return Verdict::only_if(c[1] > 0 && c[1] < 1 << 30, "its block size is out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config&, int input) {
  const WeightsBlockScaled w = weights_of(p);
  if (input == 1) return w.word_bytes();
  if (input == 2) return w.scale_bytes();
  return input == 3 && has_zeros(p) ? w.zero_bytes() : -1;
}
void pack(const Problem& p, const Config&, int input, std::span<const Tensor* const> constants, void* packed) {
  const WeightsBlockScaled w = weights_of(p);
  const Tensor& values = *constants[static_cast<std::size_t>(input)];
  input == 1 ? w.pack(values, packed) : input == 2 ? w.pack_scales(values, packed) : w.pack_zeros(values, packed);
}
Tensor unpack(const Problem& p, const Config&, int input, const void* packed) {
  const WeightsBlockScaled w = weights_of(p);
  return input == 1 ? w.unpack(packed) : input == 2 ? w.unpack_scales(packed) : w.unpack_zeros(packed);
}

// The floats that a worker makes of some columns.
struct FloatColumns {
  GemmF32Weights form;            // of all columns but the last
  std::int64_t bytes() const { return round_up(form.floats() * 4, 64); }
  FloatColumns(std::int64_t k, std::int64_t n, const GemmF32Kernels& kernels) {
    const std::int64_t panel = kernels.panel, fit = std::max<std::int64_t>(kFloatBytes / (4 * std::max<std::int64_t>(k, 1)) / panel, 1);
    const std::int64_t shared = ceil_div(ceil_div(n, panel), 8);   // so that several workers have some
    form = {.taps = 1, .k = k, .n = std::max<std::int64_t>(std::min(fit, shared), 1) * panel, .k_block = kDepth, .panel = kernels.panel};
  }
};

struct Kernel {
  const BlockScaledKernels* kernels;
  const GemmF32Kernels* floats;
  WeightsBlockScaled weights;
  std::int64_t k, n, panels_of_part;
  bool zeros;
  FloatColumns columns;
  F32Epilogue epilogue;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const GemmF32Kernels& floats = gemm_f32_kernels(c[0]);
  return std::make_shared<Kernel>(Kernel{&kernels_of(c[0]), &floats, weights_of(p), k_of(p), n_of(p), c[1], has_zeros(p),
                                         FloatColumns(k_of(p), n_of(p), floats), F32Epilogue(p, rank_of(p.out[0]) - 1)});
}

// Of a worker: floats of its columns, then what the epilogue needs.
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const std::int64_t floats = most_rows(p) > kMaxFewRows ? FloatColumns(k_of(p), n_of(p), gemm_f32_kernels(c[0])).bytes() : 0;
  return floats + F32Epilogue(p, rank_of(p.out[0]) - 1).scratch_bytes();
}

struct Product {
  const Kernel& kernel;
  const RunArgs& args;
  const Bound &a = args.in[0], &y = args.out[0];
  MatrixRows a_rows{a, 0, a.rank - 1};
  std::int64_t m = 1, c_stride = y.rank > 1 ? MatrixRows(y, 0, y.rank - 1).stride() : 0;
  F32Epilogue::Binding bound;

  Product(const Kernel& opened, const RunArgs& arguments) noexcept : kernel(opened), args(arguments) {
    for (int i = 0; i + 1 < a.rank; ++i) m *= a.dims[i];
    kernel.epilogue.bind(args, TileAxes::last(y.rank), bound);
  }
  const float* row(std::int64_t i) const { return a.as<const float>() + a_rows.offset(i); }
  BlockScaledPanel panel(std::int64_t i) const {
    return kernel.weights.panel(i, args.in[1].data, args.in[2].data, kernel.zeros ? args.in[3].data : nullptr);
  }

  // Panels [first, last) of a few rows.
  void few(std::int64_t first_row, int rows, std::int64_t first, std::int64_t last, void* scratch) const noexcept {
    const float* table[BlockScaledKernels::kMaxRows];
    for (int r = 0; r < rows; ++r) table[r] = row(first_row + r);
    constexpr std::int64_t kWidth = WeightsBlockScaled::kPanel;
    float* const c = y.as<float>() + first_row * c_stride;
    GemmF32Tile t;
    t.rows = table, t.c_stride = c_stride;
    for (std::int64_t i = first; i < last; ++i) {
      t.c = c + i * kWidth, t.cols = std::min(kWidth, kernel.n - i * kWidth);
      GemmF32EpilogueArgs epilogue;
      if (bound.any) epilogue = bound.at(first_row, i * kWidth), t.epilogue = &epilogue;
      kernel.kernels->product[kernel.weights.bits()][kernel.zeros][rows - 1](panel(i), t);
    }
    if (kernel.epilogue.in_registers()) return;
    const std::int64_t column = first * kWidth, end = std::min(kernel.n, last * kWidth);
    kernel.epilogue.apply(bound, first_row, rows, column, end - column, c + column, c_stride, scratch);
  }

  void all_few() const noexcept {
    const std::int64_t panels = kernel.weights.panels(), tiles = ceil_div(m, kernel.kernels->max_rows);
    args.parallel->for_each(ceil_div(panels, kernel.panels_of_part), [&](std::int64_t part, int worker) noexcept {
      const std::int64_t first = part * kernel.panels_of_part, last = std::min(first + kernel.panels_of_part, panels);
      for (std::int64_t i = 0; i < tiles; ++i)
        few(i * m / tiles, static_cast<int>((i + 1) * m / tiles - i * m / tiles), first, last, args.scratch_of(worker));
    });
  }

  // Columns from `first` on, a multiple of 16, as floats.
  void unpack_columns(const GemmF32Weights& form, std::int64_t first, float* to) const noexcept {
    constexpr std::int64_t kWidth = WeightsBlockScaled::kPanel;
    const auto unpack = kernel.kernels->unpack[kernel.weights.bits()][kernel.zeros];
    for (std::int64_t column = 0; column < form.panels() * form.panel; column += kWidth) {
      const std::int64_t from = (first + column) / kWidth;
      for (std::int64_t k = 0; k < form.k; k += kDepth) {
        float* const place = to + form.at(k / kDepth, column / form.panel) + column % form.panel;
        const std::int64_t depth = std::min(kDepth, form.k - k);
        if (from < kernel.weights.panels())
          unpack(panel(from), k, k + depth, place, form.panel);
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
    block.c = y.as<float>(), block.c_stride = c_stride, block.far = is_far(m, kernel.n);
    fill_table(RowTiles(rows, kernel.floats->max_rows), 1, kernel.floats->max_rows, table,
               [&](std::int64_t i, const float** entry) { *entry = row(first + i); });
    gemm_f32_block(*kernel.floats, form, weights, block, kernel.epilogue, bound, scratch);
  }

  void all_many() const noexcept {
    const std::int64_t width = kernel.columns.form.n, column_parts = ceil_div(kernel.n, width);
    const std::int64_t row_parts = column_parts >= 16 ? 1 : std::max<std::int64_t>(m / kMinRowsOfPart, 1);
    args.parallel->for_each(column_parts * row_parts, [&](std::int64_t part, int worker) noexcept {
      const std::int64_t column = part / row_parts * width, i = part % row_parts;
      const std::int64_t first = i * m / row_parts, last = (i + 1) * m / row_parts;
      GemmF32Weights form = kernel.columns.form;
      form.n = std::min(width, kernel.n - column);
      auto* const floats = args.scratch_of<float>(worker);
      unpack_columns(form, column, floats);
      void* const rest = reinterpret_cast<char*>(floats) + kernel.columns.bytes();
      for (std::int64_t row = first; row < last; row += kRowsOfBlock)
        block_of_rows(form, column, floats, row, std::min(kRowsOfBlock, last - row), rest);
    });
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Product product(*static_cast<const Kernel*>(self), args);
  if (product.m == 0 || product.kernel.n == 0) return Status::ok;
  product.m <= kMaxFewRows ? product.all_few() : product.all_many();
  return Status::ok;
}

}  // namespace

Tactic cpu_matmul_block_scaled() {
  return packed_tactic({.name = "matmul_block_scaled", .ops = {"MatMulBlockScaled"}, .worker_scratch = worker_scratch,
                        .cases = {"MatMulBlockScaled f32[1,100] i4[100,70]! f32[4,70](0.01,0.05)! block_size=32",
                                  "MatMulBlockScaled f32[13,600] u4[600,70]! f32[10,70](0.01,0.05)! u4[10,70]! block_size=64",
                                  "MatMulBlockScaled f32[140,50] u8[50,70]! f32[1,70](0.01,0.05)! u8[1,70]! block_size=50",
                                  "MatMulBlockScaled f32[11,64] i8[64,33]! f32[4,33](0.01,0.05)! i8[4,33]! block_size=16"}},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, constant_gemm_work});
}

}  // namespace tenfold::backends
