// Attention over a cache of keys and values that lies in the caller's memory: a run writes its tokens' rows and reads those in front.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tenfold/network.h"
#include "text/transformers/blocks.h"

namespace tenfold::decoders {

// A tensor of [batch, heads, capacity, size] that a run continues in place.
struct CacheState {
  std::string past, present;  // the names of its bindings: "past.N.key", "present.N.key"
  DType type = DType::f32;
  std::int64_t size = 0;
};

struct CacheSizes {
  std::int64_t layers = 0, heads = 0, size = 0;   // heads of keys and values; elements of a head
  std::int64_t capacity = 0;                      // tokens of a sequence
  DType type = DType::f32;                        // of the keys and values in it; i8: each row has a scale, "past.N.key_scale"
  std::vector<CacheState> states(std::int64_t layer) const;
  std::vector<CacheState> states() const;             // of all layers
  std::int64_t bytes(const CacheState& state) const;  // of one sequence
  std::int64_t bytes() const;                         // of all states; throws invalid_argument where no memory can be so large
};

// The names of a layer's keys or values among the bindings.
std::string past_name(std::int64_t layer, bool values);
std::string present_name(std::int64_t layer, bool values);

// Inputs that it adds: "start", i64[batch]: where the tokens of this run go; "keys", bool[total], whose extent says how many places are
// read; for each layer its states. Rows behind a sequence's last token may hold anything that is finite: no query sees them.
class CachedAttention {
 public:
  CachedAttention(const transformers::Blocks& blocks, const CacheSizes& sizes, NetworkTensor positions);
  // Softmax(scale q k^T) v, [batch, tokens, heads * size], of q [batch, heads, tokens, size] and the cache with k and v, which are
  // [batch, sizes.heads, tokens, size]. A query sees its own and earlier places; `window` above 0: that many of them.
  NetworkTensor attend(std::int64_t layer, NetworkTensor q, NetworkTensor k, NetworkTensor v, std::int64_t heads, float scale,
                       std::int64_t window = 0);
  // Its parts, for graphs that have an attention of their own. First the cache with rows [batch, heads, tokens, size] in it, as far as it
  // is read: [batch, heads, total, size].
  NetworkTensor continued(std::int64_t layer, bool values, NetworkTensor rows);
  NetworkTensor hidden(std::int64_t window);   // bool[batch, 1, tokens, total]: whether a token does not see a key
  NetworkTensor mask(std::int64_t window);     // what is added to scores: minus infinity there, or 0; layers of one window share it
  NetworkTensor start() const { return start_; }     // i64[batch]
  NetworkTensor total() const { return total_; }     // i64[1]
  NetworkTensor places() const { return places_; }   // i32[total]: 0, 1, ...
  std::int64_t capacity() const { return sizes_.capacity; }

 private:
  NetworkTensor cast(NetworkTensor x, DType type) const;
  NetworkTensor continued(const CacheState& state, NetworkTensor rows);
  DType computed() const { return sizes_.type == DType::i8 ? DType::f32 : sizes_.type; }  // of the attention
  const transformers::Blocks& blocks_;
  CacheSizes sizes_;
  NetworkTensor positions_, start_, total_, places_;
  std::map<std::int64_t, NetworkTensor> hidden_, masks_;   // by window
};

}  // namespace tenfold::decoders
