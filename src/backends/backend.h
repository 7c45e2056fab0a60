// Backend: what the tuner and the runtime need of a kind of device, each part behind an interface of its own, so that who is given a
// part touches no other. `null`, `cpu` and `cuda` stand behind it; nothing above knows which one runs. To write a new one, copy null/ and
// pass conformance_test.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/code_store.h"
#include "backends/device_memory.h"
#include "backends/kernel_timing.h"
#include "backends/stream.h"
#include "backends/tactic.h"

namespace tenfold { class DeviceAllocator; class Pools; }
namespace tenfold::backends::cuda { class Gpus; }

namespace tenfold::backends {

// Thread safe; the parts live as long as it does.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;                     // "cpu", "cuda", "null"
  virtual const DeviceInfo& info() const = 0;
  virtual const std::vector<Tactic>& tactics() const = 0;        // sorted by name
  // Optional kernel libraries: "oneDNN 2.6.3", or why there is none.
  virtual std::vector<std::string> libraries() const { return {}; }
  virtual DeviceMemory& memory() = 0;
  virtual std::unique_ptr<Stream> open_stream(const StreamOptions& options) = 0;
  virtual KernelTiming& timing() = 0;
  virtual CodeStore* code() { return nullptr; }                  // null: opening tactics compiles nothing
};

// What the backends of one runtime share; what is null each has of its own.
struct Resources {
  std::shared_ptr<Pools> pools;       // where streams of a CPU take their workers
  std::shared_ptr<cuda::Gpus> gpus;   // open GPUs, their memory, and the kernels that were compiled for them
  std::shared_ptr<DeviceAllocator> allocator;   // where device memory comes from; null: the system, the driver
};
// "cpu", "cuda:0", "null"; throws unsupported naming what exists. `features` restricts a CPU to fewer features (0: all it has).
std::shared_ptr<Backend> open_backend(std::string_view name, std::uint32_t features = 0, const Resources& shared = {});

}  // namespace tenfold::backends
