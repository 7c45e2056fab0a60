// Transposing constant matrices.
#include "backends/cuda/tactics/pack_matrix_common.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/tactics/product_common.h"

namespace tenfold::backends::cuda {
namespace {

void transpose(const void* from, void* to, std::int64_t rows, std::int64_t columns, std::int64_t bytes) {
  const auto* source = static_cast<const char*>(from);
  auto* target = static_cast<char*>(to);
  constexpr std::int64_t kTile = 32;
  for (std::int64_t r0 = 0; r0 < rows; r0 += kTile)
    for (std::int64_t c0 = 0; c0 < columns; c0 += kTile)
      for (std::int64_t r = r0; r < std::min(r0 + kTile, rows); ++r)
        for (std::int64_t c = c0; c < std::min(c0 + kTile, columns); ++c)
          std::memcpy(target + (c * rows + r) * bytes, source + (r * columns + c) * bytes, static_cast<std::size_t>(bytes));
}

}  // namespace

std::int64_t packed_matrix_bytes(const Problem& p, const Config&, int input) {
  const OperandDesc& b = p.in[1];
  return input == 1 && b.constant && b.dims.size() == 2 ? packed_weight_bytes(p) : -1;
}
void pack_matrix(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  transpose(constants[1]->raw(), packed, p.in[1].dims[0].constant(), p.in[1].dims[1].constant(), bits(p.in[1].dtype) / 8);
  add_weight_sums(p, p.in[1].dims[1].constant(), packed);
}
Tensor unpack_matrix(const Problem& p, const Config&, int, const void* packed) {
  const std::int64_t k = p.in[1].dims[0].constant(), n = p.in[1].dims[1].constant();
  Tensor b(p.in[1].dtype, {k, n});
  transpose(packed, b.mutable_raw(), n, k, bits(b.dtype()) / 8);
  return b;
}

}  // namespace tenfold::backends::cuda
