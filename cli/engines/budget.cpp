#include "engines/budget.h"

#include <algorithm>
#include <cstdio>

#include "engines/metric_command.h"
#include "engines/precision_report.h"
#include "flags/specs.h"
#include "formats/files.h"

namespace tenfold::cli {
namespace {

ErrorBudget& budget_of(ExecOptions& o) {
  if (!o.build.budget) o.build.budget.emplace();
  return *o.build.budget;
}

double above_zero(const std::string& flag, const std::string& text) {
  const double value = parse_number(flag, text);
  if (!(value > 0)) throw UsageError("--" + flag + ": '" + text + "' is not above 0");
  return value;
}

// E for all outputs, or OUTPUT:E,... whose largest holds for outputs that are not named.
void take_bounds(ExecOptions& o, const std::string& text) {
  ErrorBudget& budget = budget_of(o);
  if (text.find(':') == std::string::npos) return void(budget.max_error = above_zero("max-error", text));
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    const std::size_t colon = one.rfind(':');
    if (colon == std::string::npos || colon == 0) throw UsageError("--max-error: '" + one + "' is not OUTPUT:E, such as logits:0.01");
    const double bound = above_zero("max-error", one.substr(colon + 1));
    budget.outputs[one.substr(0, colon)] = bound, budget.max_error = std::max(budget.max_error, bound);
    at = end + 1;
  }
}

std::string fixed(double value, int places) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", places, value);
  return text;
}
std::string cell(const std::string& text, std::size_t width) { return std::string(width - std::min(width, text.size()), ' ') + text; }

// All of one type and what came of it step by step, then mixed ones.
std::vector<const BudgetPlan*> in_order(const BudgetReport& report) {
  const auto place = [](const BudgetPlan& p) {
    if (p.name.find("unfused") != std::string::npos) return 0;
    if (p.name.find("level 0") != std::string::npos) return 1;
    if (p.name.starts_with("fp32")) return 2;
    if (p.name == "fp16" || p.name == "bf16") return 3;
    return p.name == "everything permitted" ? 4 : 5;
  };
  std::vector<const BudgetPlan*> plans;
  for (const BudgetPlan& p : report.plans) plans.push_back(&p);
  std::stable_sort(plans.begin(), plans.end(), [&](const auto* a, const auto* b) { return place(*a) < place(*b); });
  return plans;
}

void print_plans(const BudgetReport& report) {
  std::size_t width = 4;
  for (const BudgetPlan& p : report.plans) width = std::max(width, p.name.size());
  std::printf("  %-*s  %10s  %21s  %9s  %9s  %s\n", static_cast<int>(width), "plan", "error", "95 % of samples", "ms", "MiB", "work");
  for (const BudgetPlan* p : in_order(report))
    std::printf("%s %-*s  %10s  %21s  %9s  %9s  %s%s\n", p->taken ? "*" : " ", static_cast<int>(width), p->name.c_str(),
                fixed(p->error, 5).c_str(), (fixed(p->low, 5) + " - " + fixed(p->high, 5)).c_str(),
                p->milliseconds < 0 ? "-" : fixed(p->milliseconds, 3).c_str(),
                fixed(static_cast<double>(p->weight_bytes) / (1 << 20), 2).c_str(), work_in_words(*p).c_str(),
                p->within ? "" : "  over the budget");
}

void print_layers(const BudgetReport& report) {
  constexpr std::size_t kMax = 10;
  std::vector<const BudgetLayer*> layers;
  for (const BudgetLayer& layer : report.layers) layers.push_back(&layer);
  std::stable_sort(layers.begin(), layers.end(), [](const auto* a, const auto* b) { return a->error > b->error; });
  if (layers.empty()) return;
  std::printf("Layers that cost most, each alone in its narrowest type (relative l2):\n%s  %s  %s\n", cell("error", 10).c_str(),
              cell("ms saved", 9).c_str(), "layer");
  for (std::size_t i = 0; i < std::min(kMax, layers.size()); ++i) {
    const BudgetLayer& l = *layers[i];
    std::printf("%s  %s  %s (%s), %s%s\n", cell(fixed(l.error, 5), 10).c_str(), cell(fixed(l.saved_milliseconds, 4), 9).c_str(),
                printable(l.layer).c_str(), l.op.c_str(),
                l.wide ? ("stays in " + std::string(name(l.type))).c_str() : ("in " + std::string(name(l.type))).c_str(),
                l.advice.empty() ? "" : ("; " + l.advice).c_str());
  }
}

}  // namespace

