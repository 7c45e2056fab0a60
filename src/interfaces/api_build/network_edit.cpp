// Networks walked and edited: nodes, values, attributes and constants of a graph, one made layer by layer or read from ONNX.
#include <algorithm>
#include <deque>
#include <filesystem>

#include "api_build/network_impl.h"
#include "builder/model/model.h"
#include "ir/effects.h"
#include "ir/infer_named.h"
#include "onnx_import/import.h"
#include "runtime/plugins/plugins.h"
#include "tenfold/build.h"

namespace tenfold {

NetworkNodeRef Network::Impl::handle(ir::Node* node) {
  const auto [it, fresh] = node_handles.try_emplace(node, static_cast<std::int32_t>(nodes.size()));
  if (fresh) nodes.push_back(node);
  return {it->second, id};
}

ir::Node* Network::Impl::node(NetworkNodeRef ref) const {
  require(ref.defined() && ref.network == id && ref.index < static_cast<std::int32_t>(nodes.size()), ErrorKind::invalid_argument,
          "a node of another network is used, or none");
  ir::Node* const found = nodes[static_cast<std::size_t>(ref.index)];
  require(found != nullptr, ErrorKind::invalid_argument, "a node is used that was removed from the network");
  return found;
}

void Network::Impl::forget(const ir::Value* value) {
  const auto it = handles.find(value);
  if (it == handles.end()) return;
  values[static_cast<std::size_t>(it->second)] = nullptr;
  handles.erase(it);
}

void Network::Impl::forget(const ir::Node* node) {
  const auto it = node_handles.find(node);
  if (it == node_handles.end()) return;
  nodes[static_cast<std::size_t>(it->second)] = nullptr;
  node_handles.erase(it);
}

ir::Value* Network::Impl::find(const std::string& name, const ir::Value* except) {
  const auto& all = graph->values();
  for (auto it = all.rbegin(); named < all.size(); ++it, ++named) names[(*it)->name].push_back(it->get());
  const auto found = names.find(name);
  if (found == names.end()) return nullptr;
  ir::Value* first = nullptr;
  std::erase_if(found->second, [&](const ir::Value* v) { return v->name != name; });   // it has another name by now
  for (ir::Value* v : found->second)
    if (v != except && (!first || v->id < first->id)) first = v;
  return first;
}

void Network::Impl::set_name(ir::Value& value, const std::string& name) {
  find(name);   // all values are among the names from here on
  value.name = name;
  names[name].push_back(&value);
}

void Network::Impl::infer_from(ir::Node& first) {
  std::deque<ir::Node*> open{&first};
  while (!open.empty()) {
    ir::Node& node = *open.front();
    open.pop_front();
    std::vector<std::string> before;
    for (const ir::Value* v : node.outputs) before.push_back(ir::text(v->type));
    ir::infer_named(*graph, node);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const ir::Value& v = *node.outputs[i];
      if (ir::text(v.type) == before[i] && !v.contents) continue;
      for (ir::Node* user : v.users)
        if (std::find(open.begin(), open.end(), user) == open.end()) open.push_back(user);
    }
  }
}

namespace {

// A change, and what takes it back if it does not fit.
template <class Do, class Undo>
void change(Do act, Undo undo) {
  try {
    act();
  } catch (const Error& error) {
    undo();
    throw Error(error.kind() == ErrorKind::invalid_model ? ErrorKind::invalid_argument : error.kind(), error.what());
  }
}

}  // namespace

Network Network::read(const std::string& path, const BuildConfig& config) {
  ir::Graph graph = onnx_import::import_file(path, builder::import_options(config), runtime::registry_with(config.plugins.get()));
  if (graph.name.empty()) graph.name = std::filesystem::path(path).filename().string();
  return Network(std::make_unique<Impl>(std::move(graph), config.plugins));
}
Network Network::read(std::span<const std::byte> onnx, const BuildConfig& config) {
  return Network(std::make_unique<Impl>(
      onnx_import::import_bytes(onnx, builder::import_options(config), {}, runtime::registry_with(config.plugins.get())), config.plugins));
}

std::vector<NetworkNodeRef> Network::nodes() const {
  impl_->graph->sort();
  std::vector<NetworkNodeRef> list;
  for (const auto& node : impl_->graph->nodes()) list.push_back(impl_->handle(node.get()));
  return list;
}

NetworkNodeInfo Network::node(NetworkNodeRef ref) const {
  const ir::Node& node = *impl_->node(ref);
  NetworkNodeInfo info{.name = node.name, .op = node.op(), .bodies = static_cast<int>(node.graphs.size())};
  info.domain = node.def->onnx_domain;
  for (ir::Value* v : node.inputs) info.inputs.push_back(v ? impl_->handle(v) : NetworkTensor{});
  for (ir::Value* v : node.outputs) info.outputs.push_back(impl_->handle(v));
  for (const auto& [key, value] : node.attributes) info.attributes[key] = value;
  return info;
}

