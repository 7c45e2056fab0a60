#include "backends/cpu/tactics/gemm/block_scaled_common.h"

namespace tenfold::backends::cpu {
namespace {

const BlockScaledKernels& kernels_of(std::int64_t isa) {
  return isa == kGemmAvx512 ? tenfold_block_scaled_avx512 : tenfold_block_scaled_avx2;
}

// A part of a run with few rows.
struct FewRows {
  const BlockScaledFew& few;
  const RunArgs& args;
  const Bound &a = args.in[0], &y = args.out[0];
  MatrixRows a_rows{a, 0, a.rank - 1};
  std::int64_t c_stride = y.rank > 1 ? MatrixRows(y, 0, y.rank - 1).stride() : 0;
  F32Epilogue::Binding bound;

  FewRows(const BlockScaledFew& opened, const RunArgs& arguments) noexcept : few(opened), args(arguments) {
    few.epilogue.bind(args, TileAxes::last(y.rank), bound);
  }

  // Rows [row, row + rows) of panels [first, last).
  void tile(std::int64_t row, int rows, std::int64_t first, std::int64_t last, void* scratch) const noexcept {
    constexpr std::int64_t kWidth = WeightsBlockScaled::kPanel;
    const float* table[BlockScaledKernels::kMaxRows];
    for (int r = 0; r < rows; ++r) table[r] = a.as<const float>() + a_rows.offset(row + r);
    float* const c = y.as<float>() + row * c_stride;
    GemmF32Tile t;
    t.rows = table, t.c_stride = c_stride;
    for (std::int64_t i = first; i < last; ++i) {
      t.c = c + i * kWidth, t.cols = std::min(kWidth, few.n - i * kWidth);
      GemmF32EpilogueArgs epilogue;
      if (bound.any) epilogue = bound.at(row, i * kWidth), t.epilogue = &epilogue;
      few.kernels->product[few.weights.bits()][few.zeros][rows - 1](few.panel(args, i), t);
    }
    if (few.epilogue.in_registers()) return;
    const std::int64_t column = first * kWidth, end = std::min(few.n, last * kWidth);
    few.epilogue.apply(bound, row, rows, column, end - column, c + column, c_stride, scratch);
  }
};

}  // namespace

WeightsBlockScaled block_scaled_weights(const Problem& p) {
  return {k_of(p), n_of(p), p.attributes->integer("block_size"), p.in[1].dtype};
}
bool block_scaled_zeros(const Problem& p) { return p.anchor_inputs > 3; }

Verdict supports_block_scaled(const Problem& p) {
  if (const Verdict rows = supports_rows_times_constant(p); !rows) return rows;
  for (int i = 2; i < p.anchor_inputs; ++i)
    if (!p.in[static_cast<std::size_t>(i)].constant) return Verdict::no("scales or zero points are not constant");
  const std::int64_t block = p.attributes->integer("block_size");
  return Verdict::only_if(block % 16 == 0 || block >= k_of(p), "blocks are no multiples of 16");
}

std::vector<Config> block_scaled_configs(const Problem& p) {
  const std::int64_t isa = best_gemm_isa(*p.device), panels = std::max<std::int64_t>(block_scaled_weights(p).panels(), 1);
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

Verdict block_scaled_valid(const Problem& p, const Config& c) {
  if (c[0] != kGemmAvx2 && c[0] != kGemmAvx512) return Verdict::no("it names no instruction set of this version");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  return Verdict::only_if(c[1] > 0 && c[1] < 1 << 30, "its block size is out of range");
}

std::int64_t block_scaled_bytes(const Problem& p, const Config&, int input) {
  const WeightsBlockScaled w = block_scaled_weights(p);
  if (input == 1) return w.word_bytes();
  if (input == 2) return w.scale_bytes();
  return input == 3 && block_scaled_zeros(p) ? w.zero_bytes() : -1;
}
void block_scaled_pack(const Problem& p, const Config&, int input, std::span<const Tensor* const> constants, void* packed) {
  const WeightsBlockScaled w = block_scaled_weights(p);
  const Tensor& values = *constants[static_cast<std::size_t>(input)];
  input == 1 ? w.pack(values, packed) : input == 2 ? w.pack_scales(values, packed) : w.pack_zeros(values, packed);
}
Tensor block_scaled_unpack(const Problem& p, const Config&, int input, const void* packed) {
  const WeightsBlockScaled w = block_scaled_weights(p);
  return input == 1 ? w.unpack(packed) : input == 2 ? w.unpack_scales(packed) : w.unpack_zeros(packed);
}

BlockScaledFew::BlockScaledFew(const Problem& p, const Config& c)
    : kernels(&kernels_of(c[0])), weights(block_scaled_weights(p)), zeros(block_scaled_zeros(p)), k(k_of(p)), n(n_of(p)),
      panels_of_part(c[1]), epilogue(p, rank_of(p.out[0]) - 1) {}

void BlockScaledFew::run(const RunArgs& args, std::int64_t m) const noexcept {
  const FewRows product(*this, args);
  const std::int64_t panels = weights.panels(), tiles = ceil_div(m, kernels->max_rows);
  args.parallel->for_each(ceil_div(panels, panels_of_part), [&](std::int64_t part, int worker) noexcept {
    const std::int64_t first = part * panels_of_part, last = std::min(first + panels_of_part, panels);
    for (std::int64_t i = 0; i < tiles; ++i)
      product.tile(i * m / tiles, static_cast<int>((i + 1) * m / tiles - i * m / tiles), first, last, args.scratch_of(worker));
  });
}

}  // namespace tenfold::backends::cpu
