#include "backends/cpu/tactics/matmul_fixed_common.h"

namespace tenfold::backends::cpu {

FixedProduct::FixedProduct(const FixedWeights& w, const F32End& end, const RunArgs& args) noexcept
    : weights(w), packed(args.in[1].data), end_(end), a_(args.in[0].as<const float>()), a_rows_(args.in[0], 0, args.in[0].rank - 1),
      c_(args.out[0].as<float>()), ordinary_(w.ordinary(args.in[1].data)) {
  const Bound &a = args.in[0], &y = args.out[0];
  for (int i = 0; i + 1 < a.rank; ++i) rows_ *= a.dims[i];
  if (y.rank > 1) c_stride_ = MatrixRows(y, 0, y.rank - 1).stride();
  end_.bind(args, TileAxes::last(y.rank), bound_);
}

void FixedProduct::whole(std::int64_t row, std::int64_t count, std::int64_t first, std::int64_t last, void* scratch) const noexcept {
  const GemmF32Kernels& kernels = gemm_f32_kernels(kGemmAvx512);
  const GemmF32Weights& w = weights.originals();
  const float* table[kGemmMostRows];
  for (std::int64_t end = row + count; row < end; row += count) {
    count = std::min<std::int64_t>(kernels.max_rows, end - row);
    for (std::int64_t r = 0; r < count; ++r) table[r] = this->row(row + r);
    GemmF32Block block;
    block.table = table, block.row = row, block.rows = count;
    block.first_panel = first / w.panel, block.last_panel = ceil_div(last, w.panel);
    block.c = c_, block.c_stride = c_stride_;
    gemm_f32_block(kernels, w, weights.originals(packed), block, end_, bound_, scratch);
  }
}

GemmF32Tile FixedProduct::tile(std::int64_t row, std::int64_t column, std::int64_t columns, GemmF32Finish& finish) const noexcept {
  GemmF32Tile t;
  t.c = c_ + row * c_stride_ + column, t.c_stride = c_stride_, t.cols = columns;
  if (bound_.any) finish = bound_.at(row, column), t.finish = &finish;
  return t;
}

void FixedProduct::end(std::int64_t row, std::int64_t count, std::int64_t first, std::int64_t last, void* scratch) const noexcept {
  if (!end_.in_registers())
    end_.apply(bound_, row, count, first, last - first, c_ + row * c_stride_ + first, c_stride_, scratch);
}

std::int64_t fixed_packed_bytes(const FixedWeights& w, int input) { return input == 1 ? w.bytes() : -1; }

Tensor fixed_unpack(const FixedWeights& w, const Problem& p, const void* packed) {
  Tensor b(DType::f32, {k_of(p), n_of(p)});
  w.unpack(packed, b.mutable_data<float>());
  return b;
}

}  // namespace tenfold::backends::cpu
