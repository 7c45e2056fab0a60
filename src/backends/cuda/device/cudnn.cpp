// cuDNN, opened at run time.
#include "backends/cuda/device/cudnn.h"

#include "backends/cuda/device/library.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

struct Loaded {
  Library library{{"libcudnn.so.9", "libcudnn.so"}};
  Cudnn table{};
  Loaded() {
    Cudnn& t = table;
    library.get(t.version, "cudnnGetVersion"), library.get(t.create, "cudnnCreate"), library.get(t.destroy, "cudnnDestroy");
    library.get(t.set_stream, "cudnnSetStream"), library.get(t.descriptor_create, "cudnnBackendCreateDescriptor");
    library.get(t.descriptor_destroy, "cudnnBackendDestroyDescriptor"), library.get(t.finalize, "cudnnBackendFinalize");
    library.get(t.set, "cudnnBackendSetAttribute"), library.get(t.get, "cudnnBackendGetAttribute"),
        library.get(t.execute, "cudnnBackendExecute");
  }
};
const Loaded& loaded() {
  static const Loaded& once = *new Loaded;   // as the driver
  return once;
}

}  // namespace

const Cudnn* cudnn() { return loaded().library.opened() ? &loaded().table : nullptr; }
const std::string& cudnn_why_not() { return loaded().library.why_not(); }

std::string Cudnn::version_text() const {
  const std::size_t v = version();  // 91400: 9.14.0
  return cat(v / 10000, ".", v / 100 % 100, ".", v % 100);
}

int dnn_type(DType dtype) {
  switch (dtype) {
    case DType::f32: return dnn::kF32;
    case DType::f16: return dnn::kF16;
    case DType::bf16: return dnn::kBf16;
    default: return -1;
  }
}

}  // namespace tenfold::backends::cuda
