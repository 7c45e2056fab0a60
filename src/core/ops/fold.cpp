// Folding with recipes.
#include "ops/fold.h"

#include "base/check.h"
#include "ir/recipe.h"
#include "ops/interpret.h"

namespace tenfold::ops {
namespace {

// An operand as a recipe keeps it. What was made of weights may be as large as they are, and its own recipe says it all.
std::shared_ptr<const ir::Constant> operand_of(const ir::Value* value) {
  if (!value) return nullptr;
  constexpr std::int64_t kSmall = 4096;   // bytes
  const ir::Constant& constant = *value->constant;
  if (ir::weight_of(constant) || !ir::may_change(constant) || constant.tensor.bytes() <= kSmall) return value->constant;
  return std::make_shared<const ir::Constant>(ir::Constant{.recipe = constant.recipe});
}

// Null where no weight is behind it that may change.
std::shared_ptr<const ir::Recipe> recipe_of(const ir::Node& node, int output) {
  ir::Recipe recipe{.def = node.def,
                    .attributes = node.attributes,
                    .body = node.body,
                    .outputs = static_cast<int>(node.outputs.size()),
                    .output = output};
  bool may_change = false;
  for (const ir::Value* v : node.inputs) {
    recipe.operands.push_back(operand_of(v));
    may_change = may_change || (v && ir::may_change(*v->constant));
  }
  return may_change ? std::make_shared<const ir::Recipe>(std::move(recipe)) : nullptr;
}

ir::Value* fold_one(ir::Graph& graph, ir::Node node, std::string_view name) {
  ir::Value result;
  result.name = name;
  node.outputs = {&result};
  return fold(graph, node)[0];
}

}  // namespace

bool operands_constant(const ir::Node& node) {
  for (const ir::Value* v : node.inputs)
    if (v && !v->is_constant()) return false;
  return true;
}

std::vector<ir::Value*> fold(ir::Graph& graph, const ir::Node& node) {
  check(operands_constant(node) && node.graphs.empty() && node.anchor_inputs < 0, "folding a node that cannot be");
  std::vector<RuntimeValue> operands;
  for (const ir::Value* v : node.inputs) operands.push_back(v ? RuntimeValue(v->constant->tensor) : RuntimeValue());
  std::vector<RuntimeValue> results = run_node(node, operands);
  std::vector<ir::Value*> values;
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto constant = std::make_shared<ir::Constant>();
    constant->tensor = std::get<Tensor>(std::move(results[i]));
    constant->recipe = recipe_of(node, static_cast<int>(i));
    if (!ir::is_constant(node.outputs[i]->dims())) ir::fix(*constant, "used to decide a size");
    values.push_back(graph.add_constant(std::move(constant), node.outputs[i]->name));
  }
  return values;
}

ir::Value* fold(ir::Graph& graph, std::string_view op, std::vector<ir::Value*> operands, ir::Attributes attributes, std::string_view name) {
  ir::Node node;
  node.def = &graph.registry().get(op), node.inputs = std::move(operands), node.attributes = std::move(attributes);
  return fold_one(graph, std::move(node), name);
}

ir::Value* fold(ir::Graph& graph, ir::Body body, std::vector<ir::Value*> operands, std::string_view name) {
  ir::Node node;
  node.def = &graph.registry().get("Region"), node.inputs = std::move(operands), node.body = std::move(body);
  return fold_one(graph, std::move(node), name);
}

ir::Value* fold_reshape(ir::Graph& graph, ir::Value* constant, const Shape& shape, std::string_view name) {
  Tensor extents(DType::i64, {static_cast<std::int64_t>(shape.size())});
  std::copy(shape.begin(), shape.end(), extents.mutable_data<std::int64_t>());
  ir::Value result;
  ir::Node node;
  node.def = &graph.registry().get("Reshape"), node.attributes = {{"allowzero", std::int64_t{1}}}, node.outputs = {&result};
  node.inputs = {constant, graph.add_constant(std::move(extents))};
  auto folded = std::make_shared<ir::Constant>();
  folded->tensor = constant->constant->tensor.reshaped(shape);  // the same bytes: weights are large
  folded->recipe = recipe_of(node, 0);
  return graph.add_constant(std::move(folded), std::string(name));
}

}  // namespace tenfold::ops
