// The CUDA backend: device memory, tactics, and streams that record their launches into graphs.
#include "backends/cuda/backend.h"

#include <algorithm>
#include <atomic>

#include "backends/callers_memory.h"
#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/cublas_lt.h"
#include "backends/cuda/device/cudnn.h"
#include "backends/cuda/device/failures.h"
#include "backends/cuda/device/gpus.h"
#include "backends/cuda/device/memory_kind.h"
#include "backends/cuda/measure.h"
#include "backends/cuda/stream.h"
#include "base/checked.h"

namespace tenfold::backends {

std::vector<Tactic> cuda_tactics();  // generated: cuda_tactic_table.cpp

namespace {

using namespace cuda;

const std::vector<Tactic>& all_tactics() {
  static const std::vector<Tactic>& all = *new std::vector<Tactic>(cuda_tactics());   // engines may outlive statics
  return all;
}

class CudaBackend final : public Backend, DeviceMemory, KernelTiming, CodeStore {
 public:
  CudaBackend(Gpus& gpus, int ordinal, std::shared_ptr<DeviceAllocator> allocator)
      : device_(gpus.open(ordinal)), allocator_(std::move(allocator)) {}
  std::string_view name() const override { return "cuda"; }
  const DeviceInfo& info() const override { return device_->info(); }
  const std::vector<Tactic>& tactics() const override { return all_tactics(); }

  DeviceMemory& memory() override { return *this; }
  std::unique_ptr<Stream> open_stream(const StreamOptions&) override { return std::make_unique<CudaStream>(*device_); }
  KernelTiming& timing() override { return *this; }
  CodeStore* code() override { return this; }

 private:
  std::shared_ptr<void> allocate(std::int64_t bytes) override {
    device_->make_current();
    if (allocator_) return callers(bytes);
    const DevicePointer pointer = device_->memory().take(bytes);
    *allocated_ += bytes;
    return {reinterpret_cast<void*>(pointer), [device = device_, allocated = allocated_, bytes](void* p) {
              *allocated -= bytes;
              device->make_current();
              device->memory().give_back(reinterpret_cast<DevicePointer>(p));
            }};
  }
  std::int64_t allocated_bytes() const override { return *allocated_; }
  bool host_reads() const override { return false; }
  bool device_reads_pinned() const override { return true; }
  MemoryKind kind_of(const void* memory) const noexcept override {
    device_->make_current();
    return cuda::kind_of(memory);
  }
  std::shared_ptr<void> allocate_host(std::int64_t bytes) override {
    device_->make_current();
    void* memory = nullptr;
    const int result = driver()->allocate_host(&memory, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 64)), 0);
    if (result == kOutOfMemory) {
      note_failure(result, "cuMemHostAlloc");
      fail(ErrorKind::out_of_memory, cat("cannot allocate ", bytes,
                                         " bytes of host memory that the GPU can read (pinned); smaller shapes "
                                         "(--maxShapes, a smaller batch) take less"));
    }
    expect(result, "cuMemHostAlloc", "allocating host memory");
    std::memset(memory, 0, static_cast<std::size_t>(bytes));
    return {memory, [device = device_](void* p) {
              device->make_current();
              driver()->release_host(p);
            }};
  }
  std::shared_ptr<const void> place_constants(const void* data, std::int64_t bytes) override {
    std::shared_ptr<void> memory = allocate(bytes);
    CudaStream stream(*device_);
    const Status::Code copied = stream.copy(memory.get(), data, bytes);
    require(copied == Status::ok && stream.wait() == Status::ok, ErrorKind::device, "copying ", bytes,
            " bytes of weights to the GPU failed");
    return memory;
  }
  double reformat_ns(std::int64_t bytes) const override { return 2000 + 0.0008 * static_cast<double>(bytes); }

  void take(const CodeList& list, bool of_any_compiler) override { device_->kernels().add(list, of_any_compiler); }
  CodeList used() const override { return device_->kernels().all(); }

  std::vector<Clock> clocks() const override { return device_->clocks(); }
  double measure(Stream& stream, const Tactic& tactic, const void* kernel, const RunArgs& args, const MeasureBudget& budget) override {
    return measure_device(static_cast<CudaStream&>(stream), tactic, kernel, args, budget);
  }

  // What the caller freed on a stream of its own may still be used there, and what we free by us: both wait for the whole device.
  std::shared_ptr<void> callers(std::int64_t bytes) {
    const auto settle = [device = device_] {
      device->make_current();
      driver()->synchronize();
    };
    std::shared_ptr<void> memory = from_caller(allocator_, bytes, cat("cuda:", info().ordinal), settle);
    settle();
    require(kind_of(memory.get()) == MemoryKind::device, ErrorKind::invalid_argument, "the allocator gave memory that is not cuda:",
            info().ordinal, "'s");
    *allocated_ += bytes;
    return {memory.get(), [memory, allocated = allocated_, bytes](void*) mutable {
              *allocated -= bytes;
              memory.reset();
            }};
  }

  std::shared_ptr<Device> device_;
  std::shared_ptr<DeviceAllocator> allocator_;
  std::shared_ptr<std::atomic<std::int64_t>> allocated_ = std::make_shared<std::atomic<std::int64_t>>(0);
};

}  // namespace

std::vector<CudaDevice> cuda_devices(std::string& what_lacks) {
  std::vector<CudaDevice> list;
  what_lacks = driver() ? device_count() == 0 ? "the driver shows no GPU" : "" : driver_why_not();
  for (int i = 0; i < device_count(); ++i) {
    try {
      const GpuFacts facts = facts_of(i);
      list.push_back({facts.info, facts.memory_bytes});
    } catch (const Error& e) {   // too old: the others may do
      what_lacks = e.what();
    }
  }
  if (list.empty()) return list;
  if (!compiler_why_not().empty()) what_lacks = cat("no own kernels: ", compiler_why_not());
  if (!cublas_lt()) what_lacks += cat(what_lacks.empty() ? "" : "; ", cublas_lt_why_not());
  if (!cudnn()) what_lacks += cat(what_lacks.empty() ? "" : "; ", cudnn_why_not());
  return list;
}

std::int64_t cuda_free_bytes(int ordinal) {
  const PrimaryContext context(facts_of(ordinal));
  std::size_t free = 0, total = 0;
  expect(driver()->memory_info(&free, &total), "cuMemGetInfo", "asking for free memory");
  return static_cast<std::int64_t>(free);
}

void* cuda_stream(const RunArgs& args) noexcept { return queue_of(args).stream; }

std::shared_ptr<Gpus> make_gpus(const GpuMemoryRules& rules) { return std::make_shared<Gpus>(rules); }
std::vector<GpuMemory> gpu_memory(const Gpus& gpus) { return gpus.memory(); }
std::int64_t trim_gpu_memory(Gpus& gpus, std::int64_t kept) { return gpus.trim(kept); }

std::shared_ptr<Backend> open_cuda(int ordinal, const std::shared_ptr<Gpus>& gpus, const std::shared_ptr<DeviceAllocator>& allocator) {
  require(ordinal >= 0, ErrorKind::device, "GPUs are named cuda:0, cuda:1 ...");
  return std::make_shared<CudaBackend>(gpus ? *gpus : *make_gpus({}), ordinal, allocator);
}

}  // namespace tenfold::backends
