// matmul_amx_bf16: activations times a constant matrix in bf16 with f32 sums, where bf16 is permitted.
#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/gemm/matrix_rows.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

int rank_of(const OperandDesc& o) { return static_cast<int>(o.dims.size()); }

Verdict supports(const Problem& p) {
  const OperandDesc &a = p.in[0], &b = p.in[1], &y = p.out[0];
  if (const Verdict permitted = bf16_permitted(p); !permitted) return permitted;
  if (a.dtype != DType::f32 || b.dtype != DType::f32) return Verdict::no("operands are not f32");
  if (!b.constant || b.dims.size() != 2 || !ir::is_constant(b.dims)) return Verdict::no("the right operand is not one constant matrix");
  if (a.dims.empty() || rank_of(a) > MatrixRows::kMaxAxes) return Verdict::no("the left operand has no rows");
  if (!unit_innermost(a) || !unit_innermost(y)) return Verdict::no("rows are not contiguous");
  if (a.dims.size() != y.dims.size() || !std::equal(a.dims.begin(), a.dims.end() - 1, y.dims.begin()) || y.dims.back() != b.dims[1])
    return Verdict::no("the epilogue enlarges the result");
  if (!uniform_rows(y, 0, rank_of(y) - 1)) return Verdict::no("rows of the result do not lie at one distance");
  return F32End::supports(p, rank_of(y) - 1);
}

GemmBf16Weights weights_of(const Problem& p) { return {.taps = 1, .k = p.in[1].dims[0].constant(), .n = p.in[1].dims[1].constant()}; }

std::int64_t likely_rows(const Problem& p) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < p.in[0].dims.size(); ++i) rows = std::min<std::int64_t>(rows * likely(p, p.in[0].dims[i], 128), 1 << 20);
  return rows;
}

// {rows of a block, columns of a block, lanes}
std::vector<Config> configs(const Problem& p) {
  const std::int64_t rows = std::max<std::int64_t>(likely_rows(p), 1), n = std::max<std::int64_t>(weights_of(p).n, 1);
  std::vector<Config> all;
  for (const std::int64_t most : {256, 128, 64}) {
    for (const std::int64_t pieces : {4, 1, 8}) {
      const std::int64_t blocks = ceil_div(rows, most);
      const Config c{std::min<std::int64_t>(round_up(ceil_div(rows, blocks), 32), most), round_up(ceil_div(n, pieces), 32), 8};
      if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
    }
  }
  return all;
}

Verdict valid(const Problem&, const Config& c) {
  if (c.size() != 3) return Verdict::no("its configuration has another length");
  return Verdict::only_if(c[0] > 0 && c[0] <= kRowTable && c[1] > 0 && c[1] < 1 << 30 && c[2] > 0 && c[2] <= 64,
                          "its block sizes are out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config&, int input) { return input == 1 ? weights_of(p).bytes() : -1; }
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  const GemmBf16Weights w = weights_of(p);
  pack_bf16(w, *constants[1], packed, [&](std::int64_t, std::int64_t k, std::int64_t n) { return k * w.n + n; });
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  const GemmBf16Weights w = weights_of(p);
  return unpack_bf16(w, {w.k, w.n}, packed);
}

struct Kernel {
  GemmBf16Weights weights;
  std::int64_t rows, cols, lanes;
  F32End end;
};

ir::Dim worker_scratch(const Problem& p, const Config& c) {
  return GemmBf16Rows(weights_of(p), c[0]).bytes + round_up(F32End(p, rank_of(p.out[0]) - 1).scratch_bytes(), 64);
}

std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  return std::make_shared<Kernel>(Kernel{weights_of(p), c[0], c[1], c[2], F32End(p, rank_of(p.out[0]) - 1)});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const GemmBf16Weights& w = kernel.weights;
  const Bound &a = args.in[0], &y = args.out[0];
  std::int64_t m = 1;
  for (int i = 0; i + 1 < a.rank; ++i) m *= a.dims[i];
  if (m == 0 || w.n == 0) return Status::ok;
  const MatrixRows a_rows(a, 0, a.rank - 1);
  F32End::Binding bound;
  kernel.end.bind(args, TileAxes::last(y.rank), bound);
  const std::int64_t row_blocks = ceil_div(m, kernel.rows), pieces = ceil_div(w.panels() * 32, std::max<std::int64_t>(kernel.cols, 32));
  const std::int64_t parts = row_blocks * pieces, c_stride = y.rank > 1 ? MatrixRows(y, 0, y.rank - 1).stride() : 0;
  args.parallel->for_each(std::min(kernel.lanes, parts), [&](std::int64_t lane, int worker) noexcept {
    char* const memory = args.scratch_of<char>(worker);
    const float* table[kRowTable];
    for (std::int64_t part = lane; part < parts; part += kernel.lanes) {
      const std::int64_t i = part / pieces, j = part % pieces, row = i * m / row_blocks;
      const GemmBf16Block block{.table = table,
                                .rows = (i + 1) * m / row_blocks - row,
                                .row = row,
                                .first_panel = j * w.panels() / pieces,
                                .last_panel = (j + 1) * w.panels() / pieces,
                                .c = y.as<float>(),
                                .c_stride = c_stride};
      for (std::int64_t r = 0; r < block.rows; ++r) table[r] = a.as<const float>() + a_rows.offset(row + r);
      gemm_bf16_block(w, args.in[1].data, block, reinterpret_cast<std::uint16_t*>(memory), kernel.end, bound,
                      memory + GemmBf16Rows(w, kernel.rows).bytes);
    }
  });
  return Status::ok;
}

double work(const Problem& p) {
  const GemmBf16Weights w = weights_of(p);
  return 2.0 * static_cast<double>(likely_rows(p)) * static_cast<double>(w.k) * static_cast<double>(w.n);
}

}  // namespace

Tactic cpu_matmul_amx_bf16() {
  return {.name = "matmul_amx_bf16",
          .op = "MatMul",
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .worker_scratch = worker_scratch,
          .packed_bytes = packed_bytes,
          .pack = pack,
          .unpack = unpack,
          .open = open,
          .run = run,
          .work = work};
}

}  // namespace tenfold::backends
