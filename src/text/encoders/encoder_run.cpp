#include "text/encoders/encoder_run.h"

#include <chrono>

namespace tenfold::encoders {

std::vector<serving::PoolDevice*> devices_of(const DeviceWorkers& workers) {
  std::vector<serving::PoolDevice*> devices;
  for (const auto& worker : workers) devices.push_back(worker.get());
  return devices;
}

EncoderRun::EncoderRun(const DeviceWorkers& workers, DeviceStrategy strategy, std::size_t turn, const OutputRequest& request,
                       const EncodeCall& call, const RowSink& sink, const LogCallback& log, DeviceWorker* pooler)
    : workers_(workers),
      request_(request),
      options_(call),
      sink_(sink),
      queue_(strategy, serving::members_of(devices_of(workers), strategy), turn),
      stage_(pooler && !pooler->lost() ? std::make_unique<Stage>(*pooler, request, call, sink, queue_, log) : nullptr),
      call_(
          devices_of(workers), queue_, turn, [this](std::size_t member, WorkItem& piece) { return compute(member, piece); }, log) {}

bool EncoderRun::compute(std::size_t member, WorkItem& piece) {
  if (!stage_ || !stage_->usable()) {
    workers_[member]->run(piece, request_, options_, sink_);
    return true;
  }
  const auto begin = std::chrono::steady_clock::now();
  std::vector<float> tokens;
  const RowSink keep = [&](std::size_t, std::span<const float> rows) { tokens.insert(tokens.end(), rows.begin(), rows.end()); };
  workers_[member]->run(piece, {.output = OutputRequest::tokens}, options_, keep);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  stage_->push(member, std::move(piece), std::move(tokens), took.count());
  return false;
}

}  // namespace tenfold::encoders
