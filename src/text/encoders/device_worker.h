// A device of an encoder: its engines, what it has done, and whether it still works. Thread safe.
#pragma once

#include <atomic>
#include <functional>

#include "device_pool/pool_device.h"
#include "text/encoders/batches.h"
#include "text/encoders/engines.h"

namespace tenfold::encoders {

// Takes the rows of a text, by its number in the call. Called by several threads at once, for different texts.
using RowSink = std::function<void(std::size_t text, std::span<const float> rows)>;

class DeviceWorker : public serving::PoolDevice {
 public:
  DeviceWorker(serving::DevicePlace place, std::shared_ptr<const Model> model, EncoderOptions options, int max_tokens,
               PrecisionWish precision, std::shared_ptr<EngineCache> cache);
  std::int64_t batch_tokens() const { return engines_.batch_tokens(); }
  bool packs(const OutputRequest& request) const { return engines_.packs(request); }  // it takes pieces of several lengths
  // To be called on a thread that keep_to() has put in its place.
  void prepare(const OutputRequest& request);
  std::string fingerprint() { return engines_.fingerprint(); }
  void run(const WorkItem& piece, const OutputRequest& request, const EncodeCall& call, const RowSink& sink);

  // Vectors of the rows of a piece's tokens, one text behind the other.
  void pool(const WorkItem& piece, std::span<const float> tokens, const OutputRequest& request, const EncodeCall& call,
            const RowSink& sink);

  DeviceWork work() const;

 private:
  template <class Work>
  void within_memory(const Work& work);  // again with smaller batches after out_of_memory
  void run_some(const Tokens& tokens, std::span<const std::size_t> texts, std::size_t first, PooledContext& runner,
                const OutputRequest& request, const EncodeCall& call, const RowSink& sink);
  const int max_tokens_;
  Engines engines_;
  std::atomic<std::int64_t> runs_{0};
};

}  // namespace tenfold::encoders
