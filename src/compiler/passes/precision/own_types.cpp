#include "passes/precision/own_types.h"

#include <algorithm>
#include <utility>

namespace tenfold::passes {
namespace {

void add(const ir::Graph& graph, OwnTypes& types) {
  for (const auto& node : graph.nodes()) {
    for (const auto& body : node->graphs) add(*body, types);
    for (const ir::Value* v : node->outputs)
      if (v->type.is_tensor() && is_float(v->dtype()))
        for (const std::int32_t source : node->sources.all()) types.emplace(source, v->dtype());
  }
}

std::optional<DType> common(const ir::Node& node, const OwnTypes& types) {
  std::optional<DType> found;
  for (const std::int32_t source : node.sources.all()) {
    const auto at = types.find(source);
    if (at == types.end()) continue;
    if (found && *found != at->second) return {};
    found = at->second;
  }
  return found && bits(*found) == 16 ? found : std::nullopt;
}

}  // namespace

OwnTypes own_types(const ir::Graph& model) {
  OwnTypes types;
  add(model, types);
  const bool any = std::any_of(types.begin(), types.end(), [](const auto& one) { return bits(one.second) == 16; });
  return any ? types : OwnTypes{};
}

Pass pass_give_own_types(OwnTypes types) {
  return {.name = "give_own_types", .run = [types = std::move(types)](ir::Graph& graph) {
            bool changed = false;
            for (const auto& node : graph.nodes())
              if (const std::optional<DType> type = common(*node, types); type && !node->numerics.type)
                node->numerics.type = type, changed = true;
            return changed;
          }};
}

}  // namespace tenfold::passes
