// Masks of our own in the forms that graphs have them, and attention that is one node over a cache that lies in place.
#pragma once

#include <map>
#include <tuple>

#include "text/decoders/cached_attention.h"

namespace tenfold::decoders::onnx {

class Attentions {
 public:
  Attentions(const transformers::Blocks& blocks, CachedAttention& cached) : blocks_(blocks), net_(blocks.net), cached_(cached) {}
  // [batch, 1, tokens, total]; booleans say whether a token sees a key (`visible`) or not, floats are added to scores.
  NetworkTensor mask(std::int64_t window, DType type, bool visible);
  NetworkTensor apart(NetworkTensor rows, std::int64_t heads, std::int64_t size) const;   // [batch, heads, tokens, size], if they are not
  // Says what an Attention with past_key and past_value reads instead.
  void reads(NetworkNodeRef node, bool keys, NetworkTensor all);
  // Says that `narrow` is the cache `all` in the file's own type. Where a node of attention reads it, that computes in the cache's.
  void converts(NetworkTensor narrow, NetworkTensor all) { caches_[narrow.index] = all; }
  // Each Attention that reads a cache or continues one itself, and FusedAttention where types differ.
  void replace_nodes();

 private:
  struct Read { NetworkNodeRef node; NetworkTensor keys, values; };
  void find_readers();
  void replace(const Read& read);
  NetworkTensor mask_of(const NetworkNodeInfo& node);
  const transformers::Blocks& blocks_;
  Network& net_;
  CachedAttention& cached_;
  std::map<std::tuple<std::int64_t, DType, bool>, NetworkTensor> masks_;
  std::map<std::int32_t, NetworkTensor> caches_;   // as far as they are read, by what stands for them in the graph
  std::map<std::int32_t, Read> reads_;             // by node
};

}  // namespace tenfold::decoders::onnx
