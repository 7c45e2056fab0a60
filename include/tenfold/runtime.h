// Runtime: what several engines of a process share. A process may have several runtimes, for parts that must not share.
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
  // Processors that the workers of all its engines share. Up to 256; 0: from affinity mask and cgroup quota.
  int threads = 0;
  LogCallback log;     // the log of engines and builds that have none of their own
  // The most bytes of each GPU that its engines may use at once. Beyond that, they get out_of_memory. 0: no limit.
  std::int64_t gpu_memory_limit = 0;
  // How many bytes of freed memory of each GPU it keeps for later use. 0: all of it; below 0: none.
  std::int64_t gpu_memory_kept = 0;
  // Gives the device memory of all its engines and builds, on CPUs, too. Null: the driver and the system give it. The
  // limit above and the counts below leave this memory out. The runtime, and whatever still has memory of it, keep the
  // allocator alive.
  std::shared_ptr<DeviceAllocator> allocator = {};
};

// What the engines of a runtime use now.
struct RuntimeUse {
  int engines = 0;
  int weights = 0;                 // sets of weights that loaded engines have, each counted once
  std::int64_t weight_bytes = 0;   // bytes of all these sets
  std::int64_t gpu_bytes = 0;      // GPU memory in use on all GPUs: weights, contexts, bindings that contexts own
  std::int64_t gpu_held_bytes = 0; // the same, with freed memory that is kept
};
// What a runtime has of one GPU's memory: in use now, the most at any time, and now with freed memory that is kept. The
// driver's own memory (kernels, a context) and what libraries allocate are not counted.
struct GpuMemory {
  std::string device;              // "cuda:0"
  std::int64_t used_bytes = 0, max_used_bytes = 0, held_bytes = 0;
};

// Engines of one runtime share
// - workers. Contexts take pools of them in turn, no more pools than there are processors. If more contexts run at the
//   same time, they share a pool, and one that finds it busy computes alone.
// - weights. Plans whose weights are equal, byte for byte, have them once on each device while any of their engines
//   lives. Plans that were loaded without LoadOptions::verify_weights share nothing.
// - the memory of each GPU. What one engine frees stays for the others (gpu_memory_kept), and all of them together have
//   a limit.
// - kernels that were compiled for a GPU, and the processes that compile them.
// - the log.
// Two runtimes share none of these. What belongs to the machine exists once for the whole process: a GPU's driver
// context, which ends with the last runtime that uses it; the GPU's state after an error; and the processors that
// contexts are pinned to.
//
// Thread safe. Engines keep their runtime alive.
class TENFOLD_API Runtime {
 public:
  // Throws invalid_argument. LoadOptions and BuildConfig take it from std::make_shared<Runtime>().
  explicit Runtime(RuntimeOptions options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // The runtime of engines without one of their own. It is made at first use and never ends. It gives each engine
  // workers of its own, has no log, and keeps no freed memory of GPUs.
  static const std::shared_ptr<Runtime>& of_process();

  RuntimeUse use() const;
  std::vector<GpuMemory> gpu_memory() const;   // for each GPU that its engines opened
  // Gives freed memory of all GPUs back to the driver, except `kept` bytes of each, and returns how many bytes it gave
  // back. Throws invalid_argument and device.
  std::int64_t trim_gpu_memory(std::int64_t kept = 0);

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
