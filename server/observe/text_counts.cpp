#include "observe/text_counts.h"

#include <algorithm>

namespace tenfold::server {
namespace {

constexpr std::size_t kMaxRunning = 256;         // batches of which a text never said that it ran

DurationHistogram powers_of_two(double last) {
  DurationHistogram histogram;
  for (double bound = 1; bound <= last; bound *= 2) histogram.bounds_us.push_back(bound);
  histogram.counts.resize(histogram.bounds_us.size() + 1);
  return histogram;
}

}  // namespace

TextCounts::TextCounts() {
  lengths_.counts = powers_of_two(8192), batches_.counts = powers_of_two(131072);
  tokenization_.counts.bounds_us = default_duration_bounds_us();
  tokenization_.counts.counts.resize(tokenization_.counts.bounds_us.size() + 1);
}

void TextCounts::add(Histogram& histogram, double value, std::uint64_t to_sum) {
  const std::vector<double>& bounds = histogram.counts.bounds_us;
  const auto place = std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin();
  ++histogram.counts.counts[static_cast<std::size_t>(place)];
  histogram.sum += to_sum;
}

void TextCounts::asked(bool scores, std::int64_t tokens) {
  ++(scores ? predict_ : embed_);
  const std::lock_guard lock(mutex_);
  add(lengths_, static_cast<double>(tokens), static_cast<std::uint64_t>(tokens));
}

void TextCounts::tokenized(std::chrono::nanoseconds took) {
  const std::lock_guard lock(mutex_);
  add(tokenization_, static_cast<double>(took.count()) / 1000, static_cast<std::uint64_t>(took.count()));
}

void TextCounts::ran(std::chrono::steady_clock::time_point batch_began, std::int64_t texts, std::int64_t tokens) {
  const std::lock_guard lock(mutex_);
  if (running_.size() >= kMaxRunning) running_.erase(running_.begin());
  const auto batch = running_.try_emplace(batch_began).first;
  batch->second.tokens += tokens;
  if (++batch->second.texts < texts) return;
  add(batches_, static_cast<double>(batch->second.tokens), static_cast<std::uint64_t>(batch->second.tokens));
  running_.erase(batch);
}

TextCounts::Counts TextCounts::get() const {
  const std::lock_guard lock(mutex_);
  return {embed_, embed_success_, predict_, predict_success_, lengths_, batches_, tokenization_};
}

}  // namespace tenfold::server