void add_budget_flags(Flags& f, ExecOptions& o) {
  f.add({"max-error", "E", "find the fastest plan whose error to the f32 model on --data is at most E; OUTPUT:E,... for single outputs",
         [&o](const std::string& text) { take_bounds(o, text); }});
  f.add({"metric", "NAME",
         "+how --max-error is measured: l2 (the default) and linf, both relative, cosine (1 - it), top1, top5 (share that differs; with "
         "--labels: accuracy lost), or 'COMMAND {reference} {candidate}', which gets two .npz and prints the error",
         [&o](const std::string& text) { budget_of(o).metric = text; }});
  f.add({"searchTime", "SECONDS", "+the search of --max-error starts no new plan after SECONDS (300)",
         [&o](const std::string& text) { budget_of(o).search_seconds = above_zero("searchTime", text); }});
  f.add({"searchMemory", "SIZE", "+memory for stored activations in the search of --max-error (2G)",
         [&o](const std::string& text) { budget_of(o).search_memory = parse_bytes("searchMemory", text); }});
  f.add_text("precisionReport", o.precision_report, "FILE.html",
             "+report of the search of --max-error, with charts; FILE.json beside it");
}

void check_budget(const ExecOptions& o) {
  if (!o.precision_report.empty() && !o.build.budget)
    throw UsageError("--precisionReport is for --max-error=E: it tells what that search found");
  if (!o.build.budget) return;
  if (o.build.budget->max_error == 0)
    throw UsageError("--metric, --searchTime and --searchMemory are for --max-error=E: say how far outputs may be off");
  if (o.onnx.empty()) throw UsageError("--max-error needs --onnx: a plan's types are fixed when it is built");
  if (o.data.empty()) throw UsageError("--max-error needs --data=PATH: samples to measure the error on");
  if (!o.int8_requested && !o.fp8_requested && !o.build.fp16 && !o.build.bf16 && !o.build.auto_precision)
    throw UsageError("--max-error chooses among the types that are permitted: say --best, or --int8, --fp8, --fp16 or --bf16");
  if (is_metric_command(o.build.budget->metric)) metric_by_command(o.build.budget->metric, 1);   // refuses what is none
  if (!o.precision_report.empty() && formats::extension(o.precision_report) != ".html")
    throw UsageError("--precisionReport writes .html; '" + o.precision_report + "' ends in something else");
  formats::expect_writable(o.precision_report);
  if (!o.precision_report.empty()) formats::expect_writable(json_beside(o.precision_report));
}

void complete_budget(BuildConfig& config, const Accuracy* accuracy) {
  if (!config.budget) return;
  ErrorBudget& budget = *config.budget;
  if (is_metric_command(budget.metric)) budget.measure = metric_by_command(budget.metric, budget.search_seconds), budget.metric = "l2";
  if (accuracy && (budget.metric == "top1" || budget.metric == "top5")) budget.labels = accuracy->by_sample();
}

std::string work_in_words(const BudgetPlan& plan) {
  std::vector<std::pair<double, std::string>> parts;
  for (const auto& [type, share] : plan.work) parts.emplace_back(share, std::string(name(type)));
  std::sort(parts.rbegin(), parts.rend());
  std::string text;
  for (const auto& [share, type] : parts) text += (text.empty() ? "" : ", ") + type + " " + fixed(share * 100, share < 0.1 ? 1 : 0) + " %";
  return text;
}

void print_budget(const ExecOptions& o, const BudgetReport& report) {
  std::printf("\nPlans that were tried (%s), measured on %d samples that gave no ranges:\n", o.build.budget->metric.c_str(),
              report.samples);
  print_plans(report);
  print_layers(report);
  if (report.out_of_time) std::printf("The search ended by --searchTime, before all was tried.\n");
  std::printf("The search took %s s.\n\n", fixed(report.seconds, 1).c_str());
  if (!o.precision_report.empty()) write_precision_report(o.precision_report, o, report);
}

}  // namespace tenfold::cli
