// Launches, copies and graphs on one CUDA stream.
#include "backends/cuda/stream.h"

#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

DevicePointer address(const void* p) { return reinterpret_cast<DevicePointer>(p); }

// A graph ready to be launched.
struct Recorded {
  GraphExec exec = nullptr;
  Device* device = nullptr;
  ~Recorded() {
    device->make_current();
    if (exec) driver()->graph_exec_destroy(exec);
  }
};

}  // namespace

CudaStream::CudaStream(Device& device) : queue_(device) {
  for (Event& e : marks_) expect(driver()->event_create(&e, kEventDefault), "making an event");
}
CudaStream::~CudaStream() {
  queue_.device.make_current();
  for (Event e : marks_) driver()->event_destroy(e);
}

Status::Code CudaStream::noted(int result) noexcept {
  if (result != kSuccess) describe(result, error_, sizeof error_);
  return status_of(result);
}
std::string_view CudaStream::error() const noexcept { return error_; }

Status::Code CudaStream::launch(const Tactic& tactic, const void* kernel, const RunArgs& args) noexcept {
  queue_.device.make_current();
  RunArgs here = args;
  here.queue = &queue_;
  return tactic.run(kernel, here);
}

Status::Code CudaStream::copy(void* to, const void* from, std::int64_t bytes) noexcept {
  if (bytes <= 0) return Status::ok;
  queue_.device.make_current();
  return noted(driver()->copy(address(to), address(from), static_cast<std::size_t>(bytes), queue_.stream));
}
Status::Code CudaStream::fill(void* to, int byte, std::int64_t bytes) noexcept {
  if (bytes <= 0) return Status::ok;
  queue_.device.make_current();
  return noted(driver()->fill(address(to), static_cast<unsigned char>(byte), static_cast<std::size_t>(bytes), queue_.stream));
}
Status::Code CudaStream::wait() noexcept {
  queue_.device.make_current();
  const Status::Code code = noted(driver()->stream_wait(queue_.stream));
  const bool outside = *static_cast<volatile std::uint32_t*>(queue_.bad_index) != 0;
  *queue_.bad_index = 0;
  return code == Status::ok && outside ? Status::bad_index : code;
}

bool CudaStream::start_recording() noexcept {
  queue_.device.make_current();
  return driver()->capture_begin(queue_.stream, kCaptureThreadLocal) == kSuccess;
}
std::shared_ptr<const void> CudaStream::finish_recording() noexcept {
  Graph graph = nullptr;
  if (driver()->capture_end(queue_.stream, &graph) != kSuccess || !graph) return nullptr;
  std::shared_ptr<Recorded> recorded;
  try {
    recorded = std::make_shared<Recorded>();
    recorded->device = &queue_.device;
    if (driver()->graph_instantiate(&recorded->exec, graph, 0) != kSuccess) recorded = nullptr;
  } catch (const std::bad_alloc&) {
    recorded = nullptr;
  }
  driver()->graph_destroy(graph);
  return recorded;
}
Status::Code CudaStream::replay(const void* recording) noexcept {
  queue_.device.make_current();
  return noted(driver()->graph_launch(static_cast<const Recorded*>(recording)->exec, queue_.stream));
}

void CudaStream::mark(int moment) noexcept {
  queue_.device.make_current();
  driver()->event_record(marks_[moment & 3], queue_.stream);
}
double CudaStream::between(int first, int last) const noexcept {
  float ms = 0;
  return driver()->event_elapsed(&ms, marks_[first & 3], marks_[last & 3]) == kSuccess ? static_cast<double>(ms) : 0;
}

}  // namespace tenfold::backends::cuda
