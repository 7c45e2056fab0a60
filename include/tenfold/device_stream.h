// DeviceStream: a stream of a GPU for programs that have no CUDA runtime of their own.
#pragma once

#include <memory>
#include <string>

#include "tenfold/export.h"

namespace tenfold {

class Runtime;                         // tenfold/runtime.h

// A CUstream, in no order with the default stream, for ExecutionContext::enqueue() and everybody else's calls. Copies are one stream, which
// ends with the last of them, once its work is done. Thread safe.
class TENFOLD_API DeviceStream {
 public:
  // `device`: "cuda", "cuda:1". Throws unsupported on a CPU, which has no streams; device. `runtime` null: the process's own.
  explicit DeviceStream(const std::string& device, const std::shared_ptr<Runtime>& runtime = nullptr);
  void* handle() const noexcept { return stream_.get(); }

 private:
  std::shared_ptr<void> stream_;
};

// Waits until all that this or anybody's stream of the GPU was given is done (null: the default stream). Throws device, with the driver's
// words for what went wrong there; unsupported on a CPU.
TENFOLD_API void synchronize_stream(const std::string& device, void* stream, const std::shared_ptr<Runtime>& runtime = nullptr);

}  // namespace tenfold