Network Network::body(NetworkNodeRef ref, int index) const {
  const ir::Node& node = *impl_->node(ref);
  require(index >= 0 && index < static_cast<int>(node.graphs.size()), ErrorKind::invalid_argument, "node '", node.name, "' (", node.op(),
          ") has ", node.graphs.size(), " bodies, there is no body ", index);
  return Network(std::make_unique<Impl>(node.graphs[static_cast<std::size_t>(index)]->clone(), impl_->plugins, true));
}

Network::Tensors Network::inputs() const {
  Tensors list;
  for (ir::Value* v : impl_->graph->inputs) list.push_back(impl_->handle(v));
  return list;
}
Network::Tensors Network::outputs() const {
  Tensors list;
  for (ir::Value* v : impl_->graph->outputs) list.push_back(impl_->handle(v));
  return list;
}

std::string Network::name(NetworkTensor value) const { return impl_->need(value, "the tensor")->name; }

NetworkTensor Network::find(std::string_view name) const {
  ir::Value* const v = impl_->find(std::string(name));
  const auto& inputs = impl_->graph->inputs;
  const bool there = v && (v->producer || v->is_constant() || std::find(inputs.begin(), inputs.end(), v) != inputs.end());
  return there ? impl_->handle(v) : NetworkTensor{};
}

NetworkNodeRef Network::producer(NetworkTensor value) const {
  ir::Node* const node = impl_->need(value, "the tensor")->producer;
  return node ? impl_->handle(node) : NetworkNodeRef{};
}

std::vector<NetworkNodeRef> Network::users(NetworkTensor value) const {
  std::vector<NetworkNodeRef> list;
  for (ir::Node* user : impl_->need(value, "the tensor")->users)
    if (const NetworkNodeRef ref = impl_->handle(user); std::find(list.begin(), list.end(), ref) == list.end()) list.push_back(ref);
  return list;
}

std::optional<Tensor> Network::constant_value(NetworkTensor value) const {
  const ir::Value* v = impl_->need(value, "the tensor");
  return v->is_constant() ? std::optional(v->constant->tensor) : std::nullopt;
}

void Network::rename(NetworkTensor value, const std::string& name) {
  impl_->may_edit();
  ir::Value* v = impl_->need(value, "the tensor");
  require(!name.empty(), ErrorKind::invalid_argument, "a value needs a name");
  require(!impl_->find(name, v), ErrorKind::invalid_argument, "another value is named '", name, "'");
  if (const auto it = impl_->outputs.find(v->name); it != impl_->outputs.end() && it->second == v) {
    impl_->outputs.erase(it);
    impl_->outputs[name] = v;
  }
  impl_->set_name(*v, name);
  if (!v->is_constant() || v->constant->weight_name.empty()) return;
  auto named = std::make_shared<ir::Constant>(*v->constant);   // a refit asks for it by that name, too
  named->weight_name = name;
  v->constant = std::move(named);
}

void Network::rename(NetworkNodeRef node, const std::string& name) {
  impl_->may_edit();
  require(!name.empty(), ErrorKind::invalid_argument, "a node needs a name");
  impl_->node(node)->name = name;
}

void Network::set_attribute(NetworkNodeRef ref, const std::string& name, NetworkAttribute value) {
  impl_->may_edit();
  ir::Node& node = *impl_->node(ref);
  const ir::Attributes before = node.attributes;
  change(
      [&] {
        node.attributes.set(name, std::move(value));
        ir::check_attributes(*node.def, node.attributes);
        impl_->infer_from(node);
      },
      [&] {
        node.attributes = before;
        impl_->infer_from(node);
      });
}

void Network::remove_attribute(NetworkNodeRef ref, const std::string& name) {
  impl_->may_edit();
  ir::Node& node = *impl_->node(ref);
  const ir::Attributes before = node.attributes;
  require(before.has(name), ErrorKind::invalid_argument, "node '", node.name, "' has no attribute '", name, "'");
  change(
      [&] {
        node.attributes.erase(name);
        impl_->infer_from(node);
      },
      [&] {
        node.attributes = before;
        impl_->infer_from(node);
      });
}

namespace {

// Would `value` come from `node`, so that reading it there made a circle?
bool follows(const ir::Value* value, const ir::Node* node) {
  std::vector<const ir::Value*> open{value};
  std::unordered_map<const ir::Node*, bool> seen;
  while (!open.empty()) {
    const ir::Value* v = open.back();
    open.pop_back();
    if (!v || !v->producer || seen[v->producer]) continue;
    if (v->producer == node) return true;
    seen[v->producer] = true;
    open.insert(open.end(), v->producer->inputs.begin(), v->producer->inputs.end());
  }
  return false;
}

}  // namespace

void Network::set_input(NetworkNodeRef ref, int index, NetworkTensor tensor) {
  impl_->may_edit();
  ir::Node& node = *impl_->node(ref);
  ir::Value* const value = impl_->value(tensor);
  require(index >= 0 && index < static_cast<int>(node.inputs.size()), ErrorKind::invalid_argument, "node '", node.name, "' has ",
          node.inputs.size(), " inputs, there is no input ", index);
  require(!follows(value, &node), ErrorKind::invalid_argument, "node '", node.name, "' would read what comes from itself");
  ir::Value* const before = node.inputs[static_cast<std::size_t>(index)];
  change(
      [&] {
        impl_->graph->set_input(node, index, value);
        impl_->graph->sort();
        impl_->infer_from(node);
      },
      [&] {
        impl_->graph->set_input(node, index, before);
        impl_->graph->sort();
        impl_->infer_from(node);
      });
}

