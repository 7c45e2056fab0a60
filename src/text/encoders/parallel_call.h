// The threads of one call: those of each device take pieces until all are done.
#pragma once

#include <thread>

#include "text/encoders/stage.h"

namespace tenfold::encoders {

using DeviceWorkers = std::vector<std::unique_ptr<DeviceWorker>>;

// What is thrown where every device is lost: the one's own error, or all reasons with the kind of the last.
Error all_lost(const DeviceWorkers& workers, const Error& last);

class ParallelCall {
 public:
  using Progress = std::function<void(std::size_t ready)>;  // how many texts are done
  // `pooler`: the device that makes vectors of tokens' vectors; null: each makes its own. `turn`: the device that is the first to get
  // a piece, counted round. All that is given outlives the call.
  ParallelCall(const DeviceWorkers& workers, DeviceStrategy strategy, std::size_t turn, const OutputRequest& request, const RowSink& sink,
               const LogCallback& log, DeviceWorker* pooler = nullptr);
  ~ParallelCall();  // stops what still runs
  ParallelCall(const ParallelCall&) = delete;
  ParallelCall& operator=(const ParallelCall&) = delete;

  void add(std::vector<WorkItem> pieces);
  // Returns once at most `open` pieces are not done. Throws what stopped the work.
  void wait(std::size_t open, const Progress& reported);
  void finish(const Progress& reported);

 private:
  void start_lanes();
  void end_lanes();
  void compute(std::size_t member, WorkItem& piece);
  void work(std::size_t member);
  [[noreturn]] void fail_with_why();
  const DeviceWorkers& workers_;
  const OutputRequest& request_;
  const RowSink& sink_;
  const LogCallback& log_;
  WorkQueue queue_;
  const std::size_t turn_;
  const bool shared_;             // all devices take from one queue
  std::unique_ptr<Stage> stage_;  // ends behind the threads that push into it
  WorkQueue::State known_;            // what wait() has seen and dealt with
  std::vector<int> lanes_;        // that were started, of each device
  std::vector<std::thread> threads_;
};

}  // namespace tenfold::encoders
