// Writing the graphs of a node into attributes; runtime/engine/host_graphs.cpp reads them back.
#include "builder/program/host_graphs.h"

#include "ir/recipe.h"
#include "ir/text.h"

namespace tenfold::builder {

void store_graphs(const ir::Node& node, ir::Attributes& attributes) {
  std::vector<std::shared_ptr<const ir::Constant>> constants;
  ir::Strings texts;
  for (const auto& g : node.graphs) texts.push_back(ir::print(*g, {.names = true, .constants = &constants}));
  attributes.set("graphs", std::move(texts));
  for (const auto& constant : constants) ir::fix(*constant, "stored inside a loop that runs on the host");
  for (std::size_t i = 0; i < constants.size(); ++i) attributes.set("constant_" + std::to_string(i), constants[i]->tensor);
}

}  // namespace tenfold::builder
