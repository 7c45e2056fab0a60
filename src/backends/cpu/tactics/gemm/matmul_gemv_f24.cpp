// matmul_gemv_f24: few rows times a constant matrix, whose weights are read in 24 bits: such a product is bound by reading them.
// Rounding to nearest changes each weight by at most 2^-16 of itself.
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/matrix_rows.h"
#include "backends/cpu/gemm/weights/weights_f24.h"
#include "backends/cpu/kernels/gemm/gemv_f24.h"
#include "backends/cpu/tactics/gemm/constant_gemm_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMaxRows = 2 * kGemvMaxRows;  // more rows are bound by arithmetic

const GemvF24Kernels& kernels_of(std::int64_t isa) { return isa == kGemmAvx512 ? tenfold_gemv_f24_avx512 : tenfold_gemv_f24_avx2; }
WeightsF24 weights_of(const Problem& p, std::int64_t isa) { return {k_of(p), n_of(p), kernels_of(isa).panel}; }

Verdict supports(const Problem& p) {
  if (const Verdict common = supports_constant_gemm(p); !common) return common;
  return Verdict::only_if(fewest_rows(p) <= kMaxRows, "too many rows to be bound by reading weights");
}

// {instruction set, panels of a part}
std::vector<Config> configs(const Problem& p) {
  const std::int64_t isa = best_gemm_isa(*p.device), panels = weights_of(p, isa).panels(), wide = kernels_of(isa).wide[0];
  std::vector<Config> all;
  // One part is for small products alone: tuned on a busy machine a large one would never be shared again.
  const bool small = likely_rows(p) * k_of(p) * n_of(p) < 1 << 20;
  for (const std::int64_t parts : {std::int64_t{small ? 1 : 2}, std::int64_t{2}, std::int64_t{4}, std::int64_t{16}}) {
    const std::int64_t of_part = round_up(ceil_div(std::max<std::int64_t>(panels, 1), parts), wide);
    // Below some microseconds nothing is gained by handing values to another core.
    if (all.empty() || (of_part != all.back()[1] && k_of(p) * n_of(p) >= parts * (1 << 14))) all.push_back({isa, of_part});
  }
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 2) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  return Verdict::only_if(c[1] > 0 && c[1] < 1 << 30, "its block size is out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) { return input == 1 ? weights_of(p, c[0]).bytes() : -1; }
void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  weights_of(p, c[0]).pack(constants[1]->data<float>(), packed);
}
Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  Tensor b(DType::f32, {k_of(p), n_of(p)});
  weights_of(p, c[0]).unpack(packed, b.mutable_data<float>());
  return b;
}

struct Kernel {
  const GemvF24Kernels* kernels;
  WeightsF24 weights;
  std::int64_t k, n, panels_of_part;
  F32Epilogue epilogue;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  return std::make_shared<Kernel>(
      Kernel{&kernels_of(c[0]), weights_of(p, c[0]), k_of(p), n_of(p), c[1], F32Epilogue(p, rank_of(p.out[0]) - 1)});
}

ir::Dim worker_scratch(const Problem& p, const Config&) { return F32Epilogue(p, rank_of(p.out[0]) - 1).scratch_bytes(); }

// Panels [first, last) of a few rows.
void panels(const Kernel& kernel, GemmF32Tile t, std::int64_t row, int rows, std::int64_t first, std::int64_t last, const void* packed,
            const F32Epilogue::Binding& bound) noexcept {
  const auto& functions = kernel.kernels->tile[rows - 1][WeightsF24::masked(packed)];
  const std::int64_t wide = kernel.kernels->wide[rows - 1], width = kernel.kernels->panel;
  float* const c = t.c;
  for (std::int64_t panel = first, count; panel < last; panel += count) {
    const bool several = panel + wide <= last;
    count = several ? wide : 1;
    const std::int64_t column = panel * width;
    t.panel = WeightsF24::panel_0(packed) + panel * t.panel_step;
    t.c = c + column;
    t.cols = std::min(count * width, kernel.n - column);
    GemmF32EpilogueArgs epilogue;
    if (bound.any) epilogue = bound.at(row, column), t.epilogue = &epilogue;
    functions[several](t);
  }
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound &a = args.in[0], &y = args.out[0];
  std::int64_t m = 1;
  for (int i = 0; i + 1 < a.rank; ++i) m *= a.dims[i];
  if (m == 0 || kernel.n == 0) return Status::ok;
  const MatrixRows a_rows(a, 0, a.rank - 1);
  const std::int64_t c_stride = y.rank > 1 ? MatrixRows(y, 0, y.rank - 1).stride() : 0;
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::last(y.rank), bound);

  const std::int64_t all = kernel.weights.panels();
  args.parallel->for_each(ceil_div(all, kernel.panels_of_part), [&](std::int64_t part, int worker) noexcept {
    const std::int64_t first = part * kernel.panels_of_part, last = std::min(first + kernel.panels_of_part, all);
    const std::int64_t tiles = ceil_div(m, kernel.kernels->max_rows);
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      const std::int64_t row = tile * m / tiles;
      const int rows = static_cast<int>((tile + 1) * m / tiles - row);
      const float* table[kGemvMaxRows];
      for (int r = 0; r < rows; ++r) table[r] = a.as<const float>() + a_rows.offset(row + r);
      GemmF32Tile t;
      t.rows = table, t.k = kernel.k, t.panel_step = kernel.weights.panel_step();
      t.c = y.as<float>() + row * c_stride, t.c_stride = c_stride;
      panels(kernel, t, row, rows, first, last, args.in[1].data, bound);
      if (kernel.epilogue.in_registers()) continue;
      const std::int64_t column = first * kernel.kernels->panel, end = std::min(kernel.n, last * kernel.kernels->panel);
      kernel.epilogue.apply(bound, row, rows, column, end - column, t.c + column, c_stride, args.scratch_of(worker));
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_matmul_gemv_f24() {
  return packed_tactic({.name = "matmul_gemv_f24", .version = 2, .ops = {"MatMul"}, .rounds_f32 = true,
                        .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, constant_gemm_work});
}

}  // namespace tenfold::backends
