// Following weights through a build, and writing recipes as one graph.
#include "builder/refit/refit_recorder.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/files/hash.h"
#include "ir/recipe.h"
#include "ir/text.h"

namespace tenfold::builder {
namespace {

constexpr std::string_view kNoUser = "used up when the model was imported, or by nothing";
constexpr std::string_view kIndices = "taken for a shape, an index or a condition: it is of type ";

bool holds_numbers(DType type) { return type != DType::i64 && type != DType::u64 && type != DType::boolean && type != DType::string; }

void collect_used(const ir::Graph& graph, std::set<const ir::Constant*>& used) {
  for (const auto& v : graph.values())
    if (v->is_constant() && (!v->users.empty() || graph.is_output(v.get()))) used.insert(v->constant.get());
  for (const auto& n : graph.nodes())
    for (const auto& body : n->graphs) collect_used(*body, used);
}

// The graph of recipes while it grows: one input per weight that may change, then what is made of them.
class Writer {
 public:
  Writer(const std::vector<SharedConstant>& weights, const ir::Registry& registry) : graph_(registry) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const Tensor& t = weights[i]->tensor;
      if (!ir::may_change(*weights[i])) continue;
      Made& made = inputs_[ir::weight_of(*weights[i])];
      made.value = graph_.add_input(cat("w", i), {.tensor = {t.dtype(), ir::to_dims(t.shape())}});
      made.weights = {i};
    }
  }

  // Which weights (by number) the constant depends on.
  const std::set<std::size_t>& add_result(const SharedConstant& constant) {
    const Made& made = value_of(constant);
    graph_.outputs.push_back(made.value);
    return made.weights;
  }

  std::string text(std::vector<SharedConstant>& constants) const { return ir::print(graph_, {.constants = &constants}); }

 private:
  struct Made {
    ir::Value* value = nullptr;
    std::set<std::size_t> weights;
  };

  const Made& value_of(const SharedConstant& c) {
    const bool may_change = ir::may_change(*c);
    if (may_change && ir::weight_of(*c)) return inputs_.at(ir::weight_of(*c));
    const std::string key = may_change ? keys_.of(c) : cat(c.get());
    if (const auto it = made_.find(key); it != made_.end()) return it->second;
    Made made;
    if (may_change || ir::has_recipe_alone(*c)) made = from_recipe(*c->recipe);
    else made.value = graph_.add_constant(c, "");
    return made_[key] = std::move(made);
  }

  Made from_recipe(const ir::Recipe& recipe) {
    Made made;
    ir::Node node;
    node.def = recipe.def, node.attributes = recipe.attributes, node.body = recipe.body;
    for (const SharedConstant& operand : recipe.operands) {
      const Made* from = operand ? &value_of(operand) : nullptr;
      node.inputs.push_back(from ? from->value : nullptr);
      if (from) made.weights.insert(from->weights.begin(), from->weights.end());
    }
    made.value = graph_.add(std::move(node), recipe.outputs)->out(recipe.output);
    return made;
  }

  ir::Graph graph_;
  RefitKeys keys_;
  std::map<const ir::Weight*, Made> inputs_;
  std::map<std::string, Made> made_;
};

}  // namespace

std::shared_ptr<const ir::Recipe> weight_recipe(std::string name) {
  ir::Recipe recipe{.weight = std::make_shared<ir::Weight>()};
  recipe.weight->name = std::move(name);
  return std::make_shared<const ir::Recipe>(std::move(recipe));
}

SharedConstant RefitRecorder::with_weight(const SharedConstant& constant) {
  auto copy = std::make_shared<ir::Constant>(*constant);
  copy->recipe = weight_recipe(constant->weight_name);
  const DType type = constant->tensor.dtype();
  if (!holds_numbers(type)) ir::fix(*copy, cat(kIndices, name(type)));
  for (const SharedConstant& other : weights_) {
    if (other->weight_name != copy->weight_name) continue;
    for (const SharedConstant& c : {other, SharedConstant(copy)}) ir::fix(*c, "given to two weights of the same name");
    return copy;
  }
  weights_.push_back(copy);
  return copy;
}

void RefitRecorder::track(ir::Graph& graph, std::map<SharedConstant, SharedConstant>& tracked) {
  for (const auto& v : graph.values()) {
    if (!v->is_constant() || v->constant->weight_name.empty()) continue;
    SharedConstant& known = tracked[v->constant];
    if (!known) known = with_weight(v->constant);
    v->constant = known;
  }
  for (const auto& n : graph.nodes())
    for (const auto& body : n->graphs) track(*body, tracked);
}

void RefitRecorder::track(ir::Graph& graph) {
  std::map<SharedConstant, SharedConstant> tracked;
  track(graph, tracked);
  std::set<const ir::Constant*> used;
  collect_used(graph, used);
  for (const SharedConstant& c : weights_)
    if (!used.count(c.get())) ir::fix(*c, kNoUser);
}

plan::Refit RefitRecorder::write(const std::vector<SharedConstant>& origins, const ir::Registry& registry) const {
  plan::Refit refit;
  Writer writer(weights_, registry);
  std::set<std::size_t> kept;   // weights that are needed when another one changes
  for (std::size_t i = 0; i < origins.size(); ++i) {
    if (!origins[i] || !ir::may_change(*origins[i])) continue;
    const std::set<std::size_t>& from = writer.add_result(origins[i]);
    refit.results.push_back(static_cast<std::int32_t>(i));
    if (from.size() > 1) kept.insert(from.begin(), from.end());
  }
  std::vector<SharedConstant> constants;
  refit.recipes = writer.text(constants);
  for (const SharedConstant& c : constants) refit.tensors.push_back(c->tensor);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const Tensor& t = weights_[i]->tensor;
    plan::RefitWeight& weight = refit.weights.emplace_back();
    weight.name = weights_[i]->weight_name, weight.dtype = t.dtype(), weight.shape = t.shape(),
    weight.fixed = ir::weight_of(*weights_[i])->fixed;
    if (t.dtype() != DType::string)
      weight.hash = hash64(std::span(static_cast<const std::byte*>(t.raw()), static_cast<std::size_t>(t.bytes())));
    if (!kept.count(i)) continue;
    weight.original = static_cast<std::int32_t>(refit.tensors.size());
    refit.tensors.push_back(t);
  }
  return refit;
}

}  // namespace tenfold::builder
