// Products with a constant matrix on AMX tiles. Rows of bf16 are read where they lie; rows of f32 and those that are no whole steps of k
// are copied first.
#include "backends/cpu/tactics/gemm/matmul_amx_common.h"

#include "backends/cpu/gemm/bf16/bf16_matrix.h"
#include "backends/cpu/gemm/bf16/gemm_bf16.h"
#include "backends/cpu/gemm/bf16/pack_bf16.h"
#include "backends/cpu/tactics/gemm/constant_gemm_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kRows = GemmBf16Plan::kMr, kTile = GemmBf16A::kTile;

// {rows of a block, columns of a block, whether panels go round inside, terms of a value}
std::vector<Config> configs_of(const Problem& p, int terms) {
  const std::int64_t rows = std::max<std::int64_t>(likely_rows(p), 1), n = std::max<std::int64_t>(matmul_bf16_weights(p).n, 1);
  std::vector<Config> all;
  for (const std::int64_t max : {256, 128, 512, 64}) {
    for (const std::int64_t pieces : {4, 1, 8}) {
      for (const std::int64_t inside : {0, 1}) {
        const std::int64_t blocks = ceil_div(rows, max);
        const Config c{round_up(ceil_div(rows, blocks), kRows), round_up(ceil_div(n, pieces), 32), inside, terms};
        if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
      }
    }
  }
  return all;
}

std::vector<Config> configs(const Problem& p) { return configs_of(p, bf16_terms(p)); }
std::vector<Config> whole_configs(const Problem& p) { return configs_of(p, 3); }

GemmBf16B weights_of(const Problem& p, const Config& c) {
  GemmBf16B w = matmul_bf16_weights(p);
  w.terms = static_cast<int>(c[3]);
  return w;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 4) return Verdict::no("its configuration has another length");
  return Verdict::only_if(c[0] > 0 && c[0] % kRows == 0 && c[0] <= 1 << 16 && c[1] > 0 && c[1] % 32 == 0 && c[1] < 1 << 30 && c[2] >= 0 &&
                              c[2] <= 1 && (c[3] == bf16_terms(p) || (c[3] == 3 && bf16_terms(p) == 2)),
                          "its block sizes are out of range");
}

Bf16Matrix::Mode rows_mode(const Problem& p) {
  return Bf16Matrix::mode(p.in[0].dtype, matmul_bf16_weights(p).k, uniform_rows(p.in[0], 0, rank_of(p.in[0]) - 1));
}

struct Kernel {
  GemmBf16Plan plan;
  std::int64_t rows, cols, copied;   // of a block; bytes of a copy of the last tile
  DType a_type;
  Bf16Epilogue epilogue;
};

