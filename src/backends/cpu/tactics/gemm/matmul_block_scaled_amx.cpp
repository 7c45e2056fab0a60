// matmul_block_scaled_amx: as matmul_block_scaled_vnni, but many rows are multiplied on AMX tiles: columns of the weights become bf16 in a
// worker's cache, in two terms where f32 may be rounded to tf32, in one where it may be to bf16.
#include "backends/cpu/gemm/bf16/bf16_matrix.h"
#include "backends/cpu/gemm/bf16/gemm_bf16.h"
#include "backends/cpu/tactics/gemm/block_scaled_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kTile = GemmBf16A::kTile, kPanel = GemmBf16Plan::kNr, kMaxRowsOfBlock = 512;
constexpr std::int64_t kBytes = 1 << 20;  // of a worker's columns, in its second cache

GemmBf16B matrix_of(const Problem& p) {
  return {.taps = 1, .k = k_of(p), .n = n_of(p), .type = DType::f32, .terms = p.numerics.allows(ir::Rounding::bf16) ? 1 : 2};
}

Verdict supports(const Problem& p) {
  if (const Verdict common = supports_block_scaled_bytes(p); !common) return common;
  if (!(p.device->features & kAmxBf16)) return Verdict::no("this machine has no AMX");
  if (max_rows(p) <= BlockScaledFew::kMaxRows) return Verdict::no("too few rows for tiles");
  return Bf16Epilogue::supports(p, rank_of(p.out[0]) - 1);
}

// ..., {rows of a block, columns of a part}
std::vector<Config> configs(const Problem& p) {
  const GemmBf16B b = matrix_of(p);
  const std::int64_t fit = std::max<std::int64_t>(kBytes / std::max<std::int64_t>(b.panel_bytes(), 1), 1);
  const std::int64_t shared = std::max<std::int64_t>(ceil_div(b.panels(), 8), 1);
  std::vector<Config> all;
  for (const std::int64_t rows : {std::int64_t{256}, kMaxRowsOfBlock})
    for (const std::int64_t panels : {fit, ceil_div(fit, 2)}) {
      Config c = block_scaled_configs(p, true)[0];
      c.push_back(rows), c.push_back(std::min(panels, shared) * kPanel);
      if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
    }
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 5) return Verdict::no("its configuration has another length");
  if (const Verdict few = block_scaled_valid(p, c, true); !few) return few;
  return Verdict::only_if(c[3] > 0 && c[3] % GemmBf16Plan::kMr == 0 && c[3] <= 1 << 16 && c[4] > 0 && c[4] % kPanel == 0 && c[4] < 1 << 30,
                          "its block sizes are out of range");
}

GemmBf16Plan plan_of(const Problem& p, const Config& c) {
  const GemmBf16B b = matrix_of(p);
  GemmBf16Plan plan{b, GemmBf16Plan::A::packed, GemmBf16Plan::Loops::panels_outside, Bf16Epilogue(p, rank_of(p.out[0]) - 1),
                    gemm_bf16_k_pieces(b, c[3])};
  plan.micro_kernel = GemmBf16Plan::MicroKernel::tiles;
  return plan;
}

struct Kernel {
  BlockScaledFew few;
  GemmBf16Plan plan;
  Bf16Epilogue epilogue;
  std::int64_t rows, panels;   // of a block of rows, of a part
  std::int64_t bytes() const { return panels * plan.matrix.panel_bytes(); }
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  return std::make_shared<Kernel>(
      Kernel{BlockScaledFew(p, c), plan_of(p, c), Bf16Epilogue(p, rank_of(p.out[0]) - 1), c[3], c[4] / kPanel});
}

// Copies of all rows.
ir::Dim workspace(const Problem& p, const Config&) {
  const ir::Dim rows = ir::product(std::span(p.in[0].dims).first(p.in[0].dims.size() - 1));
  return ceil_div(rows, kTile) * Bf16Matrix::copy_bytes(matrix_of(p), Bf16Matrix::Mode::packed, kTile);
}
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const GemmBf16Plan plan = plan_of(p, c);
  const std::int64_t tiles = c[4] / kPanel * plan.matrix.panel_bytes() + plan.scratch_bytes(c[4], c[3]);
  return std::max(tiles, BlockScaledFew(p, c).scratch_bytes());
}

