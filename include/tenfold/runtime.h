// Runtime: what several engines of a process have in common. A process may have several, for parts that are to stay apart.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tenfold/device_allocator.h"
#include "tenfold/export.h"
#include "tenfold/log.h"

namespace tenfold {

struct RuntimeOptions {
  int threads = 0;     // processors that all its engines share among their workers; 0: from affinity mask and cgroup quota
  LogCallback log;     // of engines and builds that have none of their own
  std::int64_t gpu_memory_limit = 0;    // bytes of each GPU that its engines use at once, beyond which they get out_of_memory; 0: none
  std::int64_t gpu_memory_kept = 0;     // bytes of freed memory of each GPU that stay for what comes; 0: all of it; below 0: none
  // Gives the device memory of all its engines and builds, on CPUs too; null: the driver and the system do. The limit above and the counts
  // below do not know of it. Kept alive by the runtime and by what still has memory of it.
  std::shared_ptr<DeviceAllocator> allocator = {};
};

// What a runtime holds now.
struct RuntimeUse {
  int engines = 0;
  int weights = 0;                 // sets of weights that loaded engines have, each counted once
  std::int64_t weight_bytes = 0;   // of all of these
  std::int64_t gpu_bytes = 0;      // of GPU memory in use, over all GPUs: weights, contexts, bindings that the contexts own
  std::int64_t gpu_held_bytes = 0; // the same with what is free and kept
};
// What a runtime has of one GPU's memory. The driver's own (kernels, a context) and what libraries allocate are not counted.
struct GpuMemory {
  std::string device;              // "cuda:0"
  std::int64_t used_bytes = 0, most_used_bytes = 0, held_bytes = 0;
};

// Engines of one runtime share
// - workers: contexts take pools of them in turn, no more than there are processors. Contexts that run at the same time beyond that
//   share a pool, and who finds it busy computes alone.
// - weights: plans whose weights are equal, byte for byte, have them once on each device while any of their engines lives. (Plans that
//   were loaded without LoadOptions::verify_weights share nothing.)
// - the memory of each GPU: what one frees stays for the others (gpu_memory_kept), all of them together have a limit.
// - kernels that were compiled for a GPU, and the processes that compile them.
// - the log.
// Two runtimes share none of these. What belongs to the machine rather than to a part of the program is one for the whole process:
// a GPU's driver context, which ends with the last runtime that uses it, and its state after an error; processors that contexts are
// pinned to.
//
// Thread safe. Engines keep their runtime alive.
class TENFOLD_API Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});   // throws invalid_argument; std::make_shared<Runtime>() for LoadOptions and BuildConfig
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // That of engines without one of their own: made at first use and never ended. It gives each engine workers of its own, has no log, and
  // keeps no freed memory of GPUs.
  static const std::shared_ptr<Runtime>& of_process();

  RuntimeUse use() const;
  std::vector<GpuMemory> gpu_memory() const;   // of the GPUs that its engines opened
  // Gives freed memory of all GPUs back to the driver but `kept` bytes of each; returns how many bytes went. Throws invalid_argument and
  // device.
  std::int64_t trim_gpu_memory(std::int64_t kept = 0);

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
