// A stream of one GPU, as the runtime sees it.
#pragma once

#include "backends/backend.h"
#include "backends/cuda/device/queue.h"

namespace tenfold::backends::cuda {

class CudaStream final : public Stream {
 public:
  explicit CudaStream(Device& device);
  ~CudaStream() override;
  Parallel& parallel() noexcept override { return serial_; }
  Status::Code launch(const Tactic& tactic, const void* kernel, const RunArgs& args) noexcept override;
  Status::Code copy(void* to, const void* from, std::int64_t bytes) noexcept override;
  Status::Code fill(void* to, int byte, std::int64_t bytes) noexcept override;
  Status::Code wait() noexcept override;
  bool start_recording() noexcept override;
  std::shared_ptr<const void> finish_recording() noexcept override;
  Status::Code replay(const void* recording) noexcept override;
  void mark(int moment) noexcept override;
  double between(int first, int last) const noexcept override;
  std::string_view error() const noexcept override;

 private:
  Queue queue_;
  Status::Code noted(int result) noexcept;
  Serial serial_;
  char error_[kErrorText] = "";  // the driver's words for its last result that was no success
  Event marks_[4] = {};
};

}  // namespace tenfold::backends::cuda
