// matmul_batched: stacks of products of two activations; the right operands are packed at run time, each once.
#include <cstring>

#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/heuristics.h"
#include "backends/cpu/tactics/gemm/matmul_stacks_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

std::size_t rank_of(const OperandDesc& o) { return o.dims.size(); }
ir::Dim from_end(const OperandDesc& o, std::size_t i) { return o.dims[rank_of(o) - i]; }

Verdict supports(const Problem& p) {
  if (p.in[0].dtype != DType::f32 || p.in[1].dtype != DType::f32) return Verdict::no("operands are not f32");
  if (const Verdict stacks = matmul_stacks_supported(p); !stacks) return stacks;
  return F32Epilogue::supports(p, static_cast<int>(rank_of(p.out[0])) - 1);
}

// {instruction set, rows of a block, columns of a block, depth of a block}
std::vector<Config> configs(const Problem& p) {
  const OperandDesc &a = p.in[0], &y = p.out[0];
  std::int64_t batch = 1;
  for (std::size_t i = 0; i + 2 < rank_of(y); ++i) batch = std::min<std::int64_t>(batch * likely(p, y.dims[i], 8), 1 << 20);
  const std::int64_t m = likely(p, from_end(y, 2), 128), n = likely(p, from_end(y, 1), 128), k = likely(p, from_end(a, 1), 128);
  std::vector<Config> all;
  for (const GemmF32Blocking& c : gemm_f32_blockings(*p.device, batch, m, n, 1, k)) all.push_back({c.isa, c.rows, c.cols, c.k});
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 4) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  return Verdict::only_if(
      c[1] > 0 && c[1] <= table_rows(1, gemm_f32_kernels(c[0]).max_rows) && c[2] > 0 && c[2] < 1 << 30 && c[3] > 0 && c[3] < 1 << 30,
      "its block sizes are out of range");
}

struct Kernel {
  const GemmF32Kernels* kernels;
  GemmF32Blocking blocking;
  F32Epilogue epilogue;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->kernels = &gemm_f32_kernels(c[0]);
  kernel->blocking = {c[0], c[1], c[2], c[3]};
  kernel->epilogue = F32Epilogue(p, static_cast<int>(rank_of(p.out[0])) - 1);
  return kernel;
}

ir::Dim worker_scratch(const Problem& p, const Config&) { return F32Epilogue(p, static_cast<int>(rank_of(p.out[0])) - 1).scratch_bytes(); }
ir::Dim workspace(const Problem& p, const Config& c) {
  const ir::Dim panel = gemm_f32_kernels(c[0]).panel;
  return matmul_stacked(p.in[1]) * from_end(p.in[1], 2) * ceil_div(from_end(p.in[1], 1), panel) * panel * 4;
}

// One panel of one right operand, for all of K.
void pack_panel(const GemmF32Weights& w, const float* b, std::int64_t k_stride, std::int64_t n_stride, std::int64_t panel,
                float* packed) noexcept {
  const std::int64_t first = panel * w.panel, cols = std::min<std::int64_t>(w.panel, w.n - first);
  for (std::int64_t block = 0; block < w.k_blocks(); ++block) {
    float* to = packed + w.at(block, panel);
    const float* from = b + block * w.k_block * k_stride + first * n_stride;
    const std::int64_t depth = w.depth(block);
    if (n_stride == 1) {
      for (std::int64_t k = 0; k < depth; ++k, from += k_stride, to += w.panel) {
        if (cols < w.panel) std::memset(to + cols, 0, static_cast<std::size_t>(w.panel - cols) * 4);
        if (cols == 16)
          std::memcpy(to, from, 64);  // of known length: two vector moves
        else if (cols == 32)
          std::memcpy(to, from, 128);
        else if (cols == 48)
          std::memcpy(to, from, 192);
        else
          std::memcpy(to, from, static_cast<std::size_t>(cols) * 4);
      }
    } else {
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t j = 0; j < w.panel; ++j) to[k * w.panel + j] = j < cols ? from[j * n_stride + k * k_stride] : 0.f;
    }
  }
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound &a = args.in[0], &b = args.in[1], &y = args.out[0];
  const std::int64_t m = a.dims[a.rank - 2];
  const GemmF32Weights w{
      .taps = 1, .k = a.dims[a.rank - 1], .n = b.dims[b.rank - 1], .k_block = kernel.blocking.k, .panel = kernel.kernels->panel};
  std::int64_t matrices = 1, rights = 1;
  for (int i = 0; i + 2 < y.rank; ++i) matrices *= y.dims[i];
  for (int i = 0; i + 2 < b.rank; ++i) rights *= b.dims[i];
  if (matrices * m * w.n == 0) return Status::ok;
  const std::int64_t panels = w.panels();
  float* const packed = static_cast<float*>(args.workspace);
  // Matrices are parts, however small. Packing takes some time for each element of the right operands, too.
  Serial alone;
  const bool short_run = gemm_f32_flops(matrices, m, w.n, w.k) + 8.0 * static_cast<double>(rights * w.floats()) < kMinSharedFlops;
  Parallel& parallel = short_run ? static_cast<Parallel&>(alone) : *args.parallel;

  const std::int64_t pieces = std::min<std::int64_t>(panels, ceil_div(std::int64_t{8}, rights));  // parts enough for a few workers
  parallel.for_each(rights * pieces, [&](std::int64_t part, int) noexcept {
    const std::int64_t right = part / pieces, piece = part % pieces;
    std::int64_t offset = 0;
    for (std::int64_t i = b.rank - 3, rest = right; i >= 0; --i) offset += rest % b.dims[i] * b.strides[i], rest /= b.dims[i];
    for (std::int64_t panel = piece * panels / pieces; panel < (piece + 1) * panels / pieces; ++panel)
      pack_panel(w, b.as<const float>() + offset, b.strides[b.rank - 2], b.strides[b.rank - 1], panel, packed + right * w.floats());
  });

  const std::int64_t c_stride = MatrixRows(y, 0, y.rank - 1).stride();
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::last(y.rank), bound);
  const std::int64_t row_blocks = ceil_div(m, kernel.blocking.rows);
  const std::int64_t column_blocks = ceil_div(w.n, std::max<std::int64_t>(kernel.blocking.cols, w.panel));
  parallel.for_each(matrices * row_blocks * column_blocks, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t j = part % column_blocks, i = part / column_blocks % row_blocks, matrix = part / column_blocks / row_blocks;
    const float* table[kRowTable];
    const std::int64_t row = i * m / row_blocks;
    const GemmF32Block block{.table = table,
                             .rows = (i + 1) * m / row_blocks - row,
                             .row = matrix * m + row,
                             .first_panel = j * panels / column_blocks,
                             .last_panel = (j + 1) * panels / column_blocks,
                             .c = y.as<float>(),
                             .c_stride = c_stride};
    const float* left = a.as<const float>() + matmul_matrix_of(a, y, matrix, false);
    fill_table(RowTiles(block.rows, kernel.kernels->max_rows), 1, kernel.kernels->max_rows, table,
               [&](std::int64_t r, const float** entry) { *entry = left + (row + r) * a.strides[a.rank - 2]; });
    gemm_f32_block(*kernel.kernels, w, packed + matmul_matrix_of(b, y, matrix, true) * w.floats(), block, kernel.epilogue, bound,
                   args.scratch_of(worker));
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_matmul_batched() {
  return {.name = "matmul_batched",
          .version = 2,
          .ops = {"MatMul"},
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .workspace = workspace,
          .worker_scratch = worker_scratch,
          .open = open,
          .run = run,
          .work = matmul_stacks_work};
}

}  // namespace tenfold::backends
