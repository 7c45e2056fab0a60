#include "core/response_cache.h"

namespace tenfold::server {
namespace {

constexpr std::size_t kOverhead = 256;           // of an entry, beside tensors and the key

std::size_t bytes_of(const std::vector<InferOutput>& outputs) {
  std::size_t bytes = kOverhead;
  for (const InferOutput& output : outputs) {
    bytes += sizeof output + output.bytes.size + output.name.size() + output.shape.size() * sizeof(std::int64_t);
    for (const std::string& text : output.strings) bytes += sizeof text + text.capacity();
  }
  return bytes;
}

}  // namespace

ResponseCache::Outputs ResponseCache::find(const CacheKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(&key);
  if (found == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->outputs;
}

void ResponseCache::remove(std::list<Entry>::iterator entry) {
  bytes_ -= entry->bytes;
  places_.erase(&entry->key);
  entries_.erase(entry);
}

void ResponseCache::add(CacheKey key, Outputs outputs) {
  const std::size_t bytes = bytes_of(*outputs) + key.bytes();
  if (bytes > most_) return;
  const std::lock_guard lock(mutex_);
  if (places_.contains(&key)) return;            // another request with it came first
  for (; bytes_ + bytes > most_; ++evicted_) remove(std::prev(entries_.end()));
  entries_.push_front({std::move(key), std::move(outputs), bytes});
  places_[&entries_.front().key] = entries_.begin();
  bytes_ += bytes;
}

ResponseCache::Size ResponseCache::size() const {
  const std::lock_guard lock(mutex_);
  return {entries_.size(), bytes_, most_, evicted_};
}

}  // namespace tenfold::server
