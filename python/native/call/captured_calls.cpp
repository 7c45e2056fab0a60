// Calls on a stream that is being captured into a CUDA graph.
#include <atomic>
#include <mutex>

#include "native/call/call.h"
#include "tenfold/internal/capture.h"

namespace tenfold::python {
namespace {

// Runners whose graphs are gone. Graphs end in a thread of the driver's, where nothing of CUDA's may be asked.
struct Freed {
  std::mutex mutex;
  std::vector<std::unique_ptr<BoundContext>> runners;
  std::atomic<bool> any = false;
};
Freed& freed() {
  static Freed& one = *new Freed;   // graphs may end behind all statics
  return one;
}

class OfGraph {
 public:
  OfGraph(std::unique_ptr<BoundContext> runner, std::shared_ptr<std::atomic<int>> captured)
      : runner_(std::move(runner)), captured_(std::move(captured)) {
    ++*captured_;
  }
  OfGraph(const OfGraph&) = delete;
  OfGraph& operator=(const OfGraph&) = delete;
  ~OfGraph() {
    --*captured_;
    const std::lock_guard lock(freed().mutex);
    freed().runners.push_back(std::move(runner_)), freed().any = true;
  }

 private:
  std::unique_ptr<BoundContext> runner_;
  std::shared_ptr<std::atomic<int>> captured_;
};

}  // namespace

bool is_captured(const StreamChoice& stream) { return stream.given && tenfold::is_captured(stream.handle()); }

void end_freed_captures() {
  if (!freed().any.load(std::memory_order_relaxed)) return;
  std::vector<std::unique_ptr<BoundContext>> ended;
  const std::lock_guard lock(freed().mutex);
  ended.swap(freed().runners), freed().any = false;
}

nb::object capture_call(SharedEngine& state, Call& call) {
  const CaptureLeave leave;
  auto runner = std::make_unique<BoundContext>(state.engine, state.slots);
  bind_call(call, *runner, false);
  runner->context().replay_runs(false);   // the caller's graph is its recording
  if (const Status status = runner->context().prepare(); !status) runner->refuse(status);
  runner->enqueue(call.on);
  runner->ended();
  nb::object result = result_of(call, *runner);
  runner->forget();
  tenfold::keep_with_capture(call.on.handle(), std::make_shared<OfGraph>(std::move(runner), state.captured));
  return result;
}

}  // namespace tenfold::python
