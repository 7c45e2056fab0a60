// matmul_packed: activations times a constant matrix, which is packed at build time.
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/matrix_rows.h"
#include "backends/cpu/tactics/gemm/constant_gemm_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

GemmF32Blocking blocking_of(const Config& c) { return {c[0], c[1], c[2], c[3]}; }
GemmF32Weights weights_of(const Problem& p, const Config& c) {
  const GemmF32Kernels& kernels = gemm_f32_kernels(c[0]);
  return {.taps = 1, .k = k_of(p), .n = n_of(p), .k_block = c[3], .panel = kernels.panel, .lanes = kernels.lanes};
}

std::vector<Config> configs(const Problem& p) {
  std::vector<Config> all;
  for (const GemmF32Blocking& c : gemm_f32_blockings(*p.device, 1, likely_rows(p), n_of(p), 1, k_of(p), true))
    all.push_back({c.isa, c.rows, c.cols, c.k});
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 4) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0], true); !runs) return runs;
  return Verdict::only_if(c[1] > 0 && c[1] <= table_rows(1, gemm_f32_kernels(c[0]).max_rows) && c[2] > 0 && c[2] < 1 << 30 && c[3] > 0 &&
                              c[3] < 1 << 30 && (gemm_f32_kernels(c[0]).lanes == 1 || c[3] >= k_of(p)),
                          "its block sizes are out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) { return input == 1 ? weights_of(p, c).floats() * 4 : -1; }

void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const GemmF32Weights w = weights_of(p, c);
  const float* b = constants[1]->data<float>();
  pack_f32(w, static_cast<float*>(packed), [&](std::int64_t, std::int64_t k, std::int64_t n) { return b[k * w.n + n]; });
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  const GemmF32Weights w = weights_of(p, c);
  Tensor b(DType::f32, {w.k, w.n});
  float* to = b.mutable_data<float>();
  for (std::int64_t k = 0; k < w.k; ++k)
    for (std::int64_t n = 0; n < w.n; ++n) to[k * w.n + n] = static_cast<const float*>(packed)[w.slot(0, k, n)];
  return b;
}

struct Kernel {
  const GemmF32Kernels* kernels;
  GemmF32Weights weights;
  GemmF32Blocking blocking;
  F32Epilogue epilogue;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->kernels = &gemm_f32_kernels(c[0]);
  kernel->weights = weights_of(p, c);
  kernel->blocking = blocking_of(c);
  kernel->epilogue = F32Epilogue(p, rank_of(p.out[0]) - 1);
  return kernel;
}

ir::Dim worker_scratch(const Problem& p, const Config&) { return F32Epilogue(p, rank_of(p.out[0]) - 1).scratch_bytes(); }

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const GemmF32Weights& w = kernel.weights;
  const Bound &a = args.in[0], &y = args.out[0];
  std::int64_t m = 1;
  for (int i = 0; i + 1 < a.rank; ++i) m *= a.dims[i];
  if (m == 0 || w.n == 0) return Status::ok;
  const MatrixRows a_rows(a, 0, a.rank - 1);
  const std::int64_t c_stride = y.rank > 1 ? MatrixRows(y, 0, y.rank - 1).stride() : 0;
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::last(y.rank), bound);

  const std::int64_t row_blocks = ceil_div(m, kernel.blocking.rows), panels = w.panels();
  const std::int64_t column_blocks = ceil_div(w.n, std::max<std::int64_t>(kernel.blocking.cols, w.panel));
  args.parallel->for_each(row_blocks * column_blocks, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t i = part / column_blocks, j = part % column_blocks;
    const float* table[kRowTable];
    GemmF32Block block;
    block.table = table;
    block.row = i * m / row_blocks;
    block.rows = (i + 1) * m / row_blocks - block.row;
    block.first_panel = j * panels / column_blocks, block.last_panel = (j + 1) * panels / column_blocks;
    block.c = y.as<float>(), block.c_stride = c_stride, block.far = is_far(m, w.n);
    fill_table(RowTiles(block.rows, kernel.kernels->max_rows), 1, kernel.kernels->max_rows, table,
               [&](std::int64_t row, const float** entry) { *entry = a.as<const float>() + a_rows.offset(block.row + row); });
    gemm_f32_block(*kernel.kernels, w, args.in[1].as<const float>(), block, kernel.epilogue, bound,
                   args.scratch_of(worker));
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_matmul_packed() {
  return packed_tactic({.name = "matmul_packed", .version = 2, .ops = {"MatMul"}, .worker_scratch = worker_scratch,
                        .cases = {"MatMul f32[33,70] f32[70,65]!"}},
                       {supports_constant_gemm, configs, valid, packed_bytes, pack, unpack, open, run,
                        constant_gemm_work});
}

}  // namespace tenfold::backends