void Network::set_constant(NetworkTensor tensor, Tensor content) {
  impl_->may_edit();
  ir::Value* const v = impl_->need(tensor, "the tensor");
  require(v->is_constant(), ErrorKind::invalid_argument, "'", v->name, "' is no constant");
  require(content.defined() && content.dtype() != DType::string, ErrorKind::invalid_argument, "the new content of '", v->name,
          "' must be a tensor of numbers");
  ir::Value* const made = impl_->graph->add_constant(std::move(content), "", !v->constant->weight_name.empty());
  auto constant = std::make_shared<ir::Constant>(*made->constant);
  constant->weight_name = v->constant->weight_name, constant->recipe = nullptr;
  const ir::Value before = *v;
  const auto infer_users = [&] {
    const std::vector<ir::Node*> users = v->users;
    for (ir::Node* user : users) impl_->infer_from(*user);
  };
  change(
      [&] {
        v->constant = std::move(constant), v->type = made->type, v->contents = made->contents;
        infer_users();
      },
      [&] {
        v->constant = before.constant, v->type = before.type, v->contents = before.contents;
        infer_users();
      });
}

void Network::replace(NetworkTensor old_value, NetworkTensor by) {
  impl_->may_edit();
  ir::Value* const from = impl_->need(old_value, "the tensor to replace");
  ir::Value* const to = impl_->need(by, "the tensor to take its place");
  if (from == to) return;
  ir::Graph& graph = *impl_->graph;
  // What makes the new value may read the old one, and goes on doing so.
  std::vector<std::pair<ir::Node*, int>> uses;
  for (ir::Node* user : std::vector<ir::Node*>(from->users))
    if (!follows(to, user))
      for (std::size_t i = 0; i < user->inputs.size(); ++i)
        if (user->inputs[i] == from && std::find(uses.begin(), uses.end(), std::pair(user, static_cast<int>(i))) == uses.end())
          uses.emplace_back(user, static_cast<int>(i));
  const auto point_to = [&](ir::Value* value) {
    for (const auto& [user, i] : uses) graph.set_input(*user, i, value);
    graph.sort();
    for (const auto& [user, i] : uses) impl_->infer_from(*user);
  };
  change([&] { point_to(to); }, [&] { point_to(from); });
  for (ir::Value*& output : graph.outputs) {
    if (output != from) continue;
    const std::string name = from->name;
    ir::Value* const copy = graph.make("Identity", {to});  // an output is a value of its own
    impl_->set_name(*from, graph.unique_name(name));
    impl_->set_name(*copy, name);
    output = copy;
    impl_->outputs[name] = copy;
  }
}

void Network::remove(NetworkNodeRef ref) {
  impl_->may_edit();
  ir::Node& node = *impl_->node(ref);
  for (const ir::Value* v : node.outputs)
    require(v->users.empty() && !impl_->graph->is_output(v), ErrorKind::invalid_argument, "node '", node.name, "': its result '", v->name,
            "' is used");
  for (ir::Value* v : node.outputs) impl_->forget(v), v->name.clear();  // another may have the name now
  impl_->forget(&node);
  impl_->graph->erase(node);
}

void Network::remove_output(const std::string& name) {
  impl_->may_edit();
  auto& outputs = impl_->graph->outputs;
  const auto it = std::find_if(outputs.begin(), outputs.end(), [&](const ir::Value* v) { return v->name == name; });
  require(it != outputs.end(), ErrorKind::invalid_argument, "there is no output '", name, "'");
  impl_->outputs.erase(name);
  outputs.erase(it);
}

void Network::remove_input(const std::string& name) {
  impl_->may_edit();
  auto& inputs = impl_->graph->inputs;
  const auto it = std::find_if(inputs.begin(), inputs.end(), [&](const ir::Value* v) { return v->name == name; });
  require(it != inputs.end(), ErrorKind::invalid_argument, "there is no input '", name, "'");
  require((*it)->users.empty() && !impl_->graph->is_output(*it), ErrorKind::invalid_argument, "the input '", name, "' is used");
  impl_->forget(*it), (*it)->name.clear();   // another may have the name now
  inputs.erase(it);
}

int Network::remove_unused() {
  impl_->may_edit();
  impl_->graph->sort();
  int removed = 0;
  std::vector<ir::Node*> list = impl_->graph->node_list();
  for (auto it = list.rbegin(); it != list.rend(); ++it) {
    const auto used = [&](const ir::Value* v) { return !v->users.empty() || impl_->graph->is_output(v); };
    if (ir::judges(**it) || std::any_of((*it)->outputs.begin(), (*it)->outputs.end(), used)) continue;
    remove(impl_->handle(*it));
    ++removed;
  }
  return removed;
}

}  // namespace tenfold
