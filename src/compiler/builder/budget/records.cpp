#include "builder/budget/records.h"

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "base/check.h"
#include "base/files/file.h"
#include "builder/budget/record_fields.h"
#include "builder/options_text.h"
#include "plan/write.h"
#include "runtime/engine/opened.h"

namespace tenfold::builder {
namespace {

std::string sample_text(const InputSet& sample) {
  std::string text;
  for (const auto& [input, tensor] : sample) text += input + line_of(tensor);
  return text;
}

// The bytes of a cache that gives ranges, if it is there.
std::string cache_text(const std::string& path) {
  std::error_code none;
  if (path.empty() || !std::filesystem::exists(path, none)) return path.empty() ? "" : "no cache yet";
  return text_of(hash128(read_file(path)));
}

std::string calibration_text(const Calibration& c) {
  std::string text = cat(" samples ", c.samples, " by ", c.method, " cache ", cache_text(c.cache));
  for (const std::string& correction : c.corrections) text += " " + correction;
  for (const DType type : c.types)
    if (c.types != Calibration().types) text += cat(" to ", name(type));
  if (c.profile != 0) text += cat(" profile ", c.profile);
  for (const auto& [input, r] : c.shapes)
    text += cat("\n", input, " [", tenfold::text(r.min), "] [", tenfold::text(r.opt), "] [", tenfold::text(r.max), "]");
  return text;
}

std::string budget_text(const ErrorBudget& b) {
  std::string text = cat(" budget ", exact(b.max_error), " by ", b.metric);
  for (const auto& [output, bound] : b.outputs) text += cat("\n", output, " ", exact(bound));
  for (const std::int64_t label : b.labels) text += cat(" ", label);
  return text;
}

std::string work_text(const std::map<DType, double>& work) {
  std::string text;
  for (const auto& [type, share] : work) text += cat(text.empty() ? "" : " ", name(type), " ", exact(share));
  return text;
}
std::map<DType, double> read_work(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::map<DType, double> work;
  std::string type;
  for (double share = 0; in >> type >> share;)
    if (const auto known = dtype_from_name(type)) work[*known] = share;
  return work;
}

std::string plan_line(const BudgetPlan& p) {
  return line("plan", exact(p.error), exact(p.low), exact(p.high), exact(p.milliseconds), exact(p.tuned_milliseconds), p.weight_bytes,
              p.within, p.taken, work_text(p.work), p.name);
}
BudgetPlan read_plan(Reader& in) {
  BudgetPlan p;
  p.error = in.number(), p.low = in.number(), p.high = in.number(), p.milliseconds = in.number(), p.tuned_milliseconds = in.number();
  p.weight_bytes = static_cast<std::int64_t>(in.number()), p.within = in.number() != 0, p.taken = in.number() != 0;
  p.work = read_work(in.next()), p.name = in.rest();
  return p;
}
std::string layer_line(const BudgetLayer& l) {
  return line("layer", exact(l.error), exact(l.saved_milliseconds), l.wide, name(l.type), l.op, l.advice, l.layer);
}
BudgetLayer read_layer(Reader& in) {
  BudgetLayer l;
  l.error = in.number(), l.saved_milliseconds = in.number(), l.wide = in.number() != 0, l.type = in.type().value_or(DType::f32);
  l.op = in.next(), l.advice = in.next(), l.layer = in.rest();
  return l;
}

}  // namespace

BudgetRecords::BudgetRecords(const ir::Graph& source, const std::vector<plan::Range>& ranges, const BuildConfig& config,
                             const backends::DeviceInfo& device)
    : config_(config), log_(config.log), file_(config.timing_cache, ".precision", "tenfold precision 1") {
  const Calibration& c = *config.calibration;
  std::string data;
  for (; samples_ < c.samples; ++samples_) {
    const std::optional<InputSet> sample = c.sample(samples_);
    if (!sample) break;
    if (used()) data += sample_text(*sample);
  }
  if (!used()) return;
  base_ = cat(text_of(overflow_key(source, ranges, config)), " ", text_of(hash128(data)), " ", device.kind, " ", device.name, " ",
              device.features, " ", device.arch, " ", device.libraries);
  calibration_ = calibration_text(c), budget_ = budget_text(*config.budget);
}

Hash128 BudgetRecords::key(std::string_view what, std::string_view rest) const {
  return hash128(cat(what, "\n", base_, "\n", rest));
}

Hash128 BudgetRecords::hash_of(const Engine& engine) {
  std::string pieces;
  plan::write(runtime::state_of(engine)->plan, [&](std::span<const std::byte> bytes) { pieces += text_of(hash128(bytes)); });
  return hash128(pieces);
}

std::optional<Judged> BudgetRecords::error(const Hash128& plan) const {
  if (config_.budget->measure) return {};   // nobody knows what it measures
  const auto lines = file_.find(key("error", text_of(plan) + budget_));
  if (!lines || lines->size() != 1) return {};
  Reader in(lines->front());
  Judged judged;
  judged.share = in.number(), judged.low = in.number(), judged.high = in.number();
  return judged;
}
void BudgetRecords::add_error(const Hash128& plan, const Judged& error) const {
  if (!config_.budget->measure)
    file_.add(key("error", text_of(plan) + budget_), {line(exact(error.share), exact(error.low), exact(error.high))}, log_);
}

std::optional<double> BudgetRecords::milliseconds(const Hash128& plan) const {
  const auto lines = file_.find(key("time", cat(text_of(plan), " ", config_.threads)));
  return lines && lines->size() == 1 ? std::optional(Reader(lines->front()).number()) : std::nullopt;
}
void BudgetRecords::add_milliseconds(const Hash128& plan, double milliseconds) const {
  file_.add(key("time", cat(text_of(plan), " ", config_.threads)), {exact(milliseconds)}, log_);
}

bool BudgetRecords::find_alone(Layers& layers) const {
  const auto lines = file_.find(key("alone", calibration_ + budget_));
  if (!lines) return false;
  std::map<std::pair<std::string, DType>, double> known;
  for (const std::string& one : *lines) {
    Reader in(one);
    const std::optional<DType> type = in.type();
    const double error = in.number();
    if (type) known[{in.rest(), *type}] = error;
  }
  for (Layer& layer : layers.list)
    for (const DType type : layer.types) {
      if (type == DType::f32 || layer.types.size() < 2) continue;
      const auto at = known.find({layer.name, type});
      if (at == known.end()) return false;
      layer.error[type] = at->second;
    }
  return true;
}
void BudgetRecords::add_alone(const Layers& layers) const {
  std::vector<std::string> lines;
  for (const Layer& layer : layers.list)
    for (const auto& [type, error] : layer.error) lines.push_back(line(name(type), exact(error), layer.name));
  file_.add(key("alone", calibration_ + budget_), lines, log_);
}

std::optional<Remembered> BudgetRecords::taken() const {
  if (config_.budget->measure) return {};
  const auto lines = file_.find(key("taken", cat(options_in_words(config_), calibration_, budget_)));
  if (!lines || lines->empty()) return {};
  Remembered known;
  for (const std::string& one : *lines) {
    Reader in(one);
    const std::string_view what = in.next();
    if (what == "search") {
      known.recipe.kind = static_cast<Recipe::Kind>(in.number());
      known.report.samples = static_cast<int>(in.number()), known.report.met = in.number() != 0;
      known.plan.high = std::strtoull(std::string(in.next()).c_str(), nullptr, 16);
      known.plan.low = std::strtoull(std::string(in.next()).c_str(), nullptr, 16);
    } else if (what == "type") {
      if (const auto type = in.type()) known.recipe.layers.push_back({in.rest(), *type});
    } else if (what == "plan") {
      known.report.plans.push_back(read_plan(in));
    } else if (what == "layer") {
      known.report.layers.push_back(read_layer(in));
    }
  }
  return known;
}
void BudgetRecords::add_taken(const Remembered& taken) const {
  if (config_.budget->measure) return;
  const auto hex = [](std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
    return std::string(text);
  };
  std::vector<std::string> lines{line("search", static_cast<int>(taken.recipe.kind), taken.report.samples, taken.report.met,
                                      hex(taken.plan.high), hex(taken.plan.low))};
  for (const LayerPrecision& one : taken.recipe.layers) lines.push_back(line("type", name(one.type), one.layers));
  for (const BudgetPlan& plan : taken.report.plans) lines.push_back(plan_line(plan));
  for (const BudgetLayer& layer : taken.report.layers) lines.push_back(layer_line(layer));
  file_.add(key("taken", cat(options_in_words(config_), calibration_, budget_)), lines, log_);
}

}  // namespace tenfold::builder