// Copies of all rows are made first, once for all blocks of columns; those of a last tile by whom it meets.
ir::Dim workspace(const Problem& p, const Config& c) {
  const ir::Dim rows = ir::product(std::span(p.in[0].dims).first(p.in[0].dims.size() - 1));
  if (rows_mode(p) == Bf16Matrix::Mode::in_place) return ir::Dim(0);
  return ceil_div(rows, kTile) * Bf16Matrix::copy_bytes(weights_of(p, c), Bf16Matrix::Mode::packed, kTile);
}
std::int64_t copy_bytes(const Problem& p) {
  return rows_mode(p) == Bf16Matrix::Mode::packed ? 0 : Bf16Matrix::copy_bytes(matmul_bf16_weights(p), Bf16Matrix::Mode::in_place, 0);
}
GemmBf16Plan plan_of(const Problem& p, const Config& c) {
  const GemmBf16B b = weights_of(p, c);
  const Bf16Epilogue epilogue(p, rank_of(p.out[0]) - 1);
  if (c[2] != 0) return {b, rows_mode(p), GemmBf16Plan::Loops::panels_inside, epilogue};
  return {b, rows_mode(p), GemmBf16Plan::Loops::panels_outside, epilogue, gemm_bf16_k_pieces(b, c[0])};
}
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  return copy_bytes(p) + plan_of(p, c).scratch_bytes(std::min(c[1], round_up(n_of(p), 32)), c[0]);
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  return std::make_shared<Kernel>(
      Kernel{plan_of(p, c), c[0], c[1], copy_bytes(p), p.in[0].dtype, Bf16Epilogue(p, rank_of(p.out[0]) - 1)});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const GemmBf16B& b = kernel.plan.matrix;
  const bool packed = kernel.plan.a == GemmBf16Plan::A::packed;
  const Bound &a = args.in[0], &y = args.out[0];
  std::int64_t m = 1;
  for (int i = 0; i + 1 < a.rank; ++i) m *= a.dims[i];
  if (m == 0 || b.n == 0) return Status::ok;
  const Bf16Matrix matrix(a.data, kernel.a_type, MatrixRows(a, 0, a.rank - 1), kernel.plan.a);
  Bf16Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::last(y.rank), y.rank > 1 ? MatrixRows(y, 0, y.rank - 1).stride() : 0, bound);
  const std::int64_t row_blocks = ceil_div(m, kernel.rows), pieces = ceil_div(b.panels() * 32, kernel.cols);
  char* const copies = static_cast<char*>(args.workspace);
  const std::int64_t tile_bytes = Bf16Matrix::copy_bytes(b, Bf16Matrix::Mode::packed, kTile);
  if (packed)
    args.parallel->for_each(ceil_div(m, kTile), [&](std::int64_t tile, int) noexcept {
      matrix.copy(b, tile * kTile, std::min(kTile, m - tile * kTile), copies + tile * tile_bytes);
    });
  args.parallel->for_each(row_blocks * pieces, [&](std::int64_t part, int worker) noexcept {
    char* const memory = args.scratch_of<char>(worker);
    const std::int64_t i = part / pieces, j = part % pieces, row = i * kernel.rows;
    const std::int64_t count = std::min(kernel.rows, m - row);
    const GemmBf16Rows rows = packed ? Bf16Matrix::copied(b, row, count, copies + row / kTile * tile_bytes)
                                     : matrix.rows(b, row, count, memory);
    gemm_bf16(kernel.plan, {rows, args.in[1].data, j * b.panels() / pieces, (j + 1) * b.panels() / pieces, kernel.epilogue, bound,
                            memory + kernel.copied});
  });
  return Status::ok;
}

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) { return input == 1 ? weights_of(p, c).bytes() : -1; }
void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  matmul_bf16_pack(weights_of(p, c), constants, packed);
}
Tensor unpack(const Problem& p, const Config& c, int, const void* packed) { return matmul_bf16_unpack(weights_of(p, c), packed); }

bool may_alias(const Problem& p, int in, int) { return Bf16Epilogue(p, rank_of(p.out[0]) - 1).in_place(in); }

}  // namespace

GemmBf16B matmul_bf16_weights(const Problem& p) {
  return {.taps = 1, .k = k_of(p), .n = n_of(p), .type = p.in[1].dtype, .terms = bf16_terms(p)};
}
void matmul_bf16_pack(const GemmBf16B& w, std::span<const Tensor* const> constants, void* packed) {
  pack_bf16(w, *constants[1], packed, [&](std::int64_t, std::int64_t k, std::int64_t n) { return k * w.n + n; });
}
Tensor matmul_bf16_unpack(const GemmBf16B& w, const void* packed) {
  return unpack_bf16(w, {w.k, w.n}, packed, [&](std::int64_t, std::int64_t k, std::int64_t n) { return k * w.n + n; });
}

Verdict matmul_amx_supported(const Problem& p) {
  const OperandDesc &a = p.in[0], &b = p.in[1], &y = p.out[0];
  if (!b.constant || b.dims.size() != 2 || !ir::is_constant(b.dims)) return Verdict::no("the right operand is not one constant matrix");
  if (a.dims.empty() || rank_of(a) > MatrixRows::kMaxAxes) return Verdict::no("the left operand has no rows");
  if (!unit_innermost(a) || !unit_innermost(y)) return Verdict::no("rows are not contiguous");
  if (a.dims.size() != y.dims.size() || !std::equal(a.dims.begin(), a.dims.end() - 1, y.dims.begin()) || y.dims.back() != b.dims[1])
    return Verdict::no("the epilogue broadcasts the output");
  if (!uniform_rows(y, 0, rank_of(y) - 1)) return Verdict::no("rows of the result do not lie at one distance");
  return Bf16Epilogue::supports(p, rank_of(y) - 1);
}

namespace {

template <Verdict (*kMay)(const Problem&)>
Verdict supports(const Problem& p) {
  const Verdict possible = kMay(p);
  return possible ? matmul_amx_supported(p) : possible;
}

}  // namespace

Tactic matmul_amx(const char* name, int version, int terms) {
  return packed_tactic({.name = name, .version = version, .ops = {"MatMul"}, .workspace = workspace,
                        .worker_scratch = worker_scratch, .may_alias = may_alias},
                       {terms == 1 ? supports<bf16_product> : supports<split_gemm>,
                        terms == 3 ? whole_configs : configs, valid, packed_bytes, pack, unpack, open, run,
                        constant_gemm_work});
}

}  // namespace tenfold::backends::cpu
