// If and Loop in a Network: the caller's functions fill closed graphs, whose inputs are their own and the captured values.
#include "api_build/network_impl.h"

namespace tenfold {

NetworkNode::NetworkNode(Network::Impl& network, const Network::Impl::Bodies* bodies, std::string op, std::string name)
    : OnnxImport(*network.graph, std::move(op), std::move(name), 1 << 16), bodies_(bodies) {}

bool NetworkNode::has_graph(std::string_view attribute) const { return bodies_ && bodies_->by_name.count(attribute) > 0; }

std::vector<std::unique_ptr<ir::Graph>> NetworkNode::closed_bodies(const std::vector<std::string>& names,
                                                                   const std::vector<std::vector<ir::ValueType>>& formal,
                                                                   std::vector<ir::Value*>& captures) {
  if (bodies_)
    for (ir::Value* v : bodies_->captures)
      if (!v->is_constant()) captures.push_back(v);  // constants become the bodies' own
  std::vector<std::unique_ptr<ir::Graph>> graphs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    require(has_graph(names[i]), ErrorKind::invalid_argument, "its body '", names[i], "' is missing");
    std::string& prefix = prefixes_[names[i]];
    if (prefix.empty()) prefix = graph().unique_name(name() + "/" + names[i]) + "/";
    auto body = std::make_unique<ir::Graph>(graph().registry());
    body->symbols = graph().symbols;
    const std::size_t results = call(names[i], *body, formal[i]).size();
    // How many results the node has shows only now: a loop's condition is not one of them.
    const std::size_t own = names[i] == "body" ? 1 : 0;
    require(results >= own, ErrorKind::invalid_argument, "its body returns nothing; the condition is its first result");
    require(i == 0 || results - own == output_names.size(), ErrorKind::invalid_argument, "its bodies return ", output_names.size(), " and ",
            results, " results");
    output_names.assign(results - own, "result");
    graphs.push_back(std::move(body));
  }
  return graphs;
}

Network::Tensors NetworkNode::call(const std::string& body_name, ir::Graph& body, const std::vector<ir::ValueType>& formal) {
  auto impl = std::make_unique<Network::Impl>(&body, prefixes_[body_name]);
  Network::Impl& inner = *impl;
  Network network(std::move(impl));
  Network::Tensors inputs;
  for (std::size_t i = 0; i < formal.size(); ++i) inputs.push_back(inner.handle(body.add_input(cat("in", i), formal[i])));
  for (const ir::Value* outer : bodies_->captures) {
    ir::Value* here = outer->is_constant() ? body.add_constant(outer->constant, outer->name) : body.add_input(outer->name, outer->type);
    here->contents = outer->contents;
    inputs.push_back(inner.handle(here));
  }
  const Network::Tensors results = (*bodies_->by_name.find(body_name)->second)(network, inputs);
  for (NetworkTensor t : results) body.outputs.push_back(inner.need(t, "a result of the body"));
  body.sweep();
  return results;
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

}  // namespace tenfold
