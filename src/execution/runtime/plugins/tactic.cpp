// From the tactics of a plug-in's table to Tactics: what they are asked while building.
#include "runtime/plugins/kernel.h"
#include "runtime/plugins/operator.h"

namespace tenfold::runtime {
namespace {

using backends::Config;
using backends::Formats;
using backends::Problem;
using backends::Verdict;

constexpr int kMaxTactics = 16;           // of one operator
constexpr std::int32_t kMaxNumbers = 16, kMaxConfigs = 64, kMaxFormats = 16;

Verdict supports(const Problem& p, int number) {
  if (p.body) return Verdict::no("it takes no epilogue");
  if (p.in.size() > kMaxPluginOperands || p.out.size() > kMaxPluginOperands) return Verdict::no("it has too many operands");
  for (const auto* list : {&p.in, &p.out})
    for (const backends::OperandDesc& o : *list)
      if (!o.dense || (o.layout != backends::kPlain && o.layout != backends::kChannelsLast))
        return Verdict::no("plug-ins take dense operands in plain or channels-last order");
  PluginQuestion question(p, number);
  if (!question.tactic.table.supports || question.tactic.table.supports(question.self(), &question.problem) == 0)
    return Verdict::ok();
  return Verdict::no(question.why.empty() ? "the plug-in refuses it and says nothing of why" : question.why.message());
}

std::vector<Config> configs(const Problem& p, int number) {
  PluginQuestion question(p, number);
  if (!question.tactic.table.configs) return {{}};
  std::vector<Config> all;
  for (std::int32_t which = 0; which < kMaxConfigs; ++which) {
    std::int64_t numbers[kMaxNumbers] = {};
    const std::int32_t count = question.tactic.table.configs(question.self(), &question.problem, which, numbers, kMaxNumbers);
    if (count < 0) break;
    question.need(count <= kMaxNumbers, "gives ", count, " numbers for a configuration, ", kMaxNumbers, " are the most");
    all.emplace_back(numbers, numbers + count);
  }
  question.need(!all.empty(), "gives no configuration");
  return all;
}

// A plan may hold only what the plug-in would offer.
Verdict valid(const Problem& p, const Config& config, int number) {
  const std::vector<Config> all = configs(p, number);
  return Verdict::only_if(std::find(all.begin(), all.end(), config) != all.end(),
                          "the plug-in does not offer this configuration");
}

std::vector<Formats> formats(const Problem& p, int number) {
  PluginQuestion question(p, number);
  std::vector<Formats> all;
  for (std::int32_t which = 0; which < kMaxFormats; ++which) {
    std::vector<std::int32_t> in(p.in.size() + 1),
        out(p.out.size() + 1);  // never empty: a plug-in may look at the first
    const std::int32_t more = question.tactic.table.layouts(question.self(), &question.problem, which, in.data(), out.data());
    if (more == 0) break;
    const auto taken = [&](const std::vector<std::int32_t>& given, const std::vector<backends::OperandDesc>& operands) {
      std::vector<backends::Layout> layouts;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const bool last = given[i] == TENFOLD_LAYOUT_CHANNELS_LAST;
        question.need(last || given[i] == TENFOLD_LAYOUT_PLAIN, "gives an operand layout ", given[i],
                   ", which does not exist");
        question.need(!last || operands[i].dims.size() > 2, "wants an operand of rank ", operands[i].dims.size(),
                   " channels-last");
        layouts.push_back(last ? backends::kChannelsLast : backends::kPlain);
      }
      return layouts;
    };
    all.push_back({taken(in, p.in), taken(out, p.out)});
  }
  question.need(!all.empty(), "gives no combination of layouts");
  return all;
}

ir::Dim workspace(const Problem& p, const Config& config, int number) {
  PluginQuestion question(p, number, config);
  char text[256] = "";
  const std::int32_t code = question.tactic.table.workspace(question.self(), &question.problem, text, sizeof text);
  expect_done(code, question.plugin, "workspace", question.why.message());
  question.need(std::memchr(text, 0, sizeof text) != nullptr, "gives its workspace as a text without end");
  const ir::Dim bytes = ir::Dim::parse(text);
  std::set<std::string> known;
  for (const auto* list : {&p.in, &p.out})
    for (const backends::OperandDesc& o : *list)
      for (ir::Dim d : o.dims)
        for (std::string& symbol : d.symbols()) known.insert(std::move(symbol));
  for (const std::string& symbol : bytes.symbols())
    question.need(known.count(symbol) > 0, "gives its workspace as '", text, "', where no operand has an extent '", symbol,
               "'");
  question.need(p.bounds(bytes).lower >= 0, "gives its workspace as '", text, "', which may be negative");
  return bytes;
}

bool may_alias(const Problem& p, int in, int out, int number) {
  PluginQuestion question(p, number);
  return question.tactic.table.in_place(question.self(), &question.problem, in, out) == 1;
}

// Tactics are plain functions: which of its operator's tactics one asks is this number.
template <int N>
backends::Tactic tactic_of(const PluginTable& plugin) {
  const PluginTacticTable& t = plugin.tactics[N];
  backends::Tactic tactic{.name = cat("plugin ", plugin.name, " ", t.name),
                          .version = t.table.version,
                          .ops = {plugin.name},
                          .source = backends::Source::plugin,
                          .capturable = (t.table.flags & TENFOLD_PLUGIN_NOT_CAPTURABLE) == 0};
  tactic.supports = [](const Problem& p) { return supports(p, N); };
  tactic.configs = [](const Problem& p) { return configs(p, N); };
  tactic.valid = [](const Problem& p, const Config& c) { return valid(p, c, N); };
  if (t.table.layouts) tactic.formats = [](const Problem& p) { return formats(p, N); };
  if (t.table.workspace) tactic.workspace = [](const Problem& p, const Config& c) { return workspace(p, c, N); };
  if (t.table.in_place) tactic.may_alias = [](const Problem& p, int in, int out) { return may_alias(p, in, out, N); };
  tactic.open = [](const Problem& p, const Config& c, backends::Opening&) { return open_plugin_kernel(p, c, N); };
  tactic.run = run_plugin_kernel;
  return tactic;
}

template <int... N>
std::vector<backends::Tactic> all_tactics(const PluginTable& plugin, std::integer_sequence<int, N...>) {
  std::vector<backends::Tactic> tactics;
  const int count = static_cast<int>(plugin.tactics.size());
  ((N < count ? tactics.push_back(tactic_of<N>(plugin)) : void()), ...);
  return tactics;
}

}  // namespace

std::vector<PluginTactic> plugin_tactics(const PluginTable& plugin) {
  std::vector<PluginTactic> tactics;
  for (backends::Tactic& t : all_tactics(plugin, std::make_integer_sequence<int, kMaxTactics>()))
    tactics.push_back({plugin.tactics[tactics.size()].device, std::move(t)});
  return tactics;
}

}  // namespace tenfold::runtime
