#include "backends/cpu/tactics/gemm/block_scaled_common.h"

namespace tenfold::backends::cpu {
namespace {

const BlockScaledKernels& kernels_of(std::int64_t isa) {
  return isa == kGemmAvx512 ? tenfold_block_scaled_avx512 : tenfold_block_scaled_avx2;
}

std::int64_t block_of(const Problem& p) { return p.attributes->integer("block_size"); }
BlockScaledScales scales_of(const Problem& p, bool bytes) {
  const DType type = p.in[2].dtype;
  return type == DType::f8e8m0 ? kE8m0Scales : type == DType::f8e4m3fn ? kE4m3Scales : bytes ? kF24Scales : kF32Scales;
}
WeightsBlockScaled weights_of(const Problem& p, bool bytes) {
  return {k_of(p), n_of(p), block_of(p), p.in[1].dtype, scales_of(p, bytes), p.attributes->number("scale_factor", 1)};
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

  // Rows as bytes, behind the epilogue's scratch; false: some have values that are no ordinary numbers.
  bool split(const float* const* from, int rows, void* scratch, BlockScaledRow* to) const noexcept {
    char* memory = static_cast<char*>(scratch) + few.epilogue.scratch_bytes();
    for (int r = 0; r < rows; ++r, memory += few.row_bytes()) {
      auto* const parts = reinterpret_cast<std::int32_t*>(memory);
      auto* const scale = reinterpret_cast<float*>(memory + round_up(few.k, 16) * 2);
      to[r] = {parts, scale, reinterpret_cast<std::int32_t*>(scale) + few.weights.blocks()};
      if (!tenfold_block_scaled_bytes_vnni.split(from[r], few.k, few.block, to[r])) return false;
    }
    return true;
  }

  // Rows [row, row + rows) of panels [first, last).
  void tile(std::int64_t row, int rows, std::int64_t first, std::int64_t last, void* scratch) const noexcept {
    constexpr std::int64_t kWidth = WeightsBlockScaled::kPanel;
    const float* table[BlockScaledKernels::kMaxRows];
    for (int r = 0; r < rows; ++r) table[r] = a.as<const float>() + a_rows.offset(row + r);
    BlockScaledRow split_rows[BlockScaledBytesKernels::kMaxRows];
    const bool bytes = few.bytes && split(table, rows, scratch, split_rows);
    float* const c = y.as<float>() + row * c_stride;
    GemmF32Tile t;
    t.rows = table, t.c_stride = c_stride;
    for (std::int64_t i = first; i < last; ++i) {
      t.c = c + i * kWidth, t.cols = std::min(kWidth, few.n - i * kWidth);
      GemmF32EpilogueArgs epilogue;
      if (bound.any) epilogue = bound.at(row, i * kWidth), t.epilogue = &epilogue;
      if (bytes)
        tenfold_block_scaled_bytes_vnni.product[few.weights.bits()][few.values][rows - 1](few.panel(args, i), split_rows, t);
      else
        few.kernels->product[few.weights.bits()][few.values][rows - 1](few.panel(args, i), t);
    }
    if (few.epilogue.in_registers()) return;
    const std::int64_t column = first * kWidth, end = std::min(few.n, last * kWidth);
    few.epilogue.apply(bound, row, rows, column, end - column, c + column, c_stride, scratch);
  }
};

}  // namespace

bool block_scaled_zeros(const Problem& p) { return p.anchor_inputs > 3; }

Verdict supports_block_scaled(const Problem& p) {
  if (const Verdict rows = supports_rows_times_constant(p); !rows) return rows;
  for (int i = 2; i < p.anchor_inputs; ++i)
    if (!p.in[static_cast<std::size_t>(i)].constant) return Verdict::no("scales or zero points are not constant");
  if (p.in[1].dtype == DType::f4e2m1 && block_scaled_zeros(p)) return Verdict::no("floats have no zero points");
  return Verdict::only_if(block_of(p) % 16 == 0 || block_of(p) >= k_of(p), "blocks are no multiples of 16");
}
Verdict supports_block_scaled_bytes(const Problem& p) {
  if (const Verdict common = supports_block_scaled(p); !common) return common;
  if (!(p.device->features & kVnni)) return Verdict::no("this machine has no AVX512_VNNI");
  return Verdict::only_if(std::min(block_of(p), k_of(p)) <= BlockScaledBytesKernels::kMaxBlock, "sums over blocks this large overflow");
}

std::vector<Config> block_scaled_configs(const Problem& p, bool bytes) {
  const std::int64_t isa = best_gemm_isa(*p.device), panels = std::max<std::int64_t>(ceil_div(n_of(p), WeightsBlockScaled::kPanel), 1);
  std::vector<Config> all;
  // One part is for small products alone: tuned on a busy machine a large one would never be shared again.
  const bool small = likely_rows(p) * k_of(p) * n_of(p) < 1 << 20;
  for (const std::int64_t parts : {std::int64_t{small ? 1 : 4}, std::int64_t{2}, std::int64_t{16}}) {
    const Config c{isa, ceil_div(panels, parts), bytes};
    // Below some microseconds nothing is gained by handing values to another core.
    if (all.empty() || (c != all.back() && k_of(p) * n_of(p) >= parts * (1 << 15))) all.push_back(c);
  }
  return all;
}

Verdict block_scaled_valid(const Problem& p, const Config& c, bool bytes) {
  if (c[0] != kGemmAvx2 && c[0] != kGemmAvx512) return Verdict::no("it names no instruction set of this version");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  return Verdict::only_if(c[1] > 0 && c[1] < 1 << 30 && c[2] == static_cast<int>(bytes), "its block size is out of range");
}

std::int64_t block_scaled_bytes(const Problem& p, const Config& c, int input) {
  const WeightsBlockScaled w = weights_of(p, c[2] != 0);
  if (input == 1) return w.word_bytes();
  if (input == 2) return w.scale_bytes();
  return input == 3 && block_scaled_zeros(p) ? w.zero_bytes() : -1;
}
void block_scaled_pack(const Problem& p, const Config& c, int input, std::span<const Tensor* const> constants, void* packed) {
  const WeightsBlockScaled w = weights_of(p, c[2] != 0);
  const Tensor& values = *constants[static_cast<std::size_t>(input)];
  input == 1 ? w.pack(values, packed) : input == 2 ? w.pack_scales(values, packed) : w.pack_zeros(values, packed);
}
Tensor block_scaled_unpack(const Problem& p, const Config& c, int input, const void* packed) {
  const WeightsBlockScaled w = weights_of(p, c[2] != 0);
  return input == 1 ? w.unpack(packed) : input == 2 ? w.unpack_scales(packed) : w.unpack_zeros(packed);
}

BlockScaledFew::BlockScaledFew(const Problem& p, const Config& c)
    : kernels(&kernels_of(c[0])),
      weights(weights_of(p, c[2] != 0)),
      zeros(block_scaled_zeros(p)),
      bytes(c[2] != 0),
      values(weights.values(zeros)),
      k(k_of(p)),
      n(n_of(p)),
      block(block_of(p)),
      panels_of_part(c[1]),
      epilogue(p, rank_of(p.out[0]) - 1) {}

void BlockScaledFew::run(const RunArgs& args, std::int64_t m) const noexcept {
  const FewRows product(*this, args);
  const int max_rows = bytes ? std::min(kernels->max_rows, BlockScaledBytesKernels::kMaxRows) : kernels->max_rows;
  const std::int64_t panels = weights.panels(), tiles = ceil_div(m, max_rows);
  args.parallel->for_each(ceil_div(panels, panels_of_part), [&](std::int64_t part, int worker) noexcept {
    const std::int64_t first = part * panels_of_part, last = std::min(first + panels_of_part, panels);
    for (std::int64_t i = 0; i < tiles; ++i)
      product.tile(i * m / tiles, static_cast<int>((i + 1) * m / tiles - i * m / tiles), first, last, args.scratch_of(worker));
  });
}

}  // namespace tenfold::backends::cpu
