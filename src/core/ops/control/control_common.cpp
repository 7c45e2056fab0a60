// Types across the border between a graph and the bodies of its control flow.
#include "ops/control/control_common.h"

#include <algorithm>

#include "ir/infer_named.h"

namespace tenfold::ops {

using ir::Dim;
using ir::Graph;
using ir::Symbol;
using ir::ValueType;

namespace {

const Symbol* find_symbol(const Graph& graph, std::string_view name) {
  const auto it = std::find_if(graph.symbols.begin(), graph.symbols.end(), [&](const Symbol& s) { return s.name == name; });
  return it == graph.symbols.end() ? nullptr : &*it;
}

// The body needs every symbol of its input types, and those that bound them.
void adopt_symbols(const Graph& outer, Graph& body, Dim dim) {
  for (const std::string& name : dim.symbols()) {
    const Symbol* symbol = find_symbol(outer, name);
    if (symbol == nullptr || find_symbol(body, name) != nullptr) continue;
    adopt_symbols(outer, body, symbol->lower);
    adopt_symbols(outer, body, symbol->upper);
    body.symbols.push_back(*symbol);
  }
}

}  // namespace

void infer_body(const Graph& outer, Graph& body, const std::vector<Formal>& inputs) {
  ir::validate(inputs.size() == body.inputs.size(), "a body has ", body.inputs.size(), " inputs, the node gives ", inputs.size());
  body.symbols.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (Dim dim : inputs[i].type.tensor.dims) adopt_symbols(outer, body, dim);
    body.inputs[i]->type = inputs[i].type;
    body.inputs[i]->contents.reset();
    if (inputs[i].contents == nullptr || !inputs[i].contents->has_value()) continue;
    for (Dim dim : **inputs[i].contents) adopt_symbols(outer, body, dim);
    body.inputs[i]->contents = *inputs[i].contents;
  }
  for (const auto& node : body.nodes()) infer_named(body, *node);
}

ValueType lift(ir::InferCall& call, const Graph& body, ValueType type, const std::string& stem, const std::set<std::string>& inner) {
  const auto holds_outside = [&](const std::string& name) {
    return !inner.contains(name) && find_symbol(call.graph(), name) != nullptr;
  };
  const ir::SymbolBounds box = body.box();
  int number = 0;
  for (Dim& dim : type.tensor.dims) {
    ++number;
    const std::vector<std::string> symbols = dim.symbols();
    if (std::all_of(symbols.begin(), symbols.end(), holds_outside)) continue;
    const ir::Interval bounds = dim.bounds(box);
    dim = call.new_symbol(cat(stem, "_", number - 1), std::max<std::int64_t>(bounds.lower, 0),
                          std::clamp<std::int64_t>(bounds.upper, 0, ir::kUnbounded));
  }
  return type;
}

ValueType join(ir::InferCall& call, const ValueType& a, const ValueType& b, const std::string& stem) {
  call.validate(a.without_dims() == b.without_dims(), "a result is ", ir::text(a), " on one path and ", ir::text(b),
             " on another");
  if (a.unfilled) return b;
  if (b.unfilled) return a;
  ValueType type = a;
  type.ranked = a.ranked && b.ranked && a.tensor.dims.size() == b.tensor.dims.size();
  if (!type.ranked) type.tensor.dims.clear();
  for (std::size_t i = 0; i < type.tensor.dims.size(); ++i) {
    const Dim x = a.tensor.dims[i], y = b.tensor.dims[i];
    if (x != y) type.tensor.dims[i] = call.new_symbol(cat(stem, "_", i), min(x, y), max(x, y));
  }
  return type;
}

void make_failing(Graph& body, std::size_t results, const std::string& message) {
  Graph failing(body.registry());
  failing.name = body.name;
  failing.symbols = body.symbols;
  for (const ir::Value* input : body.inputs) failing.add_input(input->name, input->type);
  ir::Node* node = failing.add("Fail", {}, {{"message", message}}, static_cast<int>(results));
  failing.outputs = node->outputs;
  body = std::move(failing);
}

ir::Node* failing(const Graph& body) {
  return body.nodes().size() == 1 && body.nodes().front()->op() == "Fail" ? body.nodes().front().get() : nullptr;
}

void fill_failing(ir::InferCall& call, Graph& body, const Graph& other) {
  ir::Node* node = failing(body);
  ir::Strings types;
  for (const ir::Value* v : other.outputs) {
    for (Dim dim : v->type.tensor.dims)
      for (const std::string& name : dim.symbols())
        call.check_shape(find_symbol(call.graph(), name) != nullptr,
                         node->attributes.string("message"));  // a size that only the other body knows
    types.push_back(ir::text(v->type));
  }
  node->attributes.set("types", types);
  infer_named(body, *node);
}

std::vector<Formal> captured(const ir::Node& node, std::size_t first) {
  std::vector<Formal> formal;
  for (std::size_t i = first; i < node.inputs.size(); ++i) {
    check(node.inputs[i] != nullptr, "a capture of '", node.name, "' is missing");
    formal.push_back({node.inputs[i]->type, &node.inputs[i]->contents});
  }
  return formal;
}

}  // namespace tenfold::ops
