// Runtimes: the process's own and others; weights that equal plans share.
#include "runtime/runtime.h"

#include <cstring>

#include "base/check.h"
#include "base/cpu_count.h"
#include "base/parallel.h"
#include "base/pools.h"

namespace tenfold {

Runtime::Runtime(RuntimeOptions options) : impl_(std::make_unique<Impl>()) {
  require(options.threads >= 0 && options.threads <= kMaxWorkers, ErrorKind::invalid_argument, "a runtime of ", options.threads,
          " threads; 0 to ", kMaxWorkers, " were expected");
  impl_->threads = options.threads > 0 ? options.threads : default_threads();
  impl_->pools = std::make_shared<Pools>(impl_->threads);
  impl_->log = std::move(options.log);
}
Runtime::~Runtime() = default;

const std::shared_ptr<Runtime>& Runtime::of_process() {
  static const std::shared_ptr<Runtime>& one = []() -> const std::shared_ptr<Runtime>& {
    auto* made = new std::shared_ptr<Runtime>(std::make_shared<Runtime>());   // engines may outlive statics
    (*made)->impl_->threads = 0, (*made)->impl_->pools = nullptr;
    return *made;
  }();
  return one;
}

RuntimeUse Runtime::use() const {
  RuntimeUse use{.engines = impl_->engines};
  impl_->weights.count(use);
  return use;
}

namespace runtime {

int threads_of(const Runtime& runtime) {
  const int threads = runtime.impl().threads;
  return threads > 0 ? threads : default_threads();
}

std::shared_ptr<const void> join(const std::shared_ptr<Runtime>& runtime) {
  ++runtime->impl().engines;
  return {runtime.get(), [runtime](const void*) { --runtime->impl().engines; }};
}

const std::shared_ptr<Runtime>& runtime_of(const std::shared_ptr<Runtime>& given) { return given ? given : Runtime::of_process(); }

std::shared_ptr<const void> SharedWeights::place(backends::Backend& backend) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const void>& placed = placed_[cat(backend.name(), ":", backend.info().ordinal)];
  std::shared_ptr<const void> memory = placed.lock();
  if (!memory) placed = memory = backend.place_constants(bytes_.data(), static_cast<std::int64_t>(bytes_.size()));
  return memory;
}

// Candidates are compared byte for byte: a checksum alone would let one plan's weights stand in for another's.
std::shared_ptr<SharedWeights> WeightsTable::find(std::span<const std::byte> bytes, std::uint64_t checksum, WeightsMode mode) {
  std::vector<std::shared_ptr<SharedWeights>> candidates;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const Entry& e) { return e.weights.expired(); });
    for (const Entry& e : entries_)
      if (e.checksum == checksum && e.mode == mode)
        if (auto weights = e.weights.lock(); weights && weights->bytes().size() == bytes.size()) candidates.push_back(std::move(weights));
  }
  for (auto& weights : candidates)
    if (std::memcmp(weights->bytes().data(), bytes.data(), bytes.size()) == 0) return weights;
  return nullptr;
}

void WeightsTable::add(const std::shared_ptr<SharedWeights>& weights, std::uint64_t checksum, WeightsMode mode) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({checksum, mode, weights});
}

void WeightsTable::count(RuntimeUse& use) {
  const std::lock_guard lock(mutex_);
  for (const Entry& e : entries_)
    if (const auto weights = e.weights.lock()) ++use.weights, use.weight_bytes += static_cast<std::int64_t>(weights->bytes().size());
}

}  // namespace runtime
}  // namespace tenfold
