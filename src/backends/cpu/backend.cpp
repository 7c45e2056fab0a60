// The CPU backend: what the machine is, its tactics, aligned memory, and streams over pools of workers.
#include "backends/cpu/backend.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backends/callers_memory.h"
#include "backends/cpu/clock.h"
#include "backends/cpu/cpu_info.h"
#include "backends/cpu/evict.h"
#include "backends/cpu/onednn/library.h"
#include "backends/cpu/processors.h"
#include "base/checked.h"
#include "base/memory_limit.h"
#include "base/threads/cpu_count.h"
#include "base/threads/float_state.h"
#include "base/threads/placed.h"
#include "base/threads/pools.h"
#include "base/threads/thread_pool.h"

namespace tenfold::backends {

std::vector<Tactic> cpu_tactics();   // generated: cpu_tactic_table.cpp

namespace {

class CpuStream final : public Stream {
 public:
  explicit CpuStream(std::shared_ptr<Parallel> pool, cpu::Processors::Lease cpus = nullptr)
      : cpus_(std::move(cpus)), pool_(std::move(pool)) {}
  Parallel& parallel() noexcept override { return *pool_; }
  Status::Code launch(const Tactic& tactic, const void* kernel, const RunArgs& args) noexcept override { return tactic.run(kernel, args); }
  Status::Code copy(void* to, const void* from, std::int64_t bytes) noexcept override {
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));   // what is empty may have no address
    return Status::ok;
  }
  Status::Code fill(void* to, int byte, std::int64_t bytes) noexcept override {
    if (bytes > 0) std::memset(to, byte, static_cast<std::size_t>(bytes));
    return Status::ok;
  }
  Status::Code wait() noexcept override { return Status::ok; }
  void mark(int moment) noexcept override { marks_.mark(moment); }
  double between(int first, int last) const noexcept override { return marks_.between(first, last); }

 private:
  cpu::Processors::Lease cpus_;   // where the pool's threads are; null: anywhere
  std::shared_ptr<Parallel> pool_;
  HostMarks marks_;
};

// Made once: it takes a millisecond, and a server that loads models makes a backend for each.
const std::vector<Tactic>& all_tactics() {
  static const std::vector<Tactic>& all = *new std::vector<Tactic>(cpu_tactics());   // engines may outlive statics
  return all;
}

class CpuBackend final : public Backend, DeviceMemory, KernelTiming {
 public:
  CpuBackend(std::uint32_t features, std::shared_ptr<Pools> pools, std::shared_ptr<DeviceAllocator> allocator)
      : info_(cpu::this_cpu()),
        pools_(pools ? std::move(pools) : std::make_shared<Pools>(default_threads())),
        allocator_(std::move(allocator)) {
    if (features) info_.features &= features;
  }
  std::string_view name() const override { return "cpu"; }
  const DeviceInfo& info() const override { return info_; }
  const std::vector<Tactic>& tactics() const override { return all_tactics(); }
  std::vector<std::string> libraries() const override {
    const cpu::onednn::LibraryInfo& onednn = cpu::onednn::library_info();
    return {onednn.absence.empty() ? onednn.text : "no oneDNN: " + onednn.absence};
  }

  DeviceMemory& memory() override { return *this; }
  KernelTiming& timing() override { return *this; }
  std::unique_ptr<Stream> open_stream(const StreamOptions& options) override {
    if (options.pin_threads) return placed_stream(options.threads);
    return std::make_unique<CpuStream>(pools_->take(options.threads));
  }

 private:
  std::shared_ptr<void> allocate(std::int64_t bytes) override {
    if (allocator_) {
      std::shared_ptr<void> memory = from_caller(allocator_, bytes, "cpu");
      std::memset(memory.get(), 0, static_cast<std::size_t>(bytes));
      return memory;
    }
    constexpr std::int64_t kHuge = 2 << 20;
    expect_memory(bytes, "host memory");
    const std::int64_t alignment = bytes >= kHuge ? kHuge : 64;
    const std::int64_t size = round_up(std::max<std::int64_t>(bytes, 64), alignment == kHuge ? 4096 : 64);
    void* memory = std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>(round_up(size, alignment)));
    require(memory != nullptr, ErrorKind::out_of_memory, "cannot allocate ", bytes, " bytes of host memory");
    if (alignment == kHuge) madvise(memory, static_cast<std::size_t>(size), MADV_HUGEPAGE);
    std::memset(memory, 0, static_cast<std::size_t>(size));   // touched once here, not in the first run
    return {memory, std::free};
  }

  std::shared_ptr<const void> place_constants(const void* data, std::int64_t bytes) override {
    if (!allocator_) return DeviceMemory::place_constants(data, bytes);
    std::shared_ptr<void> memory = from_caller(allocator_, bytes, "cpu");
    if (bytes > 0) std::memcpy(memory.get(), data, static_cast<std::size_t>(bytes));
    return memory;
  }

  // As one thread brings a tensor of some MiB from channels-last to plain; of several threads each takes a little longer than its share.
  double reformat_ns(std::int64_t bytes) const override { return 300 + 0.04 * static_cast<double>(bytes); }
  std::vector<Clock> clocks() const override {
    const std::int64_t khz = cpu::measured_clock_khz();
    return khz > 0 ? std::vector<Clock>{{"processor", khz}} : std::vector<Clock>{};
  }

  double measure(Stream& stream, const Tactic& tactic, const void* kernel, const RunArgs& args, const MeasureBudget& budget) override {
    RunArgs with_workers = args;
    with_workers.parallel = &stream.parallel();
    const FloatState state;   // as in runs: made-up data may become denormals, which cost many times as much
    const auto evict_cold = [&] {
      for (const auto& memory : budget.cold) cpu::evict(memory);
    };
    Status::Code code = Status::ok;   // what fails is not fast: a plug-in's kernel may refuse in the run what it accepted before
    const auto launch = [&] {
      if (code == Status::ok) code = tactic.run(kernel, with_workers);
    };
    const double ns = measure_host(launch, budget, budget.cold.empty() ? std::function<void()>{} : std::function<void()>{evict_cold});
    return code == Status::ok ? ns : kFailed;
  }

  // All engines' streams share the processors of the process, as its first pinned stream found them: a thread that calls is put on one
  // itself, and would know of no others.
  static std::unique_ptr<Stream> placed_stream(int threads) {
    static cpu::Processors& all = *new cpu::Processors(CpuPlaces::of_this_thread().order());   // streams may outlive statics
    static const int threads_of_process = default_threads();
    cpu::Processors::Lease cpus = all.take(static_cast<std::size_t>(std::min(threads > 0 ? threads : threads_of_process, kMaxWorkers)));
    require(!cpus->empty(), ErrorKind::unsupported, "threads cannot be pinned: this system does not say which processors they may use");
    std::shared_ptr<Parallel> pool;
    if (cpus->size() == 1) pool = std::make_shared<Serial>();
    else pool = std::make_shared<ThreadPool>(ThreadPoolOptions{.threads = static_cast<int>(cpus->size()), .cpus = *cpus});
    return std::make_unique<CpuStream>(std::make_shared<Placed>(std::move(pool), cpus->front()), cpus);
  }

  DeviceInfo info_;
  std::shared_ptr<Pools> pools_;
  std::shared_ptr<DeviceAllocator> allocator_;
};

}  // namespace

std::shared_ptr<Backend> open_cpu(std::uint32_t features, std::shared_ptr<Pools> pools, std::shared_ptr<DeviceAllocator> allocator) {
  return std::make_shared<CpuBackend>(features, std::move(pools), std::move(allocator));
}

}  // namespace tenfold::backends
