// One GPU of this machine: what it is, its context, and the kernels that were loaded on it. Shared by all backends of the process.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "backends/cuda/device/driver.h"
#include "backends/device_info.h"
#include "base/hash.h"

namespace tenfold::backends::cuda {

// How many GPUs the driver shows; 0 if there is no driver.
int device_count();

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
  // Throws device, saying why, if there is no such GPU or no driver. The same object each time. Below 0 it is no GPU but an
  // architecture (-90) that kernels are compiled for and never run on: tests need no hardware for that.
  static Device& get(int ordinal);

  const DeviceInfo& info() const { return info_; }
  std::int64_t memory_bytes() const { return memory_bytes_; }
  int multiprocessors() const { return multiprocessors_; }
  int shared_bytes() const { return shared_bytes_; }  // a block may ask for
  // An error inside a kernel takes the device from the whole process: the driver's number for it, or 0. note() keeps such, and only such.
  int lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
  void note(int result) noexcept {
    if (is_for_good(result)) lost_.store(result, std::memory_order_relaxed);
  }
  // To be called on every thread before it uses the device; cheap.
  void make_current() const noexcept;
  // Finds (or compiles) and loads a source; equal sources are loaded once. Throws as compile() does. Noted in a CodeTrace; if that
  // is ahead, compiling is only started.
  std::shared_ptr<const LoadedModule> load(const std::string& source);

 private:
  explicit Device(int ordinal);
  DeviceInfo info_;
  Context context_ = nullptr;
  std::int64_t memory_bytes_ = 0;
  int multiprocessors_ = 0, shared_bytes_ = 0;
  std::atomic<int> lost_{0};
  std::mutex mutex_;
  std::map<Hash128, std::weak_ptr<const LoadedModule>> modules_;
};

}  // namespace tenfold::backends::cuda
