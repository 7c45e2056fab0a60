#include "passes/precision/layer_rules.h"

#include <algorithm>

namespace tenfold::passes {
namespace {

void add_entry(LayerRules& rules, const LayerNames& names, const std::string& layers, const std::vector<DType>& types) {
  const bool by_pattern = is_pattern(layers);
  for (const std::int32_t node : names.that_fit(layers)) {
    LayerRule& rule = rules[node];
    const bool named = !rule.types.empty() && !rule.by_pattern;
    if (!by_pattern || !named) rule = {types, by_pattern};
  }
}

}  // namespace

std::size_t star_of(std::string_view layers) {
  std::size_t at = layers.find('*');
  while (at != std::string_view::npos && at > 0 && layers[at - 1] == '\\') at = layers.find('*', at + 1);
  return at;
}
bool is_pattern(std::string_view layers) { return star_of(layers) != std::string_view::npos; }
std::string without_escapes(std::string_view layers) {
  std::string text;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i] != '\\' || i + 1 == layers.size() || layers[i + 1] != '*') text += layers[i];
  return text;
}

LayerNames::LayerNames(const ir::NameTable& table) : table_(table) {
  for (std::size_t i = 0; i < table.nodes.size(); ++i) by_name_[table.nodes[i].name].push_back(static_cast<std::int32_t>(i));
}
std::vector<std::int32_t> LayerNames::that_fit(std::string_view layers) const {
  if (!is_pattern(layers)) {
    const auto at = by_name_.find(without_escapes(layers));
    return at == by_name_.end() ? std::vector<std::int32_t>{} : at->second;
  }
  std::vector<std::int32_t> nodes;
  for (std::size_t i = 0; i < table_.nodes.size(); ++i)
    if (fits(layers, table_.nodes[i].name)) nodes.push_back(static_cast<std::int32_t>(i));
  return nodes;
}

bool fits(std::string_view pattern, std::string_view name) {
  const std::size_t star = star_of(pattern);
  if (star == std::string_view::npos) return without_escapes(pattern) == name;
  const std::string head = without_escapes(pattern.substr(0, star)), tail = without_escapes(pattern.substr(star + 1));
  return name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

LayerRules precision_rules(const ir::NameTable& table, const LayerTypes& types) {
  LayerRules rules;
  const LayerNames names(table);
  for (const LayerPrecision& one : types.precisions) add_entry(rules, names, one.layers, {one.type});
  return rules;
}

LayerRules output_rules(const ir::NameTable& table, const LayerTypes& types) {
  LayerRules rules;
  const LayerNames names(table);
  for (const LayerOutputTypes& one : types.output_types) add_entry(rules, names, one.layers, one.types);
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
