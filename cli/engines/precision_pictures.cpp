// The pictures of --precisionReport.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "engines/precision_report.h"

namespace tenfold::cli {
namespace {

constexpr double kWidth = 900, kHeight = 280, kLeft = 64, kRight = 16, kTop = 16, kBottom = 40;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;

std::string number(double value, const char* form = "%.1f") {
  char text[64];
  std::snprintf(text, sizeof text, form, value);
  return text;
}
std::string figure(double value) { return number(value, "%.3g"); }

std::string open(double width, double height, const std::string& title) {
  return "<svg viewBox=\"0 0 " + number(width) + " " + number(height) +
         "\" width=\"100%\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">" + "<title>" + html(title) + "</title>\n";
}
std::string text_at(double x, double y, const std::string& words, const char* anchor = "middle", const char* style = "axis") {
  return "<text class=\"" + std::string(style) + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" +
         html(words) + "</text>\n";
}
std::string line_at(double x1, double y1, double x2, double y2, const char* style) {
  return "<line class=\"" + std::string(style) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" +
         number(y2) + "\"/>\n";
}
std::string box(double x, double y, double width, double height, const char* fill, const std::string& title) {
  return "<rect x=\"" + number(x, "%.2f") + "\" y=\"" + number(y, "%.2f") + "\" width=\"" + number(width, "%.2f") + "\" height=\"" +
         number(height, "%.2f") + "\" fill=\"" + fill + "\"><title>" + html(title) + "</title></rect>\n";
}

// A value's place between the bottom and the top of the plot.
struct Scale {
  double low = 0, high = 1;
  bool log = false;
  double at(double value) const {
    if (!log) return (value - low) / (high - low);
    return std::log(std::max(value, low) / low) / std::log(high / low);
  }
  double y(double value) const { return kTop + kPlotHeight * (1 - std::clamp(at(value), 0.0, 1.0)); }
  double x(double value) const { return kLeft + kPlotWidth * std::clamp(at(value), 0.0, 1.0); }
  std::vector<double> ticks() const {
    std::vector<double> list;
    if (log) {
      for (double t = std::pow(10, std::ceil(std::log10(low))); t <= high * 1.0001; t *= 10) list.push_back(t);
      if (list.size() >= 2) return list;
      list = {low, std::sqrt(low * high), high};
      return list;
    }
    const double rough = (high - low) / 5, unit = std::pow(10, std::floor(std::log10(rough)));
    const double step = rough / unit < 2 ? 2 * unit : rough / unit < 5 ? 5 * unit : 10 * unit;
    for (double t = std::ceil(low / step) * step; t <= high * 1.0001; t += step) list.push_back(t);
    return list;
  }
};

std::string left_axis(const Scale& scale, const std::string& words) {
  std::string out;
  for (const double t : scale.ticks()) {
    out += line_at(kLeft, scale.y(t), kWidth - kRight, scale.y(t), "grid");
    out += text_at(kLeft - 6, scale.y(t) + 4, figure(t), "end");
  }
  const double middle = kTop + kPlotHeight / 2;
  return out + "<text class=\"axis\" x=\"12\" y=\"" + number(middle) + "\" text-anchor=\"middle\" transform=\"rotate(-90 12 " +
         number(middle) + ")\">" + html(words) + "</text>\n";
}

std::string legend(const std::set<DType>& types, double y) {
  std::string out;
  double x = kLeft;
  for (const DType type : types) {
    out += box(x, y - 10, 12, 12, color_of(type), std::string(name(type)));
    out += text_at(x + 18, y, std::string(name(type)), "start");
    x += 80;
  }
  return out;
}

std::string about(const BudgetLayer& l) {
  return l.layer + " (" + l.op + "): error " + figure(l.error) + ", saves " + figure(l.saved_milliseconds) + " ms, taken in " +
         std::string(name(l.type)) + (l.advice.empty() ? "" : "; " + l.advice);
}

std::set<DType> types_of(const BudgetReport& report) {
  std::set<DType> types;
  for (const BudgetLayer& l : report.layers) types.insert(l.type);
  return types;
}

bool is_drawn(const BudgetPlan& p) { return p.milliseconds > 0 && std::isfinite(p.error); }

}  // namespace

const char* color_of(DType type) {
  switch (type) {
    case DType::i8: case DType::u8: return "#3d9a5b";
    case DType::f8e4m3fn: return "#c98a1b";
    case DType::f16: return "#3b76c4";
    case DType::bf16: return "#7a5cc2";
    default: return "#8d99a6";
  }
}

std::string sensitivity_picture(const BudgetReport& report, double max_error) {
  double max = 0;
  for (const BudgetLayer& l : report.layers) max = std::max(max, l.error);
  const bool line = max > max_error / 20;   // else it would press all bars to the ground
  const Scale scale{0, std::max({max * 1.05, line ? max_error * 1.05 : 0.0, 1e-12}), false};
  const double each = kPlotWidth / static_cast<double>(std::max<std::size_t>(report.layers.size(), 1));
  std::string out = open(kWidth, kHeight, "Error of the outputs where one layer alone is narrow") + left_axis(scale, "relative l2 error");
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    const BudgetLayer& l = report.layers[i];
    const double y = scale.y(l.error);
    out += box(kLeft + each * static_cast<double>(i) + each * 0.1, y, each * 0.8, kTop + kPlotHeight - y, color_of(l.type), about(l));
  }
  if (line) out += line_at(kLeft, scale.y(max_error), kWidth - kRight, scale.y(max_error), "budget") +
                   text_at(kWidth - kRight, scale.y(max_error) - 4, "budget " + figure(max_error), "end", "mark");
  out += line_at(kLeft, kTop + kPlotHeight, kWidth - kRight, kTop + kPlotHeight, "base");
  out += text_at(kLeft + kPlotWidth, kHeight - 12, "layers in the model's order", "end");
  return out + legend(types_of(report), kHeight - 12) + "</svg>\n";
}

