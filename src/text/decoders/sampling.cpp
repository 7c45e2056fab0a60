#include "text/decoders/sampling.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "text/fail.h"

namespace tenfold::decoders {

using tokenizing::fail;

namespace {

void need(bool right, const char* field, double value, const char* expected) {
  if (!right)
    fail(ErrorKind::invalid_argument,
         "sampling: " + std::string(field) + " is " + std::to_string(value) + ", " + expected + " was expected");
}

// Equal logits: the lower id first, as argmax has it.
bool before(const std::pair<float, std::int32_t>& a, const std::pair<float, std::int32_t>& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

}  // namespace

void check(const Sampling& s) {
  need(s.temperature >= 0 && std::isfinite(s.temperature), "temperature", s.temperature, "0 or a finite number above it");
  need(s.top_k >= 0, "top_k", s.top_k, "0 or more");
  need(s.top_p > 0 && s.top_p <= 1, "top_p", s.top_p, "a number above 0, at most 1");
  need(s.min_p >= 0 && s.min_p <= 1, "min_p", s.min_p, "a number from 0 to 1");
  need(s.repetition_penalty > 0 && std::isfinite(s.repetition_penalty), "repetition_penalty", s.repetition_penalty,
       "a finite number above 0");
}

// Each token once, however often the sequence has it.
void Sampler::penalize(std::span<float> logits, std::span<const std::int32_t> ids) const {
  std::vector<std::int32_t> seen(ids.begin(), ids.end());
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (const std::int32_t id : seen) {
    float& logit = logits[static_cast<std::size_t>(id)];
    logit = logit > 0 ? logit / sampling_.repetition_penalty : logit * sampling_.repetition_penalty;
  }
}

// Shares of the largest logit's probability, in the order of order_; how many of them stay.
std::size_t Sampler::weigh(float largest) {
  shares_.clear();
  double sum = 0, reached = 0;
  for (const auto& [logit, id] : order_)
    sum += shares_.emplace_back(std::exp((static_cast<double>(logit) - largest) / sampling_.temperature));
  if (sampling_.top_p == 1 && sampling_.min_p == 0) return shares_.size();
  std::size_t count = 0;
  for (; count < shares_.size() && reached < sampling_.top_p * sum; ++count) reached += shares_[count];
  while (count > 1 && shares_[count - 1] < sampling_.min_p) --count;
  return count;
}

std::int32_t Sampler::draw(std::span<const float> logits, float largest) {
  order_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (!std::isnan(logits[i])) order_.emplace_back(logits[i], static_cast<std::int32_t>(i));
  if (sampling_.top_k > 0 && order_.size() > static_cast<std::size_t>(sampling_.top_k)) {
    std::nth_element(order_.begin(), order_.begin() + sampling_.top_k - 1, order_.end(), before);
    order_.resize(static_cast<std::size_t>(sampling_.top_k));
  }
  if (sampling_.top_k > 0 || sampling_.top_p < 1 || sampling_.min_p > 0) std::sort(order_.begin(), order_.end(), before);
  const std::size_t count = weigh(largest);
  double kept = 0;
  for (std::size_t i = 0; i < count; ++i) kept += shares_[i];
  double at = static_cast<double>(random_() >> 11) * 0x1p-53 * kept;   // the generator's 53 highest bits, in [0, 1)
  for (std::size_t i = 0; i + 1 < count; ++i)
    if ((at -= shares_[i]) < 0) return order_[i].second;
  return order_[count - 1].second;
}

std::int32_t Sampler::next(std::span<float> logits, std::span<const std::int32_t> ids) {
  if (sampling_.repetition_penalty != 1) penalize(logits, ids);
  std::size_t best = logits.size();
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (!std::isnan(logits[i]) && (best == logits.size() || logits[i] > logits[best])) best = i;
  if (best == logits.size()) fail(ErrorKind::invalid_argument, "all logits are NaN: no token can be chosen");
  if (sampling_.temperature == 0 || std::isinf(logits[best])) return static_cast<std::int32_t>(best);
  return draw(logits, logits[best]);
}

}  // namespace tenfold::decoders
