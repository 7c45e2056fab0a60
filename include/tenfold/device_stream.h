// DeviceStream: a stream of a GPU for programs that have no CUDA runtime of their own.
#pragma once

#include <memory>
#include <string>

#include "tenfold/export.h"

namespace tenfold {

class Runtime;                         // tenfold/runtime.h

// A CUstream for ExecutionContext::enqueue() and for any other call that takes one. It has no order with the default
// stream. Copies of a DeviceStream are one stream, which ends with the last of them, once its work is done. Thread
// safe.
class TENFOLD_API DeviceStream {
 public:
  // `device` is "cuda" or "cuda:1". A null `runtime` is the process's own. Throws unsupported for a CPU, which has no
  // streams, and device.
  explicit DeviceStream(const std::string& device, const std::shared_ptr<Runtime>& runtime = nullptr);
  void* handle() const noexcept { return stream_.get(); }

 private:
  std::shared_ptr<void> stream_;
};

// Waits until all work on a stream of the GPU is done. `stream` is the handle of a DeviceStream or any other CUstream;
// null is the default stream. Throws device, with the driver's words for what went wrong there, and unsupported for a
// CPU.
TENFOLD_API void synchronize_stream(const std::string& device, void* stream, const std::shared_ptr<Runtime>& runtime = nullptr);

}  // namespace tenfold
