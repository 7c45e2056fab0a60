// Recordings of a CUDA stream: graphs, the branches that run beside each other in them, and changing one instead of making another.
#include "backends/cuda/stream.h"

namespace tenfold::backends::cuda {
namespace {

// A graph ready to be launched.
struct GraphInstance {
  GraphExec exec = nullptr;
  Device* device = nullptr;
  ~GraphInstance() {
    device->make_current();
    if (exec) driver()->graph_exec_destroy(exec);
  }
};

// As the interface lays it out: the kind of difference that was found, and where.
struct UpdateResult {
  int kind;
  void *node, *other;
};

}  // namespace

CallersStreams::Capture CudaStream::capture_of(void* callers) noexcept {
  if (!callers || queue_.device.lost()) return Capture::none;   // a lost device answers when it is asked for work
  queue_.device.make_current();
  int status = kNotCapturing;
  if (noted(driver()->stream_capturing(static_cast<StreamHandle>(callers), &status), "cuStreamIsCapturing") != Status::ok)
    return Capture::broken;
  return status == kNotCapturing ? Capture::none : status == kCapturing ? Capture::active : Capture::broken;
}

// No event leads from the own stream to the caller's or back, for these would come from outside of the graph. The first kernel does not
// start before what the caller put in front of it has ended.
void CudaStream::capture_into(void* callers) noexcept {
  queue_.redirect(callers ? static_cast<StreamHandle>(callers) : queue_.own);
  queue_.joined = into_callers_graph_ = callers != nullptr;
}

// What is captured does not run, so it need not follow what callers' streams were given, and must not: a capture that begins behind an
// event of another stream ends with the first early launch (901, driver 580 on an H200). Nothing is in front of the first kernel, which
// therefore starts as usual.
bool CudaStream::start() noexcept {
  if (const int lost = queue_.device.lost()) return noted(lost, "an earlier call"), false;
  queue_.device.make_current();
  resumed_ = queue_.stream;
  queue_.redirect(queue_.own);
  if (noted(driver()->capture_begin(queue_.own, kCaptureThreadLocal), "cuStreamBeginCapture") == Status::ok)
    return capturing_ = queue_.joined = true;
  queue_.redirect(resumed_);
  return false;
}

std::shared_ptr<const void> CudaStream::finish(std::shared_ptr<const void> previous) noexcept {
  capturing_ = false;
  queue_.redirect(resumed_);
  queue_.joined = false;
  Graph graph = nullptr;
  if (noted(driver()->capture_end(queue_.own, &graph), "cuStreamEndCapture") != Status::ok || !graph) return nullptr;
  std::shared_ptr<const void> result;
  UpdateResult differences{};
  if (previous && driver()->graph_update &&
      driver()->graph_update(static_cast<const GraphInstance*>(previous.get())->exec, graph, &differences) == kSuccess) {
    result = std::move(previous);
  } else {
    try {
      auto recorded = std::make_shared<GraphInstance>();
      recorded->device = &queue_.device;
      if (noted(driver()->graph_instantiate(&recorded->exec, graph, 0), "cuGraphInstantiate") == Status::ok) result = std::move(recorded);
    } catch (const std::bad_alloc&) {}
  }
  driver()->graph_destroy(graph);
  return result;
}

Status::Code CudaStream::replay(const void* graph) noexcept {
  if (!ready()) return Status::device;
  return noted(driver()->graph_launch(static_cast<const GraphInstance*>(graph)->exec, queue_.stream), "cuGraphLaunch");
}

Status::Code CudaStream::use_branch(int number) noexcept {
  if (number > 0 && !branches_[number - 1])
    if (const int result = driver()->stream_create(&branches_[number - 1], kStreamNonBlocking); result != kSuccess)
      return noted(result, "cuStreamCreate");
  queue_.redirect(branch(number));
  return Status::ok;
}

Status::Code CudaStream::note(int number, int moment) noexcept {
  while (static_cast<int>(moments_.size()) <= moment) {
    Event event = nullptr;
    if (const int result = driver()->event_create(&event, kEventUntimed); result != kSuccess) return noted(result, "cuEventCreate");
    try {
      moments_.push_back(event);
    } catch (const std::bad_alloc&) {
      driver()->event_destroy(event);
      return Status::out_of_memory;
    }
  }
  return noted(driver()->event_record(moments_[static_cast<std::size_t>(moment)], branch(number)), "cuEventRecord");
}

Status::Code CudaStream::follow(int number, int moment) noexcept {
  queue_.joined = true;
  return noted(driver()->stream_follow(branch(number), moments_[static_cast<std::size_t>(moment)], 0), "cuStreamWaitEvent");
}

}  // namespace tenfold::backends::cuda
