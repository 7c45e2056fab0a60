// The interpreter: one node or a whole graph through the reference kernels.
#include "ops/interpret.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/check.h"
#include "ops/body_interpret.h"
#include "ops/control_run.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::ops {
namespace {

using ir::Graph;
using ir::Node;
using ir::TensorRef;
using ir::Value;

TensorRef reference_to(const Tensor& t) { return {t.dtype(), t.shape(), const_cast<void*>(t.raw())}; }

// The node alone in a graph of concrete types: small operands as constants, so that inference sees their contents.
struct Alone {
  Graph graph{ir::Registry::builtin()};
  Node* node = nullptr;
};

Alone isolate(const Node& original, const std::vector<RuntimeValue>& operands, std::size_t count) {
  Alone alone;
  Node copy;
  copy.def = original.def, copy.name = original.name, copy.attributes = original.attributes, copy.numerics = original.numerics;
  if (original.def->traits.region) copy.body = original.body;
  for (std::size_t i = 0; i < count; ++i) {
    const RuntimeValue& operand = operands[i];
    if (const Tensor* t = std::get_if<Tensor>(&operand)) {
      constexpr std::int64_t kSmall = 1024;
      if (t->size() <= kSmall) copy.inputs.push_back(alone.graph.add_constant(*t));
      else copy.inputs.push_back(alone.graph.add_input("x", {.tensor = {t->dtype(), ir::to_dims(t->shape())}}));
    } else if (!operand.empty()) {
      copy.inputs.push_back(alone.graph.add_input("x", original.inputs[i]->type));
    } else {
      copy.inputs.push_back(nullptr);
    }
  }
  alone.node = alone.graph.add(std::move(copy), static_cast<int>(original.outputs.size()));
  return alone;
}

Tensor allocate(const Graph& graph, const ir::TensorType& type) {
  Shape shape;
  const ir::SymbolBounds box = graph.box();
  for (ir::Dim d : type.dims) shape.push_back(d.bounds(box).upper);
  require(element_count(shape) <= std::int64_t{1} << 40, ErrorKind::out_of_memory, "a result of type ", ir::text(type),
          " may be too large");
  return Tensor(type.dtype, std::move(shape));
}

Tensor first_elements(const Tensor& larger, const Shape& shape) {
  check(element_count(shape) <= larger.size(), "a reference kernel grew its result");
  if (larger.dtype() == DType::string)
    return Tensor::strings(shape, {larger.string_values().begin(), larger.string_values().begin() + element_count(shape)});
  Tensor exact(larger.dtype(), shape);
  std::memcpy(exact.mutable_raw(), larger.raw(), static_cast<std::size_t>(exact.bytes()));
  return exact;
}

std::vector<RuntimeValue> run_reference(const Node& original, const std::vector<RuntimeValue>& operands, std::size_t count) {
  Alone alone = isolate(original, operands, count);
  const Node& node = *alone.node;
  ir::supported(node.def->reference != nullptr, node.op(), " has no reference kernel");
  ir::Call call;
  call.node = &node;
  for (std::size_t i = 0; i < count; ++i) {
    ir::supported(operands[i].empty() || operands[i].is_tensor(), "operand ", i, " is ", operands[i].text(),
                  ", which this operator cannot read");
    call.in.push_back(operands[i].empty() ? TensorRef{} : reference_to(operands[i].tensor()));
  }
  if (!node.def->returns) node.def->reference(call);   // throws
  std::vector<Tensor> results;
  for (const Value* v : node.outputs) {
    ir::supported(v->type.is_tensor(), "its result is ", ir::text(v->type), ", which this operator cannot make");
    results.push_back(allocate(alone.graph, v->type.tensor));
    call.out.push_back({v->dtype(), results.back().shape(), results.back().mutable_raw()});
  }
  node.def->reference(call);
  std::vector<RuntimeValue> out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (call.out[i].shape != results[i].shape()) {   // shrunk: a data-dependent size
      out.emplace_back(first_elements(results[i], call.out[i].shape));
    } else {
      out.emplace_back(std::move(results[i]));
    }
  }
  return out;
}

