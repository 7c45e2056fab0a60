// Transposing constant matrices.
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"

#include <algorithm>

#include "backends/cuda/tactics/gemm/gemm_common.h"
#include "base/check.h"
#include "base/threads/spread.h"

namespace tenfold::backends::cuda {
namespace {

template <class Element>
void transpose_as(const void* from, void* to, std::int64_t rows, std::int64_t columns) {
  const auto* source = static_cast<const Element*>(from);
  auto* target = static_cast<Element*>(to);
  constexpr std::int64_t kTile = 32;
  spread_stretches(columns, kTile, rows * columns * static_cast<std::int64_t>(sizeof(Element)), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c0 = begin; c0 < end; c0 += kTile)
      for (std::int64_t r0 = 0; r0 < rows; r0 += kTile)
        for (std::int64_t c = c0; c < std::min(c0 + kTile, end); ++c)
          for (std::int64_t r = r0; r < std::min(r0 + kTile, rows); ++r) target[c * rows + r] = source[r * columns + c];
  });
}

void transpose(const void* from, void* to, std::int64_t rows, std::int64_t columns, std::int64_t bytes) {
  if (bytes == 1) return transpose_as<std::uint8_t>(from, to, rows, columns);
  if (bytes == 2) return transpose_as<std::uint16_t>(from, to, rows, columns);
  check(bytes == 4, "a matrix of ", bytes, " bytes an element is to be packed");
  transpose_as<std::uint32_t>(from, to, rows, columns);
}

}  // namespace

std::int64_t packed_matrix_bytes(const Problem& p, const Config&, int input) {
  const OperandDesc& b = p.in[1];
  return input == 1 && b.constant && b.dims.size() == 2 ? packed_weight_bytes(p) : -1;
}
void pack_one(const OperandDesc& matrix, const void* from, void* packed) {
  transpose(from, packed, matrix.dims[0].constant(), matrix.dims[1].constant(), bits(matrix.dtype) / 8);
}
Tensor unpack_one(const OperandDesc& matrix, const void* packed) {
  const std::int64_t k = matrix.dims[0].constant(), n = matrix.dims[1].constant();
  Tensor b(matrix.dtype, {k, n});
  transpose(packed, b.mutable_raw(), n, k, bits(b.dtype()) / 8);
  return b;
}

void pack_matrix(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  pack_one(p.in[1], constants[1]->raw(), packed);
  add_weight_sums(p, p.in[1].dims[1].constant(), packed);
}
Tensor unpack_matrix(const Problem& p, const Config&, int, const void* packed) { return unpack_one(p.in[1], packed); }

}  // namespace tenfold::backends::cuda
