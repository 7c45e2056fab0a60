// matmul_batched_amx_bf16: stacks of products of two bf16 activations, with f32 sums; right operands are packed at run time, each once.
#include "backends/cpu/gemm/bf16/bf16_matrix.h"
#include "backends/cpu/gemm/bf16/gemm_bf16.h"
#include "backends/cpu/tactics/gemm/matmul_stacks_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kColumnsAtOnce = GemmBf16Plan::kMaxNc;

int rank_of(const OperandDesc& o) { return static_cast<int>(o.dims.size()); }
ir::Dim from_end(const OperandDesc& o, std::size_t i) { return o.dims[o.dims.size() - i]; }

Verdict supports(const Problem& p) {
  if (p.in[0].dtype != DType::bf16 || p.in[1].dtype != DType::bf16) return Verdict::no("operands are not bf16");
  if (const Verdict possible = bf16_product(p); !possible) return possible;
  if (const Verdict stacks = matmul_stacks_supported(p); !stacks) return stacks;
  return Bf16Epilogue::supports(p, rank_of(p.out[0]) - 1);
}

// {rows of a block}
std::vector<Config> configs(const Problem&) { return {{256}, {128}, {64}}; }
Verdict valid(const Problem&, const Config& c) {
  return Verdict::only_if(c.size() == 1 && c[0] > 0 && c[0] % GemmBf16Plan::kMr == 0 && c[0] <= 1 << 12, "its block is out of range");
}

struct Kernel {
  std::int64_t rows;
  Bf16Epilogue epilogue;
};
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  return std::make_shared<Kernel>(Kernel{c[0], Bf16Epilogue(p, rank_of(p.out[0]) - 1)});
}

ir::Dim depth(const Problem& p) { return ceil_div(from_end(p.in[0], 1), 32) * 32; }
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  return (depth(p) + 32) * (c[0] * 2) + gemm_bf16_scratch_bytes(Bf16Epilogue(p, rank_of(p.out[0]) - 1), kColumnsAtOnce);
}
ir::Dim workspace(const Problem& p, const Config&) {
  return matmul_stacked(p.in[1]) * depth(p) * ceil_div(from_end(p.in[1], 1), 32) * 64;
}

// One right operand; strides in elements.
void pack_right(const GemmBf16B& w, const std::uint16_t* b, std::int64_t k_stride, std::int64_t n_stride,
                std::uint16_t* to) noexcept {
  for (std::int64_t panel = 0; panel < w.panels(); ++panel) {
    const std::int64_t cols = std::min<std::int64_t>(32, w.n - panel * 32);
    for (std::int64_t k = 0; k < w.depth(); ++k) {
      const std::uint16_t* from = b + panel * 32 * n_stride + k * k_stride;
      for (std::int64_t j = 0; j < 32; ++j)
        to[w.slot(0, k, panel * 32 + j)] = k < w.k && j < cols ? from[j * n_stride] : std::uint16_t{0};
    }
  }
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound &a = args.in[0], &b = args.in[1], &y = args.out[0];
  const std::int64_t m = a.dims[a.rank - 2];
  const GemmBf16B w{.taps = 1, .k = a.dims[a.rank - 1], .n = b.dims[b.rank - 1]};
  std::int64_t matrices = 1, rights = 1;
  for (int i = 0; i + 2 < y.rank; ++i) matrices *= y.dims[i];
  for (int i = 0; i + 2 < b.rank; ++i) rights *= b.dims[i];
  if (matrices * m * w.n == 0) return Status::ok;
  auto* const packed = static_cast<std::uint16_t*>(args.workspace);
  args.parallel->for_each(rights, [&](std::int64_t right, int) noexcept {
    std::int64_t offset = 0;
    for (std::int64_t i = b.rank - 3, rest = right; i >= 0; --i) offset += rest % b.dims[i] * b.strides[i], rest /= b.dims[i];
    pack_right(w, b.as<const std::uint16_t>() + offset, b.strides[b.rank - 2], b.strides[b.rank - 1], packed + right * w.values());
  });
  Bf16Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::last(y.rank), MatrixRows(y, 0, y.rank - 1).stride(), bound);
  const std::int64_t blocks = ceil_div(m, kernel.rows), gemm_bytes = gemm_bf16_scratch_bytes(kernel.epilogue, kColumnsAtOnce);
  const GemmBf16Plan plan(w, Bf16Matrix::mode(DType::bf16, w.k, true), GemmBf16Plan::Loops::panels_inside, kernel.epilogue);
  args.parallel->for_each(matrices * blocks, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t matrix = part / blocks, row = part % blocks * kernel.rows;
    const Bf16Matrix left(a.as<const std::uint16_t>() + matmul_matrix_of(a, y, matrix, false), DType::bf16,
                          MatrixRows(a, a.rank - 2, a.rank - 1), plan.a);
    char* const scratch = args.scratch_of<char>(worker);
    GemmBf16Rows rows = left.rows(w, row, std::min(kernel.rows, m - row), scratch + gemm_bytes);
    rows.c.first += matrix * m;
    gemm_bf16(plan, {rows, packed + matmul_matrix_of(b, y, matrix, true) * w.values(), 0, w.panels(), kernel.epilogue, bound, scratch});
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_matmul_batched_amx_bf16() {
  return {.name = "matmul_batched_amx_bf16",
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
