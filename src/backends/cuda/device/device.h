// One GPU that a runtime has open: what it is, its context, its memory, and the kernels that were loaded on it.
#pragma once

#include <any>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backends/clock.h"
#include "backends/cuda/device/cublas_lt.h"
#include "backends/cuda/device/driver.h"
#include "backends/cuda/device/failures.h"
#include "backends/cuda/device/figures.h"
#include "backends/cuda/device/kernel_store.h"
#include "backends/cuda/device/memory_pool.h"
#include "backends/cuda/device/staged_copies.h"
#include "backends/device_info.h"
#include "base/files/hash.h"

namespace tenfold::backends::cuda {

// How many GPUs the driver shows; 0 if there is no driver.
int device_count();

// What the driver tells of a GPU that nobody has to open for it.
struct GpuFacts {
  DeviceInfo info;
  int number = 0;   // the driver's, for its calls
  std::int64_t memory_bytes = 0;
  int shared_bytes = 0;   // that a block may ask for
  GpuFigures figures;
  bool has_pools = false;
  std::vector<Clock> clocks;   // the highest of multiprocessors and memory
};
GpuFacts facts_of(int ordinal);   // throws device, saying why, if there is no such GPU or no driver, or where one of them is too old

// Keeps the driver's context of a GPU, which is one for the whole process, from being ended; and makes it this thread's.
class PrimaryContext {
 public:
  explicit PrimaryContext(const GpuFacts& gpu);   // throws device
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  void make_current() const noexcept;

 private:
  int number_, ordinal_;
  Context context_ = nullptr;
};

// A compiled kernel source, loaded; its functions live as long as it does.
class LoadedModule {
 public:
  explicit LoadedModule(std::string_view image);
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  // A kernel by name, allowed `shared_bytes` of dynamic shared memory. Throws device.
  Function function(const char* name, int shared_bytes = 0) const;

 private:
  Module module_ = nullptr;
};

class Device {
 public:
  // Throws device as facts_of() does, and where the GPU does not start.
  Device(int ordinal, std::shared_ptr<KernelStore> kernels, const GpuMemoryRules& rules);
  // No GPU but an architecture (90) that kernels are compiled for and never run on: tests need no hardware for that.
  static Device& for_compiling(int arch);
  // The same with figures, for which configurations are ranked.
  static std::unique_ptr<Device> for_ranking(int arch, const GpuFigures& figures);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const { return facts_.info; }
  const std::vector<Clock>& clocks() const { return facts_.clocks; }
  int multiprocessors() const { return facts_.figures.multiprocessors; }
  const GpuFigures& figures() const { return facts_.figures; }
  int shared_bytes() const { return facts_.shared_bytes; }  // a block may ask for
  MemoryPool& memory() { return *memory_; }
  KernelStore& kernels() { return *kernels_; }
  // An error inside a kernel takes the device from the whole process: the driver's number for it, or 0.
  int lost() const noexcept { return lost_by(facts_.info.ordinal); }
  // To be called on every thread before it uses the device; cheap.
  void make_current() const noexcept;
  // Finds (or compiles) and loads a source; equal sources are loaded once. Throws as compile() does. What was loaded is noted in
  // `opening`; if that is ahead, compiling is only started.
  std::shared_ptr<const LoadedModule> load(const std::string& source, backends::Opening& opening);
  LtHandle lt_handle();   // made on first use, with the device current
  // Likewise; null where there is no memory for it, and the driver copies by itself.
  StagedCopies* staged_copies() noexcept;
  // What others keep for as long as the device is open, made on first use.
  template <class T>
  T& keep() {
    const std::lock_guard lock(mutex_);
    if (!kept_.has_value()) kept_ = std::make_shared<T>();
    return *std::any_cast<std::shared_ptr<T>&>(kept_);
  }

 private:
  Device(int arch, const GpuFigures& figures);
  GpuFacts facts_;
  std::unique_ptr<PrimaryContext> context_;   // null: for compiling alone
  std::shared_ptr<KernelStore> kernels_;
  std::unique_ptr<MemoryPool> memory_;
  std::mutex mutex_;
  std::map<Hash128, std::weak_ptr<const LoadedModule>> modules_;
  LtHandle lt_ = nullptr;
  std::any kept_;
  std::once_flag stages_once_;
  std::unique_ptr<StagedCopies> staged_copies_;
};

// The GPU that a problem is for. Where only an ordinal below 0 is given (-90), the architecture that it is to be compiled for.
Device& device_of(const DeviceInfo& info);
// An H200's where no GPU is open.
const GpuFigures& figures_of(const DeviceInfo& info);

}  // namespace tenfold::backends::cuda
