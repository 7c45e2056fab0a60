// matmul_gemv_s16: few rows times a constant matrix in fixed point of 16 bits: such a product is bound by reading the weights. A weight is
// off by at most 2^-16 of the largest one of its column, both beside the mean square of their row of k.
#include "backends/cpu/kernels/gemm/gemv_s16.h"
#include "backends/cpu/tactics/gemm/matmul_fixed_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMaxRows = GemvS16Kernels::kMaxRows;   // more read 24 bits, for they are bound by arithmetic
constexpr std::int64_t kGroup = FixedWeights::kGroup;

const GemvS16Kernels& kernels() { return tenfold_gemv_s16_vnni; }
FixedWeights weights_of(const Problem& p) { return {k_of(p), n_of(p), FixedWeights::Order::pairs}; }

Verdict supports(const Problem& p) {
  if (const Verdict common = supports_constant_gemm(p); !common) return common;
  if (!(p.device->features & kVnni)) return Verdict::no("this machine has no AVX512_VNNI");
  return Verdict::only_if(likely_rows(p) <= kMaxRows, "too many rows to be bound by reading weights");
}

// {groups of 128 columns of a part}
std::vector<Config> configs(const Problem& p) {
  const std::int64_t groups = std::max<std::int64_t>(ceil_div(n_of(p), kGroup), 1), size = k_of(p) * n_of(p);
  std::vector<Config> all;
  // One part is for small products alone: tuned on a busy machine a large one would never be shared again.
  const bool small = likely_rows(p) * size < 1 << 20;
  for (const std::int64_t parts : {std::int64_t{small ? 1 : 2}, std::int64_t{2}, std::int64_t{4}, std::int64_t{16}}) {
    const Config c{ceil_div(groups, parts)};
    // Below some microseconds nothing is gained by handing values to another core.
    if (all.empty() || (c != all.back() && size >= parts * (1 << 15))) all.push_back(c);
  }
  return all;
}

Verdict valid(const Problem&, const Config& c) {
  if (c.size() != 1) return Verdict::no("its configuration has another length");
  return Verdict::only_if(c[0] > 0 && c[0] < 1 << 24, "its block size is out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config&, int input) { return fixed_packed_bytes(weights_of(p), input); }
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  weights_of(p).pack(constants[1]->data<float>(), packed);
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) { return fixed_unpack(weights_of(p), p, packed); }

struct Kernel {
  FixedWeights weights;
  std::int64_t k, n, groups_of_part;
  F32Epilogue epilogue;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  return std::make_shared<Kernel>(Kernel{weights_of(p), k_of(p), n_of(p), c[0], F32Epilogue(p, rank_of(p.out[0]) - 1)});
}

// Of a worker: the parts of a tile's rows, then what the epilogue needs.
std::int64_t split_bytes(const FixedWeights& w) { return round_up(GemvS16Kernels::kMaxRows * w.depth() * 4, 64); }
ir::Dim worker_scratch(const Problem& p, const Config&) {
  return split_bytes(weights_of(p)) + F32Epilogue(p, rank_of(p.out[0]) - 1).scratch_bytes();
}

// Columns [first, last) of a few rows.
void tile(const Kernel& kernel, const FixedRowsGemm& product, std::int64_t row, int rows, std::int64_t first, std::int64_t last,
          char* scratch) noexcept {
  const FixedWeights& w = kernel.weights;
  auto* const parts = reinterpret_cast<std::int32_t*>(scratch);
  void* const rest = scratch + split_bytes(w);
  float scale[GemvS16Kernels::kMaxRows];
  bool fits = product.ordinary();
  for (int r = 0; r < rows && fits; ++r)
    fits = kernels().split(product.row(row + r), w.balance(product.packed), kernel.k, parts + r * w.depth(), scale + r);
  if (!fits && rows > 1 && product.ordinary()) {   // one row must not slow the others down
    for (int r = 0; r < rows; ++r) tile(kernel, product, row + r, 1, first, last, scratch);
    return;
  }
  if (!fits) return product.whole(row, rows, first, last, rest);
  GemvS16Tile g{.rows = parts, .row_scale = scale, .pairs = w.depth() / 2, .used = used_pairs(w.k())};
  const std::int64_t width = kernels().panels[rows - 1] * 16;
  for (std::int64_t column = first; column < last; column += width) {
    const std::int64_t columns = std::min(width, last - column), group = column / kGroup;
    g.pair_step = w.group_panels(group) * 32;
    g.weights = reinterpret_cast<const std::int16_t*>(w.columns(product.packed, group * kGroup)) + column % kGroup * 2;
    g.step = w.step(product.packed) + column;
    GemmF32EpilogueArgs epilogue;
    kernels().product[rows - 1][(columns - 1) / 16](g, product.tile(row, column, columns, epilogue));
  }
  product.apply_epilogue(row, rows, first, last, rest);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const FixedRowsGemm product(kernel.weights, kernel.epilogue, args);
  const std::int64_t m = product.rows();
  if (m == 0 || kernel.n == 0) return Status::ok;
  const std::int64_t tiles = ceil_div(m, GemvS16Kernels::kMaxRows), width = kernel.groups_of_part * kGroup;
  args.parallel->for_each(ceil_div(kernel.n, width), [&](std::int64_t part, int worker) noexcept {
    const std::int64_t first = part * width, last = std::min(kernel.n, first + width);
    for (std::int64_t i = 0; i < tiles; ++i) {
      const std::int64_t row = i * m / tiles;
      tile(kernel, product, row, static_cast<int>((i + 1) * m / tiles - row), first, last, args.scratch_of<char>(worker));
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_matmul_gemv_s16() {
  return packed_tactic({.name = "matmul_gemv_s16", .version = 2, .ops = {"MatMul"}, .rounds_f32 = true,
                        .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, constant_gemm_work});
}

}  // namespace tenfold::backends
