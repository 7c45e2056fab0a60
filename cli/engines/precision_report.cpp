#include "engines/precision_report.h"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "engines/budget.h"
#include "tenfold/internal/file.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Precision of )";
constexpr const char* kStyle = R"(</title><style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 960px; margin: 2em auto; padding: 0 1em; color: #1d2733; background: #fff; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { padding: 3px 8px; border-bottom: 1px solid #e3e7ec; text-align: right; }
th:first-child, td:first-child, td.words, th.words { text-align: left; }
tr.taken { background: #e6f3ea; font-weight: 600; } tr.over { color: #8a94a0; }
svg { display: block; } .axis { font-size: 12px; fill: #5b6773; }
.mark { font-size: 12px; fill: #c0392b; } .name { font-size: 11px; fill: #1d2733; }
.grid { stroke: #edf0f3; } .base { stroke: #8a94a0; } .budget { stroke: #c0392b; stroke-dasharray: 6 4; }
.curve { fill: none; stroke: #3b76c4; stroke-width: 1.5; } .plan { fill: #3b76c4; } .over { fill: #b6bfc8; } .taken { fill: #3d9a5b; }
</style></head><body>
)";

std::string number(double value, const char* form) {
  char text[64];
  std::snprintf(text, sizeof text, form, value);
  return text;
}
std::string cell(const std::string& text, bool words = false) { return (words ? "<td class=\"words\">" : "<td>") + html(text) + "</td>"; }

std::string plans_table(const BudgetReport& report) {
  std::string out =
      "<table><tr><th>plan</th><th>error</th><th>95 % of samples</th><th>ms</th><th>MiB</th><th class=\"words\">work</th></tr>\n";
  for (const BudgetPlan& p : report.plans)
    out += "<tr" + std::string(p.taken ? " class=\"taken\"" : p.within ? "" : " class=\"over\"") + ">" + cell(p.name) +
           cell(number(p.error, "%.4g")) + cell(number(p.low, "%.4g") + " to " + number(p.high, "%.4g")) +
           cell(number(p.milliseconds, "%.3f")) + cell(number(static_cast<double>(p.weight_bytes) / (1 << 20), "%.2f")) +
           cell(work_in_words(p), true) + "</tr>\n";
  return out + "</table>\n";
}

std::string layers_table(const BudgetReport& report) {
  std::string out = "<table><tr><th>layer</th><th>type</th><th>error alone</th><th>ms saved</th><th class=\"words\">advice</th></tr>\n";
  for (const BudgetLayer& l : report.layers)
    out += "<tr>" + cell(l.layer + " (" + l.op + ")") + cell(std::string(name(l.type))) + cell(number(l.error, "%.4g")) +
           cell(number(l.saved_milliseconds, "%.4f")) + cell(l.advice, true) + "</tr>\n";
  return out + "</table>\n";
}

Json json_of(const ExecOptions& o, const BudgetReport& report) {
  const ErrorBudget& budget = *o.build.budget;
  Json root{{"model", o.onnx}, {"max_error", budget.max_error}, {"outputs", budget.outputs}, {"metric", budget.metric},
            {"samples", report.samples}, {"met", report.met}, {"out_of_time", report.out_of_time}, {"seconds", report.seconds},
            {"plans", Json::array()}, {"layers", Json::array()}};
  for (const BudgetPlan& p : report.plans) {
    Json work = Json::object();
    for (const auto& [type, share] : p.work) work[std::string(name(type))] = share;
    root["plans"].push_back({{"name", p.name}, {"error", p.error}, {"low", p.low}, {"high", p.high}, {"milliseconds", p.milliseconds},
                             {"tuned_milliseconds", p.tuned_milliseconds}, {"weight_bytes", p.weight_bytes}, {"work", work},
                             {"within", p.within}, {"taken", p.taken}});
  }
  for (const BudgetLayer& l : report.layers)
    root["layers"].push_back({{"layer", l.layer}, {"op", l.op}, {"error", l.error}, {"saved_milliseconds", l.saved_milliseconds},
                              {"wide", l.wide}, {"type", std::string(name(l.type))}, {"advice", l.advice}});
  return root;
}

}  // namespace

std::string html(const std::string& text) {
  std::string out;
  for (const char c : printable(text))
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

std::string json_beside(const std::string& path) { return std::filesystem::path(path).replace_extension(".json").string(); }

void write_precision_report(const std::string& path, const ExecOptions& o, const BudgetReport& report) {
  const double bound = o.build.budget->max_error;
  const std::string model = std::filesystem::path(o.onnx).filename().string();
  std::string page = kHead + html(model) + kStyle + "<h1>Precision of " + html(model) + "</h1>\n<p>The fastest plan within an error of " +
                     number(bound, "%g") + " (" + html(o.build.budget->metric) + "), measured on " + std::to_string(report.samples) +
                     " samples that gave no ranges. The search took " + number(report.seconds, "%.1f") + " s" +
                     (report.out_of_time ? " and ended by --searchTime, before all was tried" : "") + ".</p>\n";
  page += "<h2>Plans</h2>\n" + pareto_picture(report, bound) + plans_table(report);
  if (!report.layers.empty())
    page += "<h2>What each layer costs by itself</h2>\n" + sensitivity_picture(report, bound) +
            "<h2>Types of the plan that was taken</h2>\n" + precision_map(report) + "<h2>Layers</h2>\n" + layers_table(report);
  write_file(path, page + "</body></html>\n");
  write_file(json_beside(path), json_of(o, report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace tenfold::cli
