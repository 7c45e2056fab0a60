#include "builder/budget/layers.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "passes/precision/layer_types.h"
#include "plan/names.h"
#include "plan/step_types.h"
#include "runtime/engine/opened.h"

namespace tenfold::builder {
namespace {

double elements(const ir::Value& v) {
  if (!v.type.is_tensor() || !v.type.ranked || !ir::is_constant(v.dims())) return 0;
  return static_cast<double>(element_count(ir::constants(v.dims())));
}
double extent(const ir::Value& v, int from_back) {
  if (v.rank() < from_back || !ir::is_constant(v.dims())) return 0;
  return static_cast<double>(v.dims()[v.dims().size() - static_cast<std::size_t>(from_back)].constant());
}

bool is_layer(const ir::Node& node) {
  if (node.def->scalar || node.sources.own.empty()) return false;
  const std::optional<DType> type = passes::computes_in(node);
  return type && is_float(*type);
}

// Which layers a value comes from, nearest first. Along residuals all earlier ones would be: the last two are near.
using Nearest = std::vector<std::size_t>;
void merge(Nearest& into, const Nearest& more) {
  constexpr std::size_t kMax = 2;
  into.insert(into.end(), more.begin(), more.end());
  std::sort(into.rbegin(), into.rend());
  into.erase(std::unique(into.begin(), into.end()), into.end());
  if (into.size() > kMax) into.resize(kMax);
}

}  // namespace

double multiplications(const ir::Node& node) {
  if (node.op() == "FusedAttention" || node.op() == "AttentionFloat8") return elements(*node.in(0)) * extent(*node.in(1), 2) * 2;
  switch (node.def->traits.gemm_kind) {
    case ir::GemmKind::matrix: return elements(*node.out()) * extent(*node.in(0), 1);
    case ir::GemmKind::convolution: {
      const double channels = node.in(1)->rank() > 0 ? extent(*node.in(1), node.in(1)->rank()) : 0;
      return channels > 0 ? elements(*node.out()) * elements(*node.in(1)) / channels : 0;
    }
    case ir::GemmKind::none: break;
  }
  return 0;
}

Layers layers_of(const ir::Graph& graph) {
  Layers all;
  if (!graph.model_names) return all;
  std::map<std::string, std::size_t> known;
  std::unordered_map<const ir::Value*, Nearest> from;
  std::vector<double> sizes;
  for (const auto& node : graph.nodes()) {
    Nearest nearest;
    for (const ir::Value* v : node->inputs)
      if (const auto at = from.find(v); v && at != from.end()) merge(nearest, at->second);
    if (is_layer(*node)) {
      const std::string& name = graph.model_names->nodes[static_cast<std::size_t>(node->sources.own.front())].name;
      const auto [at, is_new] = known.emplace(name, all.list.size());
      if (is_new) all.list.push_back({.name = name, .op = node->op()}), sizes.push_back(elements(*node->out()));
      all.list[at->second].nodes.push_back(node->name);
      all.list[at->second].multiplications += multiplications(*node);
      for (const std::size_t before : nearest)
        if (before != at->second) all.adjacent.push_back({before, at->second, sizes[before]});
      nearest = {at->second};
    }
    for (const ir::Value* v : node->outputs) from[v] = nearest;
  }
  return all;
}

namespace {

// Equal steps are timed once: what they have in common, names apart.
std::string signature(const plan::Step& step) {
  std::string text = cat(step.op, " ", ir::text(step.attributes), " ", ir::text(step.numerics), " ", step.tactic);
  if (step.has_body) text += ir::text(step.body);
  for (const std::int64_t c : step.config) text += cat(" ", c);
  for (const auto* list : {&step.in, &step.out})
    for (const plan::Operand& o : *list) {
      text += cat("; ", name(o.dtype), backends::text(o.layout), o.constant ? " constant" : "");
      for (const plan::DimIndex d : o.dims) text += cat(" ", d);
    }
  return text;
}

std::map<std::string, double> times_by_signature(const plan::Program& program, const BuildReport& report) {
  std::map<std::string, double> of_node, times;
  for (const StepReport& step : report.steps)
    for (const TacticReport& tactic : step.tried)
      if (tactic.chosen && tactic.nanoseconds > 0) of_node[step.node] = tactic.nanoseconds / 1e6;
  plan::each_step(program, [&](const plan::Step& step) {
    if (const auto at = of_node.find(step.name); at != of_node.end()) times.emplace(signature(step), at->second);
  });
  return times;
}

}  // namespace

Computed computed_by(const Engine& engine, const BuildReport& report, const std::set<std::string>& layers) {
  const plan::Plan& plan = runtime::state_of(engine)->plan;
  const plan::Names names = plan::read_names(plan);
  Computed computed;
  if (names.programs.empty()) return computed;
  const std::map<std::string, double> times = times_by_signature(plan.programs[0], report);
  std::size_t number = 0;
  double before = 0;   // time of steps in front of the first layer
  std::vector<std::string> last;
  plan::each_step(plan.programs[0], [&](const plan::Step& step) {
    std::vector<std::string> own;
    for (const std::int32_t node : names.programs[0].steps[number].nodes)
      if (const std::string& name = names.table.nodes[static_cast<std::size_t>(node)].name; layers.count(name)) own.push_back(name);
    ++number;
    const ir::OpDef* def = ir::Registry::builtin().find(step.op);
    if (const auto type = plan::types_of(step).compute; type && def && !def->traits.region)
      for (const std::string& name : own) {
        const auto [at, is_new] = computed.types.emplace(name, *type);
        if (!is_new && bits(*type) < bits(at->second)) at->second = *type;
      }
    if (!own.empty()) last = std::move(own);
    if (const auto time = times.find(signature(step)); time != times.end()) before += time->second;
    for (const std::string& name : last) computed.milliseconds[name] += before / static_cast<double>(last.size());
    if (!last.empty()) before = 0;
  });
  return computed;
}

}  // namespace tenfold::builder
