#include "observe/prometheus_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tenfold::server {
namespace {

std::string text_of(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace

std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else
      out += c;
  }
  return out;
}

bool is_label(std::string_view name) {
  if (name.empty() || name.starts_with("__") || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char* own : {"model", "version", "le", "reason", "from", "to", "quantile", "err"})
    if (name == own) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

void PrometheusText::family(std::string_view name, std::string_view type, std::string_view help) {
  ((out_ += "# HELP ").append(name) += ' ').append(help) += '\n';
  ((out_ += "# TYPE ").append(name) += ' ').append(type) += '\n';
}

template <class Number>
void PrometheusText::line(std::string_view name, std::string_view suffix, std::string_view labels, std::string_view last_label,
                          Number value) {
  out_.append(name).append(suffix);
  if (!labels.empty() || !last_label.empty()) {
    (out_ += '{').append(labels);
    if (!labels.empty() && !last_label.empty()) out_ += ',';
    out_.append(last_label) += '}';
  }
  char digits[32];
  digits[0] = ' ';
  char* end = std::to_chars(digits + 1, digits + sizeof digits - 1, value).ptr;
  *end++ = '\n';
  out_.append(digits, end);
}
template void PrometheusText::line(std::string_view, std::string_view, std::string_view, std::string_view, std::uint64_t);
template void PrometheusText::line(std::string_view, std::string_view, std::string_view, std::string_view, double);

const std::vector<std::string>& PrometheusText::bound_labels(const std::vector<double>& bounds_us, double unit) {
  if (labeled_unit_ == unit && labeled_bounds_ == bounds_us) return bound_labels_;
  labeled_unit_ = unit, labeled_bounds_ = bounds_us;
  bound_labels_.clear();
  // Divided where it can be: 50 * 1e-6 is 0.000049999999999999996.
  for (const double bound : bounds_us)
    bound_labels_.push_back("le=\"" + text_of(unit < 1 ? bound / std::round(1 / unit) : bound * unit) + "\"");
  return bound_labels_;
}

void PrometheusText::histogram(std::string_view name, std::string_view labels, const DurationHistogram& histogram, std::uint64_t sum_ns,
                               double unit) {
  const std::vector<std::string>& bounds = bound_labels(histogram.bounds_us, unit);
  std::string start = std::string(name) + "_bucket{" + std::string(labels) + (labels.empty() ? "" : ",");
  constexpr std::size_t kAround = 64;  // the bound, the count and what stands between them
  lines_.resize((start.size() + kAround) * (bounds.size() + 1));
  char* at = lines_.data();
  std::uint64_t until = 0;
  const auto put = [&at](std::string_view text) { at = std::copy(text.begin(), text.end(), at); };
  for (std::size_t i = 0; i <= bounds.size(); ++i) {
    until += histogram.counts[i];
    put(start), put(i < bounds.size() ? std::string_view(bounds[i]) : "le=\"+Inf\""), put("} ");
    at = std::to_chars(at, at + kAround, until).ptr;
    *at++ = '\n';
  }
  out_.append(lines_.data(), at);
  line(name, "_sum", labels, "", static_cast<double>(sum_ns) / 1000 * unit);
  line(name, "_count", labels, "", until);
}

}  // namespace tenfold::server
