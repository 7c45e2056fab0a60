// cuBLASLt, opened at run time.
#include "backends/cuda/device/cublas_lt.h"

#include "backends/cuda/device/library.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

struct Loaded {
  Library library{{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}};
  CublasLt table{};
  Loaded() {
    CublasLt& t = table;
    library.get(t.create, "cublasLtCreate"), library.get(t.destroy, "cublasLtDestroy"), library.get(t.version, "cublasLtGetVersion");
    library.get(t.product_create, "cublasLtMatmulDescCreate"), library.get(t.product_set, "cublasLtMatmulDescSetAttribute");
    library.get(t.product_destroy, "cublasLtMatmulDescDestroy"), library.get(t.matrix_create, "cublasLtMatrixLayoutCreate");
    library.get(t.matrix_set, "cublasLtMatrixLayoutSetAttribute"), library.get(t.matrix_destroy, "cublasLtMatrixLayoutDestroy");
    library.get(t.preference_create, "cublasLtMatmulPreferenceCreate"),
        library.get(t.preference_set, "cublasLtMatmulPreferenceSetAttribute");
    library.get(t.preference_destroy, "cublasLtMatmulPreferenceDestroy"), library.get(t.heuristic, "cublasLtMatmulAlgoGetHeuristic");
    library.get(t.multiply, "cublasLtMatmul");
  }
};
const Loaded& loaded() {
  static const Loaded& once = *new Loaded;   // as the driver
  return once;
}

}  // namespace

const CublasLt* cublas_lt() { return loaded().library.opened() ? &loaded().table : nullptr; }
const std::string& cublas_lt_why_not() { return loaded().library.why_not(); }

std::string CublasLt::version_text() const {
  const std::size_t v = version();  // 130100: 13.1.0
  return cat(v / 10000, ".", v / 100 % 100, ".", v % 100);
}

int cuda_type(DType dtype) {
  switch (dtype) {
    case DType::f32: return 0;
    case DType::f64: return 1;
    case DType::f16: return 2;
    case DType::bf16: return 14;
    case DType::i8: return 3;
    case DType::i32: return 10;
    case DType::f8e4m3fn: return 28;
    case DType::f8e5m2: return 29;
    default: return -1;
  }
}

}  // namespace tenfold::backends::cuda
