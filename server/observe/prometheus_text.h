// Prometheus' text form of metrics, appended fast: a scrape of 1,000 models has 100,000 lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/serving/duration_histogram.h"

namespace tenfold::server {

// A label's value: `"` and `\` and line ends are escaped.
std::string label_value(std::string_view text);

// Whether Prometheus takes it as the name of a label, and it is none of the server's own.
bool is_label(std::string_view name);

class PrometheusText {
 public:
  explicit PrometheusText(std::size_t expected_bytes = 0) { out_.reserve(expected_bytes); }
  void family(std::string_view name, std::string_view type, std::string_view help);
  // `labels` are without braces; empty: there are none. `last_label` is one more of them.
  void sample(std::string_view name, std::string_view labels, std::uint64_t value) { line(name, "", labels, "", value); }
  void sample(std::string_view name, std::string_view labels, double value) { line(name, "", labels, "", value); }
  void sample(std::string_view name, std::string_view labels, std::string_view last_label, std::uint64_t value) {
    line(name, "", labels, last_label, value);
  }
  // The lines of one histogram. Bounds and the sum are multiplied by `unit`: 1: microseconds, 1e-6: seconds.
  void histogram(std::string_view name, std::string_view labels, const DurationHistogram& histogram, std::uint64_t sum_ns, double unit = 1);
  std::string take() { return std::move(out_); }

 private:
  template <class Number>
  void line(std::string_view name, std::string_view suffix, std::string_view labels, std::string_view last_label, Number value);
  const std::vector<std::string>& bound_labels(const std::vector<double>& bounds_us, double unit);

  std::string out_;
  std::vector<double> labeled_bounds_;  // those of `bound_labels_`: most histograms have the same
  double labeled_unit_ = 0;
  std::vector<std::string> bound_labels_;
  std::string lines_;  // of one histogram
};

}  // namespace tenfold::server
