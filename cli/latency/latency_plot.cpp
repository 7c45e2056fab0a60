// A picture of latencies: time over percentiles, and the worst of each part of the run.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "latency/latency.h"

namespace tenfold::cli {
namespace {

constexpr double kWidth = 900, kHeight = 300, kLeft = 70, kTop = 40, kBelow = 50;
constexpr double kMin = 0.1;   // us

template <class... Args>
std::string formatted(const char* format, Args... args) {
  char text[512];
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, format, args...))};
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

// A field with a logarithmic axis of microseconds.
class Field {
 public:
  Field(double top, double max_us, std::string title) : top_(top), decades_(std::max(std::ceil(std::log10(max_us / kMin)), 1.0)) {
    text_ = formatted("<text x='%g' y='%g' class='title'>", kLeft, top - 12) + escaped(title) + "</text>\n";
    for (int d = 0; d <= static_cast<int>(decades_); ++d) {
      const double at = y(kMin * std::pow(10, d));
      text_ += formatted("<line x1='%g' x2='%g' y1='%.1f' y2='%.1f' class='grid'/><text x='%g' y='%.1f' text-anchor='end'>%g us</text>\n",
                         kLeft, kLeft + kWidth, at, at, kLeft - 6, at + 4, kMin * std::pow(10, d));
    }
  }
  double y(double us) const { return top_ + kHeight * (1 - std::log10(std::max(us, kMin) / kMin) / decades_); }
  static double x(double share) { return kLeft + kWidth * share; }
  void mark(double share, const std::string& words) {
    text_ += formatted("<line x1='%.1f' x2='%.1f' y1='%g' y2='%g' class='grid'/><text x='%.1f' y='%g' text-anchor='middle'>%s</text>\n",
                       x(share), x(share), top_, top_ + kHeight, x(share), top_ + kHeight + 16, words.c_str());
  }
  void line(const std::vector<std::pair<double, double>>& points, const char* color, const char* name, int place) {
    text_ += formatted("<polyline fill='none' stroke='%s' stroke-width='1.5' points='", color);
    for (const auto& [share, us] : points) text_ += formatted("%.1f,%.1f ", x(share), y(us));
    text_ += formatted("'/><text x='%g' y='%g' fill='%s'>%s</text>\n", kLeft + kWidth - 270 + 90 * place, top_ - 12, color, name);
  }
  const std::string& text() const { return text_; }

 private:
  double top_, decades_;
  std::string text_;
};

}  // namespace

std::string latency_plot(const LatencyReport& r) {
  const OpenLoopResult& o = r.result;
  const double max = static_cast<double>(std::max({o.response.max(), o.service.max(), r.hiccups.max(), std::int64_t{1000}})) / 1e3;
  const double nines = std::max(1.0, std::ceil(std::log10(std::max<double>(static_cast<double>(o.response.count()), 10))));
  Field over_nines(kTop, max, r.name + formatted(": %.0f a second, time at each percentile", r.rate));
  for (int n = 0; n <= static_cast<int>(nines); ++n) over_nines.mark(n / nines, formatted("%.10g%%", 100 * (1 - std::pow(10, -n))));
  int place = 0;
  const auto percentiles = [&](const LatencyRecorder& recorder, const char* color, const char* name) {
    std::vector<std::pair<double, double>> points;
    for (int i = 0; i <= 300; ++i)
      points.emplace_back(i / 300.0, static_cast<double>(recorder.percentile(100 * (1 - std::pow(10, -nines * i / 300)))) / 1e3);
    over_nines.line(points, color, name, place++);
  };
  percentiles(o.response, "#c03030", "response"), percentiles(o.service, "#2050b0", "service"),
      percentiles(r.hiccups, "#808080", "hiccups");

  Field over_time(kTop + kHeight + kBelow + kTop, max, "the worst response of each part of the run");
  for (int i = 0; i <= 6; ++i) over_time.mark(i / 6.0, formatted("%.3g s", r.load_seconds * i / 6));
  std::vector<std::pair<double, double>> worst;
  for (std::size_t i = 0; i < o.slices.size(); ++i)
    if (o.slices[i].count > 0)
      worst.emplace_back((static_cast<double>(i) + 0.5) / static_cast<double>(o.slices.size()),
                         static_cast<double>(o.slices[i].worst_ns) / 1e3);
  over_time.line(worst, "#c03030", "worst", 0);
  return formatted("<svg xmlns='http://www.w3.org/2000/svg' width='%g' height='%g'>\n", kLeft + kWidth + 40,
                   2 * (kTop + kHeight + kBelow)) +
         "<style>text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.grid{stroke:#ddd}</style>\n"
         "<rect width='100%' height='100%' fill='white'/>\n" +
         over_nines.text() + over_time.text() + "</svg>\n";
}

}  // namespace tenfold::cli