std::string pareto_picture(const BudgetReport& report, double max_error) {
  std::vector<const BudgetPlan*> plans;
  for (const BudgetPlan& p : report.plans)
    if (is_drawn(p)) plans.push_back(&p);
  std::stable_sort(plans.begin(), plans.end(), [](const auto* a, const auto* b) { return a->milliseconds < b->milliseconds; });
  double low = max_error, high = max_error, slowest = 0, fastest = plans.empty() ? 0 : plans.front()->milliseconds;
  for (const BudgetPlan* p : plans) {
    high = std::max(high, p->error), slowest = std::max(slowest, p->milliseconds);
    if (p->error > 0) low = std::min(low, p->error);
  }
  const Scale error{std::max(low / 1.5, max_error / 1e3), high * 1.5, true};  // what rounding in f32 costs lies on the ground
  const Scale time{fastest - 0.06 * (slowest - fastest) - 1e-9, slowest + 0.06 * (slowest - fastest) + 1e-9, false};
  std::string out = open(kWidth, kHeight, "Time and error of the plans that were tried") + left_axis(error, "error");
  for (const double t : time.ticks()) out += text_at(time.x(t), kTop + kPlotHeight + 16, figure(t));
  out += text_at(kLeft + kPlotWidth, kHeight - 6, "ms of a run, measured", "end");
  out += line_at(kLeft, kTop + kPlotHeight, kWidth - kRight, kTop + kPlotHeight, "base");
  out += line_at(kLeft, error.y(max_error), kWidth - kRight, error.y(max_error), "budget");
  out += text_at(kWidth - kRight, error.y(max_error) - 4, "budget " + figure(max_error), "end", "mark");
  std::string curve, dots;
  double best = INFINITY;
  for (const BudgetPlan* p : plans) {
    const double x = time.x(p->milliseconds), y = error.y(p->error);
    if (p->error < best) best = p->error, curve += (curve.empty() ? "" : " ") + number(x) + "," + number(y);
    dots += "<circle class=\"" + std::string(p->taken ? "taken" : p->within ? "plan" : "over") + "\" cx=\"" + number(x) + "\" cy=\"" +
            number(y) + "\" r=\"" + (p->taken ? "6" : "4") + "\"><title>" +
            html(p->name + ": error " + figure(p->error) + ", " + figure(p->milliseconds) + " ms") + "</title></circle>\n";
    // Names of mixed plans are told by their circles: they would lie over one another.
    if (p->taken || p->name.find(" layers in ") == std::string::npos)
      dots += text_at(x + 8, y - 7, p->name, x > kWidth * 0.75 ? "end" : "start", "name");
  }
  return out + "<polyline class=\"curve\" points=\"" + curve + "\"/>\n" + dots + "</svg>\n";
}

std::string precision_map(const BudgetReport& report) {
  constexpr std::size_t kInRow = 32;
  const double cell = (kWidth - kLeft - kRight) / static_cast<double>(kInRow);
  const std::size_t rows = (report.layers.size() + kInRow - 1) / kInRow;
  const double height = kTop + static_cast<double>(rows) * cell + 32;
  std::string out = open(kWidth, height, "The type of each layer");
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    const double x = kLeft + cell * static_cast<double>(i % kInRow), y = kTop + cell * static_cast<double>(i / kInRow);
    if (i % kInRow == 0) out += text_at(kLeft - 6, y + cell * 0.6, std::to_string(i), "end");
    out += box(x + 1, y + 1, cell - 2, cell - 2, color_of(report.layers[i].type), about(report.layers[i]));
  }
  return out + legend(types_of(report), height - 8) + "</svg>\n";
}

}  // namespace tenfold::cli
