// What a Runtime holds for its engines.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "backends/backend.h"
#include "plan/plan.h"
#include "tenfold/engine.h"
#include "tenfold/runtime.h"

namespace tenfold::runtime {

// Constants on the backend's device; where it has no memory for them, the error says what it is for.
std::shared_ptr<const void> place_weights(backends::DeviceMemory& memory, const void* data, std::int64_t bytes);

// The weights of one plan, however many engines have it, in host memory and on devices.
class SharedWeights {
 public:
  SharedWeights(std::shared_ptr<const void> owner, std::span<const std::byte> bytes) : owner_(std::move(owner)), bytes_(bytes) {}
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  // Where this backend's tactics read them.
  std::shared_ptr<const void> place(backends::Backend& backend);

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const void>> placed_;   // by device
};

class DevicePorts;   // device_port.h

// By content, for as long as an engine has them.
class WeightsTable {
 public:
  // Equal ones that were loaded in the same mode; null: none.
  std::shared_ptr<SharedWeights> find(std::span<const std::byte> bytes, std::uint64_t checksum, WeightsMode mode);
  // Those that the table has by now, where another thread loaded equal ones meanwhile; else `weights`, which are in it from here on.
  std::shared_ptr<SharedWeights> find_or_add(const std::shared_ptr<SharedWeights>& weights, std::uint64_t checksum, WeightsMode mode);
  void count(RuntimeUse& use);

 private:
  using Candidates = std::vector<std::shared_ptr<SharedWeights>>;
  // Under the lock: those of this checksum and size. They are compared without it.
  Candidates candidates(std::size_t bytes, std::uint64_t checksum, WeightsMode mode);
  struct Entry {
    std::uint64_t checksum;
    WeightsMode mode;
    std::weak_ptr<SharedWeights> weights;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace tenfold::runtime

namespace tenfold {

struct Runtime::Impl {
  int threads = 0;                // 0: those that the thread may use which opens an engine
  backends::Resources shared;     // without pools every engine has its own
  LogCallback log;
  runtime::WeightsTable weights;
  std::shared_ptr<runtime::DevicePorts> ports;   // for arrays and streams of callers
  std::atomic<int> engines{0};
};

namespace runtime {
// That of the options, or the process's own.
const std::shared_ptr<Runtime>& runtime_of(const std::shared_ptr<Runtime>& given);
int threads_of(const Runtime& runtime);   // that its contexts have unless they are told
// Counts an engine until what is returned goes away, and keeps the runtime alive.
std::shared_ptr<const void> join(const std::shared_ptr<Runtime>& runtime);
// Options or configuration with its runtime, and with that one's log where it has none.
template <class Options>
Options with_runtime(Options options) {
  options.runtime = runtime_of(options.runtime);
  if (!options.log) options.log = options.runtime->impl().log;
  return options;
}
}  // namespace runtime
}  // namespace tenfold
