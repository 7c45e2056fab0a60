// One call of an encoder on several devices: device_pool's threads, with a pipeline's last stage beside them.
#pragma once

#include "device_pool/parallel_call.h"
#include "text/encoders/stage.h"

namespace tenfold::encoders {

using DeviceWorkers = std::vector<std::unique_ptr<DeviceWorker>>;

std::vector<serving::PoolDevice*> devices_of(const DeviceWorkers& workers);

class EncoderRun {
 public:
  using Progress = serving::ParallelCall<WorkItem>::Progress;  // counts texts
  // `pooler`: the device that makes vectors of tokens' vectors; null: each makes its own. `turn`: the device that is the first to get
  // a piece, counted round. All that is given outlives the call.
  EncoderRun(const DeviceWorkers& workers, DeviceStrategy strategy, std::size_t turn, const OutputRequest& request,
               const EncodeCall& call, const RowSink& sink, const LogCallback& log, DeviceWorker* pooler = nullptr);

  void add(std::vector<WorkItem> pieces) { call_.add(std::move(pieces)); }
  void wait(std::size_t open, const Progress& progress) { call_.wait(open, progress); }   // as serving::ParallelCall's
  void finish(const Progress& progress) { call_.finish(progress); }

 private:
  bool compute(std::size_t member, WorkItem& piece);
  const DeviceWorkers& workers_;
  const OutputRequest& request_;
  const EncodeCall& options_;
  const RowSink& sink_;
  serving::WorkQueue<WorkItem> queue_;
  std::unique_ptr<Stage> stage_;
  serving::ParallelCall<WorkItem> call_;   // ends first: its threads push into the stage
};

}  // namespace tenfold::encoders
