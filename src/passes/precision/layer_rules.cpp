#include "passes/precision/layer_rules.h"

#include <algorithm>

namespace tenfold::passes {
namespace {

void add_entry(LayerRules& rules, const ir::NameTable& table, const std::string& layers, const std::vector<DType>& types) {
  const bool by_pattern = layers.find('*') != std::string::npos;
  for (std::size_t i = 0; i < table.nodes.size(); ++i) {
    if (!fits(layers, table.nodes[i].name)) continue;
    LayerRule& rule = rules[static_cast<std::int32_t>(i)];
    const bool named = !rule.types.empty() && !rule.by_pattern;
    if (!by_pattern || !named) rule = {types, by_pattern};
  }
}

}  // namespace

bool fits(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

LayerRules precision_rules(const ir::NameTable& table, const LayerTypes& types) {
  LayerRules rules;
  for (const LayerPrecision& one : types.precisions) add_entry(rules, table, one.layers, {one.type});
  return rules;
}

LayerRules output_rules(const ir::NameTable& table, const LayerTypes& types) {
  LayerRules rules;
  for (const LayerOutputTypes& one : types.output_types) add_entry(rules, table, one.layers, one.types);
  return rules;
}

std::optional<DType> output_type(const ir::NameTable& table, const LayerRules& rules, const ir::Node& node, std::size_t o) {
  const ir::Value& v = *node.outputs.at(o);
  if (!v.type.is_tensor()) return {};
  for (const std::int32_t source : node.sources.all()) {
    const auto rule = rules.find(source);
    if (rule == rules.end() || (rule->second.by_pattern && !is_float(v.dtype()))) continue;
    const ir::NameList& made = table.nodes[static_cast<std::size_t>(source)].outputs;
    const auto is_its = [&](std::int32_t tensor) { return std::binary_search(made.begin(), made.end(), tensor); };
    if (std::any_of(v.names.begin(), v.names.end(), is_its)) return rule->second.types[std::min(o, rule->second.types.size() - 1)];
  }
  return {};
}

}  // namespace tenfold::passes