// Panels [first, last) of 32 columns.
void unpack_panels(const Kernel& kernel, const RunArgs& args, std::int64_t first, std::int64_t last, char* to) noexcept {
  const GemmBf16B& b = kernel.plan.matrix;
  const WeightsBlockScaled& w = kernel.few.weights;
  const auto unpack = tenfold_block_scaled_bf16_amx.unpack[w.bits()][kernel.few.values][b.terms - 1];
  for (std::int64_t panel = first; panel < last; ++panel, to += b.panel_bytes()) {
    auto* const tiles = reinterpret_cast<std::uint16_t*>(to);
    unpack(kernel.few.panel(args, 2 * panel), b.steps(), tiles);
    if (2 * panel + 1 < w.panels()) {
      unpack(kernel.few.panel(args, 2 * panel + 1), b.steps(), tiles + GemmBf16B::kTerm / 2);
      continue;
    }
    for (std::int64_t i = 0; i < b.steps() * b.terms; ++i)
      std::fill_n(tiles + i * GemmBf16B::kTerm + GemmBf16B::kTerm / 2, GemmBf16B::kTerm / 2, std::uint16_t{0});
  }
}

void many_rows(const Kernel& kernel, const RunArgs& args, std::int64_t m) noexcept {
  const GemmBf16B& b = kernel.plan.matrix;
  const Bound &a = args.in[0], &y = args.out[0];
  const Bf16Matrix matrix(a.data, DType::f32, MatrixRows(a, 0, a.rank - 1), kernel.plan.a);
  Bf16Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::last(y.rank), y.rank > 1 ? MatrixRows(y, 0, y.rank - 1).stride() : 0, bound);
  char* const copies = static_cast<char*>(args.workspace);
  const std::int64_t tile_bytes = Bf16Matrix::copy_bytes(b, Bf16Matrix::Mode::packed, kTile);
  args.parallel->for_each(ceil_div(m, kTile), [&](std::int64_t tile, int) noexcept {
    matrix.copy(b, tile * kTile, std::min(kTile, m - tile * kTile), copies + tile * tile_bytes);
  });
  args.parallel->for_each(ceil_div(b.panels(), kernel.panels), [&](std::int64_t part, int worker) noexcept {
    char* const memory = args.scratch_of<char>(worker);
    const std::int64_t first = part * kernel.panels, last = std::min(first + kernel.panels, b.panels());
    unpack_panels(kernel, args, first, last, memory);
    const char* const all = memory - first * b.panel_bytes();   // where panel 0 would be
    for (std::int64_t row = 0; row < m; row += kernel.rows) {
      const GemmBf16Rows rows = Bf16Matrix::copied(b, row, std::min(kernel.rows, m - row), copies + row / kTile * tile_bytes);
      gemm_bf16(kernel.plan, {rows, all, first, last, kernel.epilogue, bound, memory + kernel.bytes()});
    }
  });
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const std::int64_t m = rows_of(args);
  if (m == 0 || kernel.few.n == 0) return Status::ok;
  m <= BlockScaledFew::kMaxRows ? kernel.few.run(args, m) : many_rows(kernel, args, m);
  return Status::ok;
}

}  // namespace

Tactic cpu_matmul_block_scaled_amx() {
  return packed_tactic({.name = "matmul_block_scaled_amx", .ops = {"MatMulBlockScaled"}, .rounds_f32 = true,
                        .preferred = true, .workspace = workspace, .worker_scratch = worker_scratch},
                       {supports, configs, valid, block_scaled_bytes, block_scaled_pack, block_scaled_unpack, open, run,
                        constant_gemm_work});
}

}  // namespace tenfold::backends
