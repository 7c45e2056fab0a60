// Inverse: inverses of the matrices in the last two dims.
#include <cmath>
#include <vector>

#include "base/types/element.h"
#include "ir/fault.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims& dims = call.dims(0);
  call.check_shape(dims.size() >= 2, "rank ", dims.size(), ", matrices have 2 dims or more");
  const Dim rows = dims[dims.size() - 2], columns = dims.back();
  call.check_shape(!rows.is_constant() || !columns.is_constant() || rows == columns, "matrices of ", rows.text(), " x ", columns.text(),
                   ", square ones expected");
  call.out(0, call.dtype(0), dims);
}

// Rows of [m | 1], of 2n elements, become [1 | inverse]: Gauss and Jordan, with the largest element of each column as its pivot.
bool invert(std::vector<double>& m, std::size_t n) {
  const std::size_t width = 2 * n;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(m[r * width + c]) > std::abs(m[pivot * width + c])) pivot = r;
    const double largest = m[pivot * width + c];
    if (largest == 0) return false;
    for (std::size_t k = 0; k < width; ++k) {
      std::swap(m[c * width + k], m[pivot * width + k]);
      m[c * width + k] /= largest;
    }
    for (std::size_t r = 0; r < n; ++r) {
      const double factor = m[r * width + c];
      if (r == c || factor == 0) continue;
      for (std::size_t k = 0; k < width; ++k) m[r * width + k] -= factor * m[c * width + k];
    }
  }
  return true;
}

void reference(Call& call) {
  const TensorRef &in = call.in[0], &out = call.out[0];
  const std::int64_t n = in.shape.back(), elements = n * n;
  call.check_shape(in.shape[in.shape.size() - 2] == n, "matrices of ", in.shape[in.shape.size() - 2], " x ", n, ", square ones expected");
  std::vector<double> both(static_cast<std::size_t>(2 * elements));
  for (std::int64_t first = 0; first < in.size(); first += elements) {
    for (std::int64_t e = 0; e < elements; ++e) {
      const auto at = static_cast<std::size_t>(e / n * 2 * n + e % n);
      both[at] = load_double(in.dtype, in.data, first + e), both[at + static_cast<std::size_t>(n)] = e / n == e % n;
    }
    call.check_shape(invert(both, static_cast<std::size_t>(n)), "matrix ", first / elements, " has no inverse");
    for (std::int64_t e = 0; e < elements; ++e)
      store_double(out.dtype, out.data, first + e, both[static_cast<std::size_t>(e / n * 2 * n + n + e % n)]);
  }
}

}  // namespace

OpDef op_inverse() {
  return {.name = "Inverse",
          .types = "T -> T; T: real",
          .infer = infer,
          .reference = reference,
          .onnx_since = 1,
          .onnx_domain = "com.microsoft",
          .cases = {"f32[2,3,3]", "f32[2,2]{1,2,3,5}", "f32[1,3,3]{0,1,2,0,3,4,5,0,0}", "f64[2,2]{2,0,0,4}", "f32[0,2,2]", "f16[1,1]{2}"},
          .on_host = "elimination goes one column after the other"};
}

}  // namespace tenfold::ir
