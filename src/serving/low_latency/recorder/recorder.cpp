// Recording, and what is asked of the recorded.
#include "low_latency/recorder/recorder.h"

#include <cmath>

namespace tenfold {

using namespace low_latency;

LatencyRecorder::LatencyRecorder() : state_(std::make_unique<State>()) {}
LatencyRecorder::~LatencyRecorder() = default;
LatencyRecorder::LatencyRecorder(LatencyRecorder&&) noexcept = default;
LatencyRecorder& LatencyRecorder::operator=(LatencyRecorder&&) noexcept = default;

void LatencyRecorder::record(std::int64_t ns) noexcept {
  State& s = *state_;
  ns = std::clamp(ns, std::int64_t{1}, kLongest);
  ++s.counts[static_cast<std::size_t>(bucket_of(ns))];
  ++s.count;
  s.min = std::min(s.min, ns), s.max = std::max(s.max, ns);
}
void LatencyRecorder::record(std::span<const std::int64_t> ns) noexcept {
  for (const std::int64_t one : ns) record(one);
}

void LatencyRecorder::add(const LatencyRecorder& other) noexcept {
  State& s = *state_;
  const State& o = *other.state_;
  for (std::size_t i = 0; i < s.counts.size(); ++i) s.counts[i] += o.counts[i];
  s.count += o.count;
  s.min = std::min(s.min, o.min), s.max = std::max(s.max, o.max);
}
void LatencyRecorder::clear() noexcept { *state_ = {}; }

std::uint64_t LatencyRecorder::count() const noexcept { return state_->count; }
std::int64_t LatencyRecorder::min() const noexcept { return state_->count ? state_->min : 0; }
std::int64_t LatencyRecorder::max() const noexcept { return state_->max; }

namespace {
template <class State, class F>
double sum(const State& s, const F& f) {
  double total = 0;
  for (int i = 0; i < kBuckets; ++i)
    if (const std::uint64_t n = s.counts[static_cast<std::size_t>(i)]; n != 0)
      total += static_cast<double>(n) * f(static_cast<double>(begin_of(i) + width_of(i) / 2));
  return total;
}
}  // namespace

double LatencyRecorder::mean() const noexcept {
  return count() ? sum(*state_, [](double v) { return v; }) / static_cast<double>(count()) : 0;
}
double LatencyRecorder::standard_deviation() const noexcept {
  if (!count()) return 0;
  const double middle = mean();
  return std::sqrt(sum(*state_, [&](double v) { return (v - middle) * (v - middle); }) / static_cast<double>(count()));
}

std::int64_t LatencyRecorder::percentile(double percent) const noexcept {
  const State& s = *state_;
  if (s.count == 0 || std::isnan(percent)) return 0;
  // Rounding in the division must not ask for one more than there are.
  const double share = std::nextafter(std::clamp(percent, 0.0, 100.0), -1.0) / 100;
  const auto requested = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(s.count))), 1, s.count);
  std::uint64_t seen = 0;
  for (int i = 0; i < kBuckets; ++i)
    if ((seen += s.counts[static_cast<std::size_t>(i)]) >= requested) return std::min(begin_of(i) + width_of(i) - 1, s.max);
  return s.max;
}
std::int64_t LatencyRecorder::bucket_width(std::int64_t ns) noexcept {
  return width_of(bucket_of(std::clamp(ns, std::int64_t{1}, kLongest)));
}

}  // namespace tenfold
