#include "budget.h"

#include <algorithm>
#include <cstdio>

#include "specs.h"

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

void print_plans(const BudgetReport& report) {
  std::size_t width = 4;
  for (const BudgetPlan& p : report.plans) width = std::max(width, p.name.size());
  std::printf("  %-*s  %10s  %21s  %9s  %9s\n", static_cast<int>(width), "plan", "error", "95 % of samples", "ms", "MiB");
  for (const BudgetPlan& p : report.plans)
    std::printf("%s %-*s  %10s  %21s  %9s  %9s%s\n", p.taken ? "*" : " ", static_cast<int>(width), p.name.c_str(),
                fixed(p.error, 5).c_str(), (fixed(p.low, 5) + " - " + fixed(p.high, 5)).c_str(),
                p.milliseconds < 0 ? "-" : fixed(p.milliseconds, 3).c_str(),
                fixed(static_cast<double>(p.weight_bytes) / (1 << 20), 2).c_str(), p.within ? "" : "  over the budget");
}

void print_layers(const BudgetReport& report) {
  constexpr std::size_t kMost = 10;
  std::vector<const BudgetLayer*> layers;
  for (const BudgetLayer& layer : report.layers) layers.push_back(&layer);
  std::stable_sort(layers.begin(), layers.end(), [](const auto* a, const auto* b) { return a->error > b->error; });
  if (layers.empty()) return;
  std::printf("Layers that cost most in 8 bits, each alone:\n%s  %s  %s\n", cell("error", 10).c_str(), cell("ms saved", 9).c_str(),
              "layer");
  for (std::size_t i = 0; i < std::min(kMost, layers.size()); ++i)
    std::printf("%s  %s  %s (%s)%s\n", cell(fixed(layers[i]->error, 5), 10).c_str(),
                cell(fixed(layers[i]->saved_milliseconds, 4), 9).c_str(), printable(layers[i]->layer).c_str(), layers[i]->op.c_str(),
                layers[i]->wide ? ", stays wide" : "");
}

}  // namespace

void add_budget_flags(Flags& f, ExecOptions& o) {
  f.add({"max-error", "E", "the quickest plan whose outputs are no further than E from the f32 model's on --data, or OUTPUT:E,... for each",
         [&o](const std::string& text) { take_bounds(o, text); }});
  f.add({"metric", "NAME",
         "+how --max-error is measured: l2 (the default) and linf, both relative, cosine (1 - it), top1, top5 (share that differs)",
         [&o](const std::string& text) { budget_of(o).metric = text; }});
  f.add({"searchTime", "SECONDS", "+after as long the search of --max-error begins no further plan (300)",
         [&o](const std::string& text) { budget_of(o).search_seconds = above_zero("searchTime", text); }});
}

void check_budget(const ExecOptions& o) {
  if (!o.build.budget) return;
  if (o.build.budget->max_error == 0) throw UsageError("--metric and --searchTime are for --max-error=E: say how far outputs may be off");
  if (o.onnx.empty()) throw UsageError("--max-error needs --onnx: a plan's types are fixed when it is built");
  if (o.data.empty()) throw UsageError("--max-error needs --data=PATH: samples show the error");
  if (!o.int8_asked && !o.build.fp16 && !o.build.bf16 && !o.build.auto_precision)
    throw UsageError("--max-error chooses among the types that are permitted: say --best, or --int8, --fp16 or --bf16");
}

void print_budget(const ExecOptions& o, const BudgetReport& report) {
  std::printf("\nPlans that were tried (%s), measured on %d samples that gave no ranges:\n", o.build.budget->metric.c_str(),
              report.samples);
  print_plans(report);
  print_layers(report);
  if (report.out_of_time) std::printf("The search ended by --searchTime, before all was tried.\n");
  std::printf("\n");
}

}  // namespace tenfold::cli
