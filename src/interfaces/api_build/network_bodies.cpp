// If, Loop and Scan in a Network: the caller's functions fill closed graphs, whose inputs are their own and the captured values.
#include <algorithm>

#include "api_build/network_impl.h"

namespace tenfold {

NetworkNode::NetworkNode(Network::Impl& network, const Network::Impl::Bodies* bodies, std::string op, std::string name)
    : OnnxImport(*network.graph, std::move(op), std::move(name), 1 << 16), network_(network), bodies_(bodies) {}

bool NetworkNode::has_graph(std::string_view attribute) const { return bodies_ && bodies_->by_name.count(attribute) > 0; }

// A value of the network around this body, as the body's own: an input, or a constant.
ir::Value* Network::Impl::capture(ir::Value* outer_value) {
  const auto [it, fresh] = captured.try_emplace(outer_value, nullptr);
  if (!fresh) return it->second;
  if (outer_value->is_constant()) return it->second = graph->add_constant(outer_value->constant, outer_value->name);
  it->second = graph->add_input(outer_value->name, outer_value->type);
  it->second->contents = outer_value->contents;
  captures.push_back(outer_value);
  // The outer network may have got symbols since this body was begun.
  for (const ir::Symbol& symbol : outer->graph->symbols)
    if (std::none_of(graph->symbols.begin(), graph->symbols.end(), [&](const ir::Symbol& own) { return own.name == symbol.name; }))
      graph->symbols.push_back(symbol);
  return it->second;
}

std::vector<std::unique_ptr<ir::Graph>> NetworkNode::closed_bodies(const std::vector<std::string>& names,
                                                                   const std::vector<std::vector<ir::ValueType>>& formal,
                                                                   std::vector<ir::Value*>& captures) {
  std::vector<Made> made;
  for (std::size_t i = 0; i < names.size(); ++i) {
    require(has_graph(names[i]), ErrorKind::invalid_argument, "its body '", names[i], "' is missing");
    std::string& prefix = prefixes_[names[i]];
    if (prefix.empty()) prefix = graph().unique_name(name() + "/" + names[i]) + "/";
    made.push_back(call(names[i], formal[i]));
    // How many results the node has shows only now: a loop's condition is not one of them.
    const std::size_t results = made[i].graph->outputs.size(), own = op() == "Loop" ? 1 : 0;
    require(results >= own, ErrorKind::invalid_argument, "its body returns nothing; the condition is its first result");
    require(i == 0 || results - own == output_names.size(), ErrorKind::invalid_argument, "its bodies return ", output_names.size(), " and ",
            results, " results");
    output_names.assign(results - own, "result");
    for (ir::Value* v : made[i].captures)
      if (std::find(captures.begin(), captures.end(), v) == captures.end()) captures.push_back(v);
  }
  // Every body has an input for each capture, in one order.
  std::vector<std::unique_ptr<ir::Graph>> graphs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    ir::Graph& body = *made[i].graph;
    std::vector<ir::Value*> inputs(body.inputs.begin(), body.inputs.begin() + static_cast<std::ptrdiff_t>(formal[i].size()));
    for (ir::Value* v : captures) {
      const auto here = made[i].captured.find(v);
      inputs.push_back(here != made[i].captured.end() ? here->second : body.add_input(v->name, v->type));
    }
    body.inputs = std::move(inputs);
    graphs.push_back(std::move(made[i].graph));
  }
  return graphs;
}

NetworkNode::Made NetworkNode::call(const std::string& body_name, const std::vector<ir::ValueType>& formal) {
  Made made{std::make_unique<ir::Graph>(graph().registry()), {}, {}};
  ir::Graph& body = *made.graph;
  body.symbols = graph().symbols;
  auto impl = std::make_unique<Network::Impl>(&body, prefixes_[body_name]);
  Network::Impl& inner = *impl;
  Network network(std::move(impl));
  inner.outer = &network_;
  struct Open {
    explicit Open(int& count) : count(count) { ++count; }
    ~Open() { --count; }
    int& count;
  } const open(network_.open_bodies);
  Network::Tensors inputs;
  for (std::size_t i = 0; i < formal.size(); ++i) inputs.push_back(inner.handle(body.add_input(cat("in", i), formal[i])));
  for (ir::Value* outer : bodies_->captures) inputs.push_back(inner.handle(inner.capture(outer)));
  const Network::Tensors results = (*bodies_->by_name.find(body_name)->second)(network, inputs);
  for (NetworkTensor t : results) body.outputs.push_back(inner.need(t, "a result of the body"));
  body.sweep();
  made.captured = std::move(inner.captured), made.captures = std::move(inner.captures);
  return made;
}

Network::Tensors Network::if_conditional(NetworkTensor condition, const Tensors& captures, const Body& then_body, const Body& else_body) {
  require(then_body && else_body, ErrorKind::invalid_argument, "if_conditional needs two bodies");
  Impl::Bodies bodies{{{"then_branch", &then_body}, {"else_branch", &else_body}}, {}};
  for (NetworkTensor t : captures) bodies.captures.push_back(impl_->need(t, "a captured tensor"));
  return impl_->append("If", {impl_->need(condition, "the condition")}, {}, 0, "", &bodies);
}

Network::Tensors Network::loop(NetworkTensor trips, NetworkTensor condition, const Tensors& carried, const Tensors& captures,
                               const Body& body) {
  require(body != nullptr, ErrorKind::invalid_argument, "loop needs a body");
  require(trips.defined() || condition.defined(), ErrorKind::invalid_argument,
          "loop needs a trip count or a condition: it would never end");
  Impl::Bodies bodies{{{"body", &body}}, {}};
  for (NetworkTensor t : captures) bodies.captures.push_back(impl_->need(t, "a captured tensor"));
  std::vector<ir::Value*> inputs{impl_->value(trips), impl_->value(condition)};
  for (NetworkTensor t : carried) inputs.push_back(impl_->need(t, "a carried tensor"));
  return impl_->append("Loop", std::move(inputs), {}, 0, "", &bodies);
}

Network::Tensors Network::scan(const Tensors& states, const Tensors& sequences, const Tensors& captures, const Body& body,
                               const NetworkAttributes& attributes) {
  require(body != nullptr, ErrorKind::invalid_argument, "scan needs a body");
  require(!sequences.empty(), ErrorKind::invalid_argument, "scan needs a sequence: it would never end");
  Impl::Bodies bodies{{{"body", &body}}, {}};
  for (NetworkTensor t : captures) bodies.captures.push_back(impl_->need(t, "a captured tensor"));
  ir::Attributes own;
  for (const auto& [key, value] : attributes) {
    require(key.starts_with("scan_"), ErrorKind::invalid_argument, "Scan has no attribute '", key, "'");
    own.set(key, value);
  }
  own.set("num_scan_inputs", static_cast<std::int64_t>(sequences.size()));
  std::vector<ir::Value*> inputs;
  for (NetworkTensor t : states) inputs.push_back(impl_->need(t, "a state"));
  for (NetworkTensor t : sequences) inputs.push_back(impl_->need(t, "a sequence"));
  return impl_->append("Scan", std::move(inputs), std::move(own), 0, "", &bodies);
}

}  // namespace tenfold
