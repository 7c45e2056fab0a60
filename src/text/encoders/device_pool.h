// The devices of an encoder side by side: one call's texts are cut into pieces, which whoever is free computes.
#pragma once

#include <atomic>

#include "text/encoders/encoder_run.h"

namespace tenfold::encoders {

class DevicePool {
 public:
  // `samples`: ids of calibration texts, or null. Throws invalid_argument for names of devices and for wrong options.
  DevicePool(const std::shared_ptr<const Model>& model, const EncoderOptions& options, int max_tokens,
             std::shared_ptr<const Tokens> samples);
  // Gives the ids of `count` texts from `first` on.
  using Read = std::function<void(std::size_t first, std::size_t count, Tokens& out)>;
  // All texts, window by window. `call.progress` is told in the caller's thread. Of what devices throw, that comes out
  // which no other device mends.
  void compute(std::size_t texts, const OutputRequest& request, const EncodeCall& call, const Read& read, const RowSink& sink);
  void prepare(const OutputRequest& request);  // engines of all devices
  std::vector<DeviceWork> work() const;
  EncoderCounts counts() const;         // but for what was cut
  std::string fingerprint();  // of all kinds of devices that it has

 private:
  std::vector<WorkItem> items_of_window(const std::shared_ptr<const Window>& window, bool packed) const;
  bool packs(const OutputRequest& request) const;  // all devices take pieces of several lengths
  bool is_one() const;  // device, which takes any thread
  DeviceWorkers workers_;
  std::unique_ptr<DeviceWorker> pooler_;    // of a pipeline: the last device
  const DeviceStrategy strategy_;
  const LogCallback log_;
  const int max_tokens_;
  std::int64_t item_tokens_ = 0;  // of the device with the largest budget
  std::atomic<std::size_t> turn_{0};
};

}  // namespace tenfold::encoders