// A kernel on whole values reads what they are: nothing is inferred, for sizes inside of them are known to nobody else.
bool takes_values(const Node& node, const std::vector<RuntimeValue>& operands) {
  if (!node.def->on_values || !node.def->reference) return node.def->on_values != nullptr;
  return std::any_of(operands.begin(), operands.end(), [](const RuntimeValue& v) { return !v.empty() && !v.is_tensor(); }) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), [](const Value* v) { return !v->type.is_tensor(); });
}
std::vector<RuntimeValue> run_on_values(const Node& node, const std::vector<RuntimeValue>& operands) {
  ir::ValueCall call(node, operands);
  node.def->on_values(call);
  return call.take();
}

// The epilogue of an anchor: its raw result and the node's further operands through the body.
RuntimeValue run_epilogue(const Node& node, const std::vector<RuntimeValue>& operands, const Tensor& raw) {
  std::vector<TensorRef> in{reference_to(raw)};
  ir::Dims dims = ir::to_dims(raw.shape());
  for (std::size_t i = static_cast<std::size_t>(node.anchor_inputs); i < operands.size(); ++i) {
    const Tensor& t = std::get<Tensor>(operands[i]);
    in.push_back(reference_to(t));
    dims = ir::broadcast(dims, ir::to_dims(t.shape()));
  }
  Tensor result(node.body->type_of(node.body->outputs[0]), ir::constants(dims));
  const TensorRef out{result.dtype(), result.shape(), result.mutable_raw()};
  interpret_body(*node.body, in, std::span(&out, 1));
  return result;
}

}  // namespace

std::vector<RuntimeValue> run_node(const Node& node, const std::vector<RuntimeValue>& operands) {
  throw_if_cancelled();
  try {
    if (!node.graphs.empty()) return run_control(node, operands);
    if (takes_values(node, operands)) return run_on_values(node, operands);
    const bool epilogue = node.body && !node.def->traits.region;
    const std::size_t own = epilogue ? static_cast<std::size_t>(node.anchor_inputs) : operands.size();
    std::vector<RuntimeValue> out = run_reference(node, operands, own);
    if (epilogue) out[0] = run_epilogue(node, operands, std::get<Tensor>(out[0]));
    return out;
  } catch (Error& e) {
    e.within("running node '" + node.name + "' (" + node.op() + ")");
    throw;   // as what it is
  }
}

std::vector<RuntimeValue> run_graph(const Graph& graph, const std::vector<RuntimeValue>& inputs, const Watch& watch) {
  require(inputs.size() == graph.inputs.size(), ErrorKind::invalid_argument, "the graph has ", graph.inputs.size(), " inputs, ",
          inputs.size(), " given");
  std::unordered_map<const Value*, RuntimeValue> values;
  std::unordered_map<const Value*, std::size_t> uses;   // results are dropped after their last use
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values[graph.inputs[i]] = inputs[i];
    uses[graph.inputs[i]] += graph.inputs[i]->users.size();
  }
  for (const Value* v : graph.outputs) ++uses[v];
  const auto get = [&](const Value* v) -> RuntimeValue {
    if (!v) return {};
    if (v->is_constant()) return v->constant->tensor;
    return values.at(v);
  };
  for (const auto& node : graph.nodes()) {
    std::vector<RuntimeValue> operands;
    for (const Value* v : node->inputs) operands.push_back(get(v));
    std::vector<RuntimeValue> results = run_node(*node, operands);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (watch) watch(*node->outputs[i], results[i]);
      values[node->outputs[i]] = std::move(results[i]);
      uses[node->outputs[i]] += node->outputs[i]->users.size();
    }
    for (const Value* v : node->inputs) {
      auto it = v ? uses.find(v) : uses.end();
      if (it != uses.end() && --it->second == 0) values.erase(v);
    }
  }
  std::vector<RuntimeValue> out;
  for (const Value* v : graph.outputs) out.push_back(get(v));
  return out;
}

}  // namespace tenfold::ops
