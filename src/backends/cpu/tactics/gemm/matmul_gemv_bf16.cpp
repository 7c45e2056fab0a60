// matmul_gemv_bf16: few rows times a constant matrix in bf16, row by row: such a product is bound by reading the weights, and AMX tiles of
// so few rows take longer to set up and to end.
#include "backends/cpu/gemm/bf16/bf16_epilogue.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_kernels.h"
#include "backends/cpu/gemm/matrix_rows.h"
#include "backends/cpu/kernels/gemm/gemv_bf16.h"
#include "backends/cpu/tactics/gemm/constant_gemm_common.h"
#include "backends/cpu/tactics/gemm/matmul_amx_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMaxRows = 2;   // the weights are read again for each

Verdict supports(const Problem& p) {
  if (const Verdict possible = bf16_product(p); !possible) return possible;
  if (const Verdict common = matmul_amx_supported(p); !common) return common;
  return Verdict::only_if(likely_rows(p) <= kMaxRows, "too many rows to read the weights for each");
}

// {panels of a part}
std::vector<Config> configs(const Problem& p) {
  const std::int64_t panels = std::max<std::int64_t>(matmul_bf16_weights(p).panels(), 1);
  std::vector<Config> all;
  // Below some microseconds nothing is gained by handing values to another core; one part is for small products alone.
  const bool small = k_of(p) * n_of(p) < 1 << 20;
  for (const std::int64_t parts : {std::int64_t{small ? 1 : 2}, std::int64_t{2}, std::int64_t{4}, std::int64_t{16}}) {
    const Config c{ceil_div(panels, parts)};
    if (all.empty() || (c != all.back() && k_of(p) * n_of(p) >= parts * (1 << 15))) all.push_back(c);
  }
  return all;
}

Verdict valid(const Problem&, const Config& c) {
  if (c.size() != 1) return Verdict::no("its configuration has another length");
  return Verdict::only_if(c[0] > 0 && c[0] < 1 << 25, "its block size is out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config&, int input) { return input == 1 ? matmul_bf16_weights(p).bytes() : -1; }
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  matmul_bf16_pack(matmul_bf16_weights(p), constants, packed);
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) { return matmul_bf16_unpack(matmul_bf16_weights(p), packed); }

struct Kernel {
  GemmBf16B weights;
  std::int64_t panels_of_part;
  bool wide;   // rows are f32
  Bf16Epilogue epilogue;

  // Of a worker: a row as f32, the sums of a part, what the epilogue needs.
  std::int64_t row_bytes() const { return weights.depth() * 4; }
  std::int64_t sum_bytes() const { return std::min(panels_of_part, weights.panels()) * 32 * 4; }
};

Kernel kernel_of(const Problem& p, const Config& c) {
  return {matmul_bf16_weights(p), c[0], p.in[0].dtype == DType::f32, Bf16Epilogue(p, rank_of(p.out[0]) - 1)};
}
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) { return std::make_shared<Kernel>(kernel_of(p, c)); }
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const Kernel k = kernel_of(p, c);
  return k.row_bytes() + k.sum_bytes() + k.epilogue.scratch_bytes();
}

// Panels [first, last) of a row, whose values are `x`.
void multiply(const Kernel& kernel, const void* packed, const float* x, std::int64_t row, std::int64_t first, std::int64_t last,
              float* sums, const Bf16Epilogue::Binding& bound, void* scratch) noexcept {
  const GemmBf16B& w = kernel.weights;
  GemvBf16 g{.x = x, .steps = w.steps(), .panel_step = w.panel(), .sums = sums};
  for (std::int64_t panel = first, count; panel < last; panel += count, g.sums += count * 32) {
    count = std::min<std::int64_t>(last - panel, GemvBf16Kernels::kPanels);
    g.panel = static_cast<const std::uint16_t*>(packed) + panel * w.panel();
    tenfold_gemv_bf16_amx.panels[count - 1](g);
  }
  const Bf16Epilogue::Rows rows{row, 1, 1};
  if (!kernel.epilogue.simple())
    return kernel.epilogue.apply(gemm_bf16_kernels(), bound, rows, first * 32, std::min(last * 32, w.n) - first * 32, sums,
                                 (last - first) * 32, scratch);
  GemmBf16Waiting::Row place;
  kernel.epilogue.place(bound, rows, 0, &place);
  for (std::int64_t panel = first; panel < last; ++panel, sums += 32)
    gemm_bf16_kernels().epilogue({.epilogue = &bound.epilogue, .rows = &place, .count = 1, .column = panel * 32,
                                  .columns = std::min<std::int64_t>(32, w.n - panel * 32), .sums = sums});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const GemmBf16B& w = kernel.weights;
  const Bound &a = args.in[0], &y = args.out[0];
  std::int64_t m = 1;
  for (int i = 0; i + 1 < a.rank; ++i) m *= a.dims[i];
  if (m == 0 || w.n == 0) return Status::ok;
  const MatrixRows a_rows(a, 0, a.rank - 1);
  Bf16Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::last(y.rank), y.rank > 1 ? MatrixRows(y, 0, y.rank - 1).stride() : 0, bound);
  const std::int64_t pieces = ceil_div(w.panels(), kernel.panels_of_part);
  args.parallel->for_each(m * pieces, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t row = part / pieces, first = part % pieces * kernel.panels_of_part;
    char* const memory = args.scratch_of<char>(worker);
    auto* const x = reinterpret_cast<float*>(memory);
    tenfold_gemv_bf16_amx.widen(a.as<const char>() + a_rows.offset(row) * (kernel.wide ? 4 : 2), kernel.wide, w.k, w.depth(), x);
    multiply(kernel, args.in[1].data, x, row, first, std::min(first + kernel.panels_of_part, w.panels()),
             reinterpret_cast<float*>(memory + kernel.row_bytes()), bound, memory + kernel.row_bytes() + kernel.sum_bytes());
  });
  return Status::ok;
}

bool may_alias(const Problem& p, int in, int) { return Bf16Epilogue(p, rank_of(p.out[0]) - 1).in_place(in); }

}  // namespace

Tactic cpu_matmul_gemv_bf16() {
  return packed_tactic({.name = "matmul_gemv_bf16", .version = 2, .ops = {"MatMul"},
                        .worker_scratch = worker_scratch, .may_alias = may_alias},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, constant_gemm_work});
}

}  // namespace tenfold::backends
