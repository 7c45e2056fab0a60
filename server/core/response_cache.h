// Answers of models, by what was asked, in a fixed number of bytes: the one unused for longest goes first.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/inference.h"

namespace tenfold::server {

// What was asked. Equal keys are equal requests: bytes are compared up to kComparedBytes; of more, a hash of 128 bits whose secret is this
// process's own.
class CacheKey {
 public:
  static constexpr std::size_t kComparedBytes = 4096;
  CacheKey() = default;
  // `request` is checked, so its inputs are in the order of the model's.
  CacheKey(const Model& model, const InferRequest& request);
  bool operator==(const CacheKey&) const = default;
  std::size_t bytes() const { return text_.size(); }
  struct Hash {
    std::size_t operator()(const CacheKey& key) const { return static_cast<std::size_t>(key.low_); }
  };

 private:
  std::uint64_t low_ = 0, high_ = 0;
  std::string text_;                             // empty: it is long
};

// Thread safe.
class ResponseCache {
 public:
  explicit ResponseCache(std::size_t bytes) : most_(bytes) {}
  using Outputs = std::shared_ptr<const std::vector<InferOutput>>;
  Outputs find(const CacheKey& key);             // null: it is not there
  void add(CacheKey key, Outputs outputs);       // one that is larger than the cache is not kept

  struct Size {
    std::size_t entries = 0, bytes = 0, max_bytes = 0;
    std::uint64_t evicted = 0;
  };
  Size size() const;

 private:
  struct Entry {
    CacheKey key;
    Outputs outputs;
    std::size_t bytes;
  };
  struct KeyHash {
    std::size_t operator()(const CacheKey* key) const { return CacheKey::Hash()(*key); }
  };
  struct KeyEqual {
    bool operator()(const CacheKey* a, const CacheKey* b) const { return *a == *b; }
  };
  void remove(std::list<Entry>::iterator entry);

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;                     // the last used first
  std::unordered_map<const CacheKey*, std::list<Entry>::iterator, KeyHash, KeyEqual> places_;
  std::size_t bytes_ = 0;
  std::uint64_t evicted_ = 0;
};

}  // namespace tenfold::server
