// Det: determinants of the matrices in the last two dims.
#include <cmath>
#include <vector>

#include "base/types/element.h"
#include "ir/fault.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  Dims dims = call.dims(0);
  call.check_shape(dims.size() >= 2, "rank ", dims.size(), ", matrices have 2 dims or more");
  const Dim rows = dims[dims.size() - 2], columns = dims.back();
  call.check_shape(!rows.is_constant() || !columns.is_constant() || rows == columns, "matrices of ", rows.text(), " x ", columns.text(),
                   ", square ones expected");
  dims.resize(dims.size() - 2);
  call.out(0, call.dtype(0), std::move(dims));
}

// The product of the pivots of an elimination with the largest element of each column as its pivot.
double determinant(std::vector<double>& m, std::size_t n) {
  double product = 1;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(m[r * n + c]) > std::abs(m[pivot * n + c])) pivot = r;
    if (pivot != c) {
      for (std::size_t k = c; k < n; ++k) std::swap(m[c * n + k], m[pivot * n + k]);
      product = -product;
    }
    const double at = m[c * n + c];
    product *= at;
    if (at == 0 || std::isnan(at)) return product;
    for (std::size_t r = c + 1; r < n; ++r) {
      const double factor = m[r * n + c] / at;
      for (std::size_t k = c + 1; k < n; ++k) m[r * n + k] -= factor * m[c * n + k];
    }
  }
  return product;
}

void reference(Call& call) {
  const TensorRef &in = call.in[0], &out = call.out[0];
  const std::int64_t n = in.shape.back(), elements = n * n;
  call.check_shape(in.shape[in.shape.size() - 2] == n, "matrices of ", in.shape[in.shape.size() - 2], " x ", n, ", square ones expected");
  std::vector<double> matrix(static_cast<std::size_t>(elements));
  for (std::int64_t i = 0; i < out.size(); ++i) {
    for (std::int64_t e = 0; e < elements; ++e) matrix[static_cast<std::size_t>(e)] = load_double(in.dtype, in.data, i * elements + e);
    store_double(out.dtype, out.data, i, determinant(matrix, static_cast<std::size_t>(n)));
  }
}

}  // namespace

OpDef op_det() {
  return {.name = "Det",
          .types = "T -> T; T: real",
          .infer = infer,
          .reference = reference,
          .onnx_since = 11,
          .cases = {"f32[2,2]", "f32[3,4,4]", "f64[2,3,5,5]", "f16[4,2,2]", "f32[2,0,0]", "f32[0,3,3]", "f32[1,1]",
                    "f32[3,3]{0,1,2,0,0,3,4,0,0}"},
          .on_host = "elimination goes one column after the other"};
}

}  // namespace tenfold::ir
