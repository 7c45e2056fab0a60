#include "backends/cpu/tactics/gemm/matmul_fixed_common.h"

#include "backends/cpu/gemm/weights/decode_loops.h"

namespace tenfold::backends::cpu {

FixedRowsGemm::FixedRowsGemm(const FixedWeights& w, const F32Epilogue& epilogue, const RunArgs& args) noexcept
    : weights(w),
      packed(args.in[1].data),
      epilogue_(epilogue),
      a_(args.in[0].as<const float>()),
      a_rows_(args.in[0], 0, args.in[0].rank - 1),
      c_(args.out[0].as<float>()),
      ordinary_(w.ordinary(args.in[1].data)) {
  const Bound &a = args.in[0], &y = args.out[0];
  for (int i = 0; i + 1 < a.rank; ++i) rows_ *= a.dims[i];
  if (y.rank > 1) c_stride_ = MatrixRows(y, 0, y.rank - 1).stride();
  epilogue_.bind(args, TileAxes::last(y.rank), bound_);
}

void FixedRowsGemm::whole(std::int64_t row, std::int64_t count, std::int64_t first, std::int64_t last, void* scratch) const noexcept {
  constexpr std::int64_t kRows = DecodeLoops::kMaxRows, kColumns = FixedWeights::kPanel;
  static_assert(kRows <= kGemmMaxRows);
  double sums[kRows * kColumns];
  const float* table[kRows];
  for (std::int64_t begin = row; begin < row + count; begin += kRows) {
    const std::int64_t rows = std::min(kRows, row + count - begin);
    for (std::int64_t r = 0; r < rows; ++r) table[r] = this->row(begin + r);
    for (std::int64_t column = first; column < last; column += kColumns) {
      std::fill_n(sums, rows * kColumns, 0.0);
      add_decoded(weights, packed, column, table, rows, sums);
      store(begin, rows, column, std::min(kColumns, last - column), sums);
    }
  }
  apply_epilogue(row, count, first, last, scratch);
}

// The epilogue in registers is that of a product that adds nothing to these sums.
void FixedRowsGemm::store(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                         const double* sums) const noexcept {
  const float* table[kGemmMaxRows];
  GemmF32EpilogueArgs epilogue;
  GemmF32Tile t = tile(row, column, columns, epilogue);
  for (std::int64_t r = 0; r < rows; ++r) {
    table[r] = this->row(row + r);
    for (std::int64_t c = 0; c < columns; ++c) t.c[r * c_stride_ + c] = static_cast<float>(sums[r * FixedWeights::kPanel + c]);
  }
  if (!t.epilogue) return;
  t.rows = table, t.panel = weights.step(packed), t.accumulate = true;
  gemm_f32_kernels(kGemmAvx512).tile[rows - 1](t);
}

GemmF32Tile FixedRowsGemm::tile(std::int64_t row, std::int64_t column, std::int64_t columns, GemmF32EpilogueArgs& epilogue) const noexcept {
  GemmF32Tile t;
  t.c = c_ + row * c_stride_ + column, t.c_stride = c_stride_, t.cols = columns;
  if (bound_.any) epilogue = bound_.at(row, column), t.epilogue = &epilogue;
  return t;
}

void FixedRowsGemm::apply_epilogue(std::int64_t row, std::int64_t count, std::int64_t first, std::int64_t last,
                                  void* scratch) const noexcept {
  if (!epilogue_.in_registers())
    epilogue_.apply(bound_, row, count, first, last - first, c_ + row * c_stride_ + first, c_stride_, scratch);
}

std::int64_t fixed_packed_bytes(const FixedWeights& w, int input) { return input == 1 ? w.bytes() : -1; }

Tensor fixed_unpack(const FixedWeights& w, const Problem& p, const void* packed) {
  Tensor b(DType::f32, {k_of(p), n_of(p)});
  w.unpack(packed, b.mutable_data<float>());
  return b;
}

}  // namespace tenfold::backends::cpu
