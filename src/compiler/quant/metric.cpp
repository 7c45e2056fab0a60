#include "quant/metric.h"

#include <algorithm>
#include <random>
#include <string>

#include "tenfold/error.h"

namespace tenfold::quant {

Metric metric_cosine();
Metric metric_l2();
Metric metric_linf();
Metric metric_top1();
Metric metric_top5();

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all{metric_cosine(), metric_l2(), metric_linf(), metric_top1(), metric_top5()};
  return all;
}

const Metric& metric(std::string_view name) {
  std::string names;
  for (const Metric& m : metrics()) {
    if (m.name == name) return m;
    names += (names.empty() ? "" : ", ") + std::string(m.name);
  }
  throw Error(ErrorKind::invalid_argument, "there is no metric '" + std::string(name) + "'; there are " + names);
}

Estimate estimate(const Metric& metric, const std::vector<SampleError>& samples) {
  constexpr int kDraws = 1000;
  constexpr std::size_t kLow = 25, kHigh = 974;  // of the draws in order: 2.5 % and 97.5 %
  Estimate e{metric.over(samples)};
  e.low = e.high = e.value;
  if (samples.size() < 2) return e;
  std::mt19937_64 random(1);
  std::vector<double> values;
  std::vector<SampleError> drawn(samples.size());
  for (int i = 0; i < kDraws; ++i) {
    for (SampleError& one : drawn) one = samples[random() % samples.size()];
    values.push_back(metric.over(drawn));
  }
  std::sort(values.begin(), values.end());
  e.low = values[kLow], e.high = values[kHigh];
  return e;
}

double ratio(const std::vector<SampleError>& samples) {
  SampleError sum;
  for (const SampleError& one : samples) sum.error += one.error, sum.size += one.size;
  return sum.error == 0 ? 0 : sum.error / sum.size;  // infinite where nothing was wanted and something came
}

Rows::Rows(const Tensor& t) : length(t.shape().empty() ? 1 : t.shape().back()) { count = length == 0 ? 0 : t.size() / length; }

bool is_placed(const Tensor& t, std::int64_t row, std::int64_t label, int places) {
  const std::int64_t length = Rows(t).length, first = row * length;
  const double its = t.as_double(first + label);
  int ahead = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const double other = t.as_double(first + i);
    ahead += other > its || (other == its && i < label);
  }
  return its == its && ahead < places;
}

SampleError misplaced(const Tensor& got, const Tensor& expected, int places) {
  const Rows rows(expected);
  SampleError sum{0, static_cast<double>(rows.count)};
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const std::int64_t first = r * rows.length;
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < rows.length; ++i)
      if (expected.as_double(first + i) > expected.as_double(first + best)) best = i;
    sum.error += !is_placed(got, r, best, places);
  }
  return sum;
}

}  // namespace tenfold::quant
