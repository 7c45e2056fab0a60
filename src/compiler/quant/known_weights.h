// KnownWeights: what constants became as 8 bits, so that trials of ranges, which change none of them, find their scales once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>

#include "base/files/hash.h"
#include "quant/weights/channels.h"

namespace tenfold::quant {

// Threads may share one. Weights are told apart by their bytes, for clones of a graph and scaled channels make tensors anew.
class KnownWeights {
 public:
  // As quantize_weights() makes them.
  QuantizedWeights of(const Tensor& weights, int axis, WeightForm form) {
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(weights.raw()), static_cast<std::size_t>(weights.bytes()));
    const Key key{hash64(bytes), weights.shape(), axis, form};
    {
      const std::lock_guard lock(mutex_);
      if (const auto at = known_.find(key); at != known_.end()) return at->second;
    }
    QuantizedWeights made = quantize_weights(weights, axis, form);
    const std::lock_guard lock(mutex_);
    constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;
    if (bytes_ + made.values.bytes() <= kMaxBytes && known_.emplace(key, made).second) bytes_ += made.values.bytes();
    return made;
  }

 private:
  using Key = std::tuple<std::uint64_t, Shape, int, WeightForm>;
  std::mutex mutex_;
  std::map<Key, QuantizedWeights> known_;
  std::int64_t bytes_ = 0;
};

}  // namespace tenfold::quant
