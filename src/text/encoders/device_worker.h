// A device of an encoder: its engines, what it has done, and whether it still works. Thread safe.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

#include "text/encoders/batches.h"
#include "text/encoders/engines.h"
#include "text/encoders/places.h"

namespace tenfold::encoders {

// What no other device mends ends a call; for what these kinds say, another one takes over.
bool may_work_elsewhere(ErrorKind kind);

// Takes the rows of a text, by its number in the call. Called by several threads at once, for different texts.
using RowSink = std::function<void(std::size_t text, std::span<const float> rows)>;

class DeviceWorker {
 public:
  DeviceWorker(DevicePlace place, std::shared_ptr<const Model> model, EncoderOptions options, int max_tokens, PrecisionWish precision,
       std::shared_ptr<EngineCache> cache);
  const DevicePlace& place() const { return place_; }
  // Threads that give it work: on a GPU one copies while the other's runs compute.
  int lanes() const { return place_.on_gpu() ? 2 : 1; }
  std::int64_t batch_tokens() const { return engines_.batch_tokens(); }
  bool packs(const OutputRequest& request) const { return engines_.packs(request); }  // it takes pieces of several lengths
  // To be called on a thread that keep_to() has put in its place.
  void prepare(const OutputRequest& request);
  std::string fingerprint() { return engines_.fingerprint(); }
  void run(const WorkItem& piece, const OutputRequest& request, const RowSink& sink);

  // Vectors of the rows of a piece's tokens, one text behind the other.
  void pool(const WorkItem& piece, std::span<const float> tokens, const OutputRequest& request, const RowSink& sink);

  DeviceWork work() const;
  double speed() const;  // tokens a second so far; 1 before the first
  bool lost() const;
  bool lose(const std::string& why);  // false: it was lost before
  void restore();                     // it is tried again

 private:
  void count(const WorkItem& piece, std::chrono::steady_clock::time_point begin);
  template <class Work>
  void within_memory(const Work& work);  // again with smaller batches after out_of_memory
  void run_some(const Tokens& tokens, std::span<const std::size_t> texts, std::size_t first, PooledContext& runner,
                const OutputRequest& request, const RowSink& sink);
  const DevicePlace place_;
  const int max_tokens_;
  Engines engines_;
  std::atomic<std::int64_t> texts_{0}, tokens_{0}, runs_{0}, microseconds_{0};
  mutable std::mutex mutex_;
  std::string lost_;  // why; empty: it works
};

// Marks a device as lost, and tells so once; `others`: whether there are any that take its work.
void lose(DeviceWorker& worker, const Error& why, bool others, const LogCallback& log);

}  // namespace tenfold::encoders
