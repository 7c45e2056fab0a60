// The last stage of a pipeline: what makes vectors of tokens' vectors, on a device and a thread of its own.
#pragma once

#include <thread>

#include "text/encoders/device_worker.h"

namespace tenfold::encoders {

// Where its device fails, pieces go back to the queue, for the devices in front of it to compute as a whole.
class Stage {
 public:
  // All that is given outlives the stage.
  Stage(DeviceWorker& worker, const OutputRequest& request, const EncodeCall& call, const RowSink& sink,
        serving::WorkQueue<WorkItem>& queue, const LogCallback& log);
  ~Stage();  // behind the last push()
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  bool usable() const { return !worker_.lost(); }
  // `tokens`: the rows of all tokens of the piece, which `member` computed in so many seconds. Waits while the stage has
  // enough to do.
  void push(std::size_t member, WorkItem piece, std::vector<float> tokens, double seconds);

 private:
  struct Work {
    std::size_t member = 0;
    WorkItem piece;
    std::vector<float> tokens;
    double seconds = 0;
  };
  void run();
  void finish(Work work);
  DeviceWorker& worker_;
  const OutputRequest& request_;
  const EncodeCall& call_;
  const RowSink& sink_;
  serving::WorkQueue<WorkItem>& work_queue_;
  const LogCallback& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> queue_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace tenfold::encoders
