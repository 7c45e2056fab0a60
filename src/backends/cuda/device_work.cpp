// DeviceWork by the driver's calls.
#include "backends/cuda/device_work.h"

#include "backends/cuda/backend.h"
#include "backends/cuda/callers_stream.h"
#include "backends/cuda/device/failures.h"
#include "backends/cuda/device/launch.h"
#include "base/check.h"

tenfold::DeviceWork::~DeviceWork() = default;

namespace tenfold::backends::cuda {
namespace {

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function;
};

DevicePointer address(const void* p) { return reinterpret_cast<DevicePointer>(p); }
StreamHandle stream_of(void* stream) { return static_cast<StreamHandle>(stream); }
Event event_of(void* event) { return static_cast<Event>(event); }

class CudaWork final : public DeviceWork {
 public:
  CudaWork(std::shared_ptr<Backend> backend, Gpus& gpus)
      : backend_(std::move(backend)), gpus_(gpus), device_(gpus.open(backend_->info().ordinal)) {}

  std::shared_ptr<void> allocate(std::int64_t bytes) override { return backend_->memory().allocate(bytes); }
  std::shared_ptr<void> allocate_pinned(std::int64_t bytes) override {
    std::shared_ptr<void> memory = gpus_.pinned()->take(bytes);
    if (!memory) memory = backend_->memory().allocate_host(bytes);
    void* const address = memory.get();
    return {address, [pinned = gpus_.pinned(), memory = std::move(memory), bytes](void*) mutable {
              pinned->give_back(std::move(memory), bytes);
            }};
  }
  std::shared_ptr<void> make_stream() override { return make_callers_stream(gpus_, device_->info().ordinal); }
  std::shared_ptr<void> make_event() override {
    device_->make_current();
    Event event = nullptr;
    expect(driver()->event_create(&event, kEventSleeping), "cuEventCreate", "making an event");
    return {event, [device = device_](Event e) {
              device->make_current();
              driver()->event_destroy(e);
            }};
  }
  std::shared_ptr<const void> load_kernel(const std::string& source, const char* name) override {
    Opening opening;
    auto kernel = std::make_shared<Kernel>();
    kernel->module = device_->load(with_prelude(source), opening);
    device_->make_current();
    kernel->function = kernel->module->function(name);
    return kernel;
  }

  void copy(void* to, const void* from, std::int64_t bytes, void* stream) override {
    if (bytes == 0) return;
    ready();
    expect(driver()->copy(address(to), address(from), static_cast<std::size_t>(bytes), stream_of(stream)), "cuMemcpyAsync", "copying");
  }
  void fill(void* to, int byte, std::int64_t bytes, void* stream) override {
    if (bytes == 0) return;
    ready();
    expect(driver()->fill(address(to), static_cast<unsigned char>(byte), static_cast<std::size_t>(bytes), stream_of(stream)),
           "cuMemsetD8Async", "filling memory");
  }
  void launch(const void* kernel, std::array<std::int64_t, 3> blocks, unsigned threads, const void* argument, void* stream) override {
    const auto [x, y, z] = blocks;
    if (x == 0 || y == 0 || z == 0) return;
    const Grid grid{x, y, z};
    require(grid.fits(), ErrorKind::unsupported, "a kernel of ", x, " x ", y, " x ", z, " blocks: a GPU takes 2^31 - 1 x 65535 x 65535");
    ready();
    void* parameters[] = {const_cast<void*>(argument)};
    const LaunchConfig config{{static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)}, {threads, 1, 1}, 0,
                              stream_of(stream), nullptr, 0};
    expect(driver()->launch(&config, static_cast<const Kernel*>(kernel)->function, parameters, nullptr), "cuLaunchKernelEx",
           "launching a kernel");
  }
  void record(void* event, void* stream) override {
    ready();
    expect(driver()->event_record(event_of(event), stream_of(stream)), "cuEventRecord", "marking a stream");
  }
  void follow(void* stream, void* event) override {
    ready();
    expect(driver()->stream_follow(stream_of(stream), event_of(event), 0), "cuStreamWaitEvent", "ordering streams");
  }
  void wait(void* event) override {
    ready();
    expect(driver()->event_wait(event_of(event)), "cuEventSynchronize", "waiting for a stream");
  }

 private:
  void ready() const {
    expect_usable(device_->info().ordinal);
    device_->make_current();
  }

  std::shared_ptr<Backend> backend_;
  Gpus& gpus_;
  std::shared_ptr<Device> device_;
};

}  // namespace

std::string with_prelude(const std::string& source) {
  return cat("#include \"backends/cuda/kernels/lib/types.cuh\"\n#include \"backends/cuda/kernels/lib/convert.cuh\"\n", source);
}

std::unique_ptr<DeviceWork> make_device_work(std::shared_ptr<Backend> backend, Gpus& gpus) {
  return std::make_unique<CudaWork>(std::move(backend), gpus);
}

}  // namespace tenfold::backends::cuda
