// A stream of one GPU, as the runtime sees it.
#pragma once

#include <vector>

#include "backends/stream.h"
#include "backends/cuda/device/queue.h"

namespace tenfold::backends::cuda {

class CudaStream final : public Stream, public GraphCapturer, public CallersStreams {
 public:
  explicit CudaStream(Device& device);
  ~CudaStream() override;
  Parallel& parallel() noexcept override { return serial_; }
  Status::Code launch(const Tactic& tactic, const void* kernel, const RunArgs& args) noexcept override;
  Status::Code copy(void* to, const void* from, std::int64_t bytes) noexcept override;
  Status::Code fill(void* to, int byte, std::int64_t bytes) noexcept override;
  Status::Code wait() noexcept override;
  void wait_how(Wait how) noexcept override { how_ = how; }
  std::string_view error() const noexcept override { return error_; }
  void mark(int moment) noexcept override;
  double between(int first, int last) const noexcept override;
  GraphCapturer* capturer() noexcept override { return this; }
  CallersStreams* callers() noexcept override { return this; }

  bool use(void* callers) noexcept override;
  Capture capture_of(void* callers) noexcept override;
  void capture_into(void* callers) noexcept override;
  Status::Code note_end() noexcept override;
  Status::Code wait_end() noexcept override;

  bool start() noexcept override;
  std::shared_ptr<const void> finish(std::shared_ptr<const void> previous = nullptr) noexcept override;
  Status::Code replay(const void* graph) noexcept override;
  int branches() const noexcept override { return kBranches; }
  Status::Code use_branch(int branch) noexcept override;
  Status::Code note(int branch, int moment) noexcept override;
  Status::Code follow(int branch, int moment) noexcept override;

 private:
  static constexpr int kBranches = 4;
  bool ready() noexcept;                       // the device is not lost, and the own stream follows what callers' streams were given
  Status::Code noted(int result, const char* call) noexcept;
  int wait_for_work() noexcept;
  void follow_callers(StreamHandle stream) noexcept;
  bool take_bad_index() noexcept;
  bool copy_staged(void* to, const void* from, std::int64_t bytes, Status::Code& code) noexcept;
  StreamHandle branch(int number) noexcept { return number == 0 ? queue_.own : branches_[number - 1]; }

  Queue queue_;
  Serial serial_;
  Wait how_ = Wait::spin_shortly;
  char error_[kErrorText] = "";                // the driver's words for its last result that was no success
  Event marks_[4] = {};
  Event done_ = nullptr;                       // behind the work that the stream used last was given
  Event end_ = nullptr;                        // see note_end(); made when it is first used
  bool own_has_work_ = false, callers_have_work_ = false;
  bool capturing_ = false;                     // between start() and finish(): nothing runs
  bool into_callers_graph_ = false;            // see capture_into()
  StreamHandle resumed_ = nullptr;             // where work goes again behind finish()
  StreamHandle unnoted_ = nullptr;             // the default stream, where done_ is yet to be recorded behind its work
  StreamHandle branches_[kBranches - 1] = {};        // made when they are first used
  std::vector<Event> moments_;                     // of branches, by number
};

}  // namespace tenfold::backends::cuda
