// Runtimes: the process's own and others; weights that equal plans share.
#include "runtime/shared/runtime.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/backend.h"
#include "base/check.h"
#include "base/threads/cpu_count.h"
#include "base/threads/parallel.h"
#include "base/threads/pools.h"
#include "runtime/shared/device_port.h"

namespace tenfold {

Runtime::Runtime(RuntimeOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->ports = std::make_shared<runtime::DevicePorts>();
  check_threads(options.threads, "a runtime");
  impl_->threads = options.threads > 0 ? options.threads : default_threads();
  require(options.gpu_memory_limit >= 0, ErrorKind::invalid_argument, "a limit of ", options.gpu_memory_limit,
          " bytes of GPU memory; 0 (none) or more was expected");
  impl_->shared.pools = std::make_shared<Pools>(impl_->threads);
  const std::int64_t kept = options.gpu_memory_kept == 0 ? -1 : std::max<std::int64_t>(options.gpu_memory_kept, 0);
  impl_->shared.gpus = backends::make_gpus({.limit = options.gpu_memory_limit, .kept = kept});
  impl_->shared.allocator = std::move(options.allocator);
  impl_->log = std::move(options.log);
}
Runtime::~Runtime() = default;

const std::shared_ptr<Runtime>& Runtime::of_process() {
  static const std::shared_ptr<Runtime>& one = []() -> const std::shared_ptr<Runtime>& {
    auto* made = new std::shared_ptr<Runtime>(std::make_shared<Runtime>());   // engines may outlive statics
    (*made)->impl_->threads = 0, (*made)->impl_->shared = {.pools = nullptr, .gpus = backends::make_gpus({}), .allocator = nullptr};
    return *made;
  }();
  return one;
}

RuntimeUse Runtime::use() const {
  RuntimeUse use{.engines = impl_->engines};
  impl_->weights.count(use);
  for (const GpuMemory& gpu : gpu_memory()) use.gpu_bytes += gpu.used_bytes, use.gpu_held_bytes += gpu.held_bytes;
  return use;
}

std::vector<GpuMemory> Runtime::gpu_memory() const {
  std::vector<GpuMemory> all;
  for (const backends::GpuMemory& gpu : backends::gpu_memory(*impl_->shared.gpus))
    all.push_back({cat("cuda:", gpu.ordinal), gpu.used, gpu.max_used, gpu.held});
  return all;
}
std::int64_t Runtime::trim_gpu_memory(std::int64_t kept) { return backends::trim_gpu_memory(*impl_->shared.gpus, kept); }

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

std::shared_ptr<const void> place_weights(backends::DeviceMemory& memory, const void* data, std::int64_t bytes) try {
  static const std::byte nothing[64]{};   // operands without elements lie somewhere: one that lies nowhere is left out
  if (bytes == 0 && memory.host_reads()) return {std::shared_ptr<const void>(), nothing};
  return memory.place_constants(data, bytes);
} catch (const Error& e) {
  if (e.kind() != ErrorKind::out_of_memory) throw;
  throw Error(e.kind(), cat(e.what(), "; it is for the plan's weights"));
}

std::shared_ptr<const void> SharedWeights::place(backends::Backend& backend) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const void>& placed = placed_[cat(backend.name(), ":", backend.info().ordinal)];
  std::shared_ptr<const void> memory = placed.lock();
  if (!memory) placed = memory = place_weights(backend.memory(), bytes_.data(), static_cast<std::int64_t>(bytes_.size()));
  return memory;
}

namespace {

// Byte for byte: a checksum alone would let one plan's weights stand in for another's.
bool equal(const SharedWeights& weights, std::span<const std::byte> bytes) {
  return weights.bytes().size() == bytes.size() && std::memcmp(weights.bytes().data(), bytes.data(), bytes.size()) == 0;
}

}  // namespace

WeightsTable::Candidates WeightsTable::candidates(std::size_t bytes, std::uint64_t checksum, WeightsMode mode) {
  std::erase_if(entries_, [](const Entry& e) { return e.weights.expired(); });
  Candidates found;
  for (const Entry& e : entries_)
    if (e.checksum == checksum && e.mode == mode)
      if (auto weights = e.weights.lock(); weights && weights->bytes().size() == bytes) found.push_back(std::move(weights));
  return found;
}

std::shared_ptr<SharedWeights> WeightsTable::find(std::span<const std::byte> bytes, std::uint64_t checksum, WeightsMode mode) {
  Candidates known;
  {
    const std::lock_guard lock(mutex_);
    known = candidates(bytes.size(), checksum, mode);
  }
  for (auto& weights : known)
    if (equal(*weights, bytes)) return weights;
  return nullptr;
}

std::shared_ptr<SharedWeights> WeightsTable::find_or_add(const std::shared_ptr<SharedWeights>& weights, std::uint64_t checksum,
                                                         WeightsMode mode) {
  const std::span<const std::byte> bytes = weights->bytes();
  Candidates compared;
  while (true) {
    Candidates known;
    {
      const std::lock_guard lock(mutex_);
      known = candidates(bytes.size(), checksum, mode);
      std::sort(known.begin(), known.end());
      if (std::includes(compared.begin(), compared.end(), known.begin(), known.end())) {
        entries_.push_back({checksum, mode, weights});   // of all that are there now none is equal
        return weights;
      }
    }
    for (const auto& one : known)
      if (equal(*one, bytes)) return one;
    compared = std::move(known);   // kept alive, so that no other can take an address among them
  }
}

void WeightsTable::count(RuntimeUse& use) {
  const std::lock_guard lock(mutex_);
  for (const Entry& e : entries_)
    if (const auto weights = e.weights.lock()) ++use.weights, use.weight_bytes += static_cast<std::int64_t>(weights->bytes().size());
}

}  // namespace runtime
}  // namespace tenfold
