// Networks from ONNX, walked and edited from C.
#include "c/build/network_common.h"

using namespace tenfold;
using namespace tenfold::c;

namespace {

constexpr const char* kPlace = "the place for the information";

tenfold_node handle(tenfold_network& net, NetworkNodeRef node) {
  if (!node.defined()) return -1;
  if (net.nodes.size() <= static_cast<std::size_t>(node.index)) net.nodes.resize(static_cast<std::size_t>(node.index) + 1);
  net.nodes[static_cast<std::size_t>(node.index)] = node;  // a handle is the reference's index
  return node.index;
}
NetworkNodeRef node_of(const tenfold_network& net, tenfold_node node) { return element(net.nodes, node, "node"); }

template <class List, class T>
void give_handles(tenfold_network& net, const List& list, T* to, std::int32_t* count, const char* what) {
  std::vector<T> handles;
  for (const auto& one : list) handles.push_back(handle(net, one));
  give_list(handles, to, count, what);
}

std::vector<tenfold_value> value_handles(tenfold_network& net, const Network::Tensors& list) {
  std::vector<tenfold_value> handles;
  for (NetworkTensor t : list) handles.push_back(t.defined() ? c::handle(net, t) : -1);
  return handles;
}

template <class Act>
tenfold_status edit(tenfold_network* network, Act act) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");   // before it is looked into
    act(net, *net.network);
  });
}

static_assert(std::variant_size_v<NetworkAttribute> == TENFOLD_ATTRIBUTE_TENSOR + 1);

}  // namespace

// The attribute as the caller's struct; texts and lists lie in the network's copy of the node, a tensor becomes the caller's.
tenfold_attribute tenfold::c::reported(tenfold_network& net, const std::string& name, const NetworkAttribute& value,
                                       tenfold_data** tensor) {
  tenfold_attribute a{};
  a.name = name.c_str(), a.kind = static_cast<std::int32_t>(value.index()), a.count = 1;
  const auto list = [&](const auto& all, auto& to) { to = all.data(), a.count = all.size(); };
  if (const auto* one = std::get_if<std::int64_t>(&value))
    a.ints = one;
  else if (const auto* number = std::get_if<float>(&value))
    a.floats = number;
  else if (const auto* text = std::get_if<std::string>(&value))
    net.strings = {text->c_str()}, a.strings = net.strings.data();
  else if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&value))
    list(*ints, a.ints);
  else if (const auto* floats = std::get_if<std::vector<float>>(&value))
    list(*floats, a.floats);
  else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    net.strings.clear();
    for (const std::string& t : *texts) net.strings.push_back(t.c_str());
    list(net.strings, a.strings);
  } else {
    place(tensor, "the place for the attribute's tensor", [&] { return new tenfold_data{std::get<Tensor>(value)}; });
    a.tensor = *tensor;
  }
  return a;
}
extern "C" tenfold_status tenfold_network_read(const char* path, const tenfold_build_config* config, tenfold_network** network) {
  return guarded([&] {
    need(network, "the place for the network") =
        new tenfold_network{std::make_unique<Network>(Network::read(std::string(&need(path, "the path")), config_of(config)))};
  });
}
extern "C" tenfold_status tenfold_network_read_bytes(const void* onnx, size_t bytes, const tenfold_build_config* config,
                                                     tenfold_network** network) {
  return guarded([&] {
    const std::span model(&need(static_cast<const std::byte*>(onnx), "the model"), bytes);
    place(network, "the place for the network",
          [&] { return new tenfold_network{std::make_unique<Network>(Network::read(model, config_of(config)))}; });
  });
}

extern "C" tenfold_status tenfold_network_nodes(tenfold_network* network, tenfold_node* nodes, int32_t* count) {
  return edit(network, [&](auto& net, Network& n) { give_handles(net, n.nodes(), nodes, count, "nodes"); });
}
extern "C" tenfold_status tenfold_network_inputs(tenfold_network* network, tenfold_value* values, int32_t* count) {
  return edit(network, [&](auto& net, Network& n) { give_list(value_handles(net, n.inputs()), values, count, "inputs"); });
}
extern "C" tenfold_status tenfold_network_outputs(tenfold_network* network, tenfold_value* values, int32_t* count) {
  return edit(network, [&](auto& net, Network& n) { give_list(value_handles(net, n.outputs()), values, count, "outputs"); });
}
extern "C" tenfold_status tenfold_network_node(tenfold_network* network, tenfold_node node, tenfold_node_info* info) {
  return edit(network, [&](auto& net, Network& n) {
    net.node = n.node(node_of(net, node));
    net.inputs = value_handles(net, net.node.inputs), net.outputs = value_handles(net, net.node.outputs);
    give(info,
         {0, net.node.name.c_str(), net.node.op.c_str(), net.node.domain.c_str(), net.inputs.data(), net.outputs.data(),
          static_cast<std::int32_t>(net.inputs.size()), static_cast<std::int32_t>(net.outputs.size()),
          static_cast<std::int32_t>(net.node.attributes.size()), net.node.bodies},
         kPlace);
  });
}
extern "C" tenfold_status tenfold_network_node_attribute(tenfold_network* network, tenfold_node node, int32_t index,
                                                         tenfold_attribute* attribute, tenfold_data** tensor) {
  return edit(network, [&](auto& net, Network& n) {
    net.node = n.node(node_of(net, node));
    require(index >= 0 && static_cast<std::size_t>(index) < net.node.attributes.size(), ErrorKind::invalid_argument, "node '",
            net.node.name, "' has no attribute ", index);
    const auto& [name, value] = *std::next(net.node.attributes.begin(), index);
    give(attribute, reported(net, name, value, tensor), "the place for the attribute");
  });
}
extern "C" tenfold_status tenfold_network_node_body(tenfold_network* network, tenfold_node node, int32_t index, tenfold_network** body) {
  return edit(network, [&](auto& net, Network& n) {
    place(body, "the place for the body",
          [&] { return new tenfold_network{std::make_unique<Network>(n.body(node_of(net, node), index))}; });
  });
}
extern "C" tenfold_status tenfold_network_value(tenfold_network* network, tenfold_value value, tenfold_value_info* info) {
  return edit(network, [&](auto& net, Network& n) {
    const NetworkTensor t = value_of(net, value);
    net.name = n.name(t), net.type = n.describe(t);
    net.shape.clear();
    for (const NetworkDim& d : n.dims(t)) net.shape.push_back(d.name.empty() ? d.extent : -1);
    give(info,
         {0, net.name.c_str(), name(n.dtype(t)).data(), net.type.c_str(), net.shape.data(), static_cast<std::int32_t>(net.shape.size()),
          n.constant_value(t).has_value(), handle(net, n.producer(t))},
         kPlace);
  });
}
extern "C" tenfold_status tenfold_network_find(tenfold_network* network, const char* name, tenfold_value* value) {
  return edit(network, [&](auto& net, Network& n) {
    const NetworkTensor found = n.find(&need(name, "the name"));
    require(found.defined(), ErrorKind::invalid_argument, "the network has no value '", name, "'");
    need(value, "the place for the value") = c::handle(net, found);
  });
}
extern "C" tenfold_status tenfold_network_users(tenfold_network* network, tenfold_value value, tenfold_node* nodes, int32_t* count) {
  return edit(network, [&](auto& net, Network& n) { give_handles(net, n.users(value_of(net, value)), nodes, count, "nodes"); });
}
extern "C" tenfold_status tenfold_network_constant_data(tenfold_network* network, tenfold_value value, tenfold_data** data) {
  return edit(network, [&](auto& net, Network& n) {
    std::optional<Tensor> content = n.constant_value(value_of(net, value));
    require(content.has_value(), ErrorKind::invalid_argument, "value ", value, " is no constant");
    place(data, "the place for the data", [&] { return new tenfold_data{std::move(*content)}; });
  });
}

extern "C" tenfold_status tenfold_network_rename_value(tenfold_network* network, tenfold_value value, const char* name) {
  return edit(network, [&](auto& net, Network& n) { n.rename(value_of(net, value), &need(name, "the name")); });
}
extern "C" tenfold_status tenfold_network_rename_node(tenfold_network* network, tenfold_node node, const char* name) {
  return edit(network, [&](auto& net, Network& n) { n.rename(node_of(net, node), &need(name, "the name")); });
}
extern "C" tenfold_status tenfold_network_set_attribute(tenfold_network* network, tenfold_node node, const tenfold_attribute* attribute) {
  return edit(network, [&](auto& net, Network& n) {
    const tenfold_attribute a = taken(attribute, "the attribute");
    n.set_attribute(node_of(net, node), &need(a.name, "the attribute's name"), attribute_of(a));
  });
}
extern "C" tenfold_status tenfold_network_remove_attribute(tenfold_network* network, tenfold_node node, const char* name) {
  return edit(network, [&](auto& net, Network& n) { n.remove_attribute(node_of(net, node), &need(name, "the name")); });
}
extern "C" tenfold_status tenfold_network_set_input(tenfold_network* network, tenfold_node node, int32_t index, tenfold_value value) {
  return edit(network, [&](auto& net, Network& n) { n.set_input(node_of(net, node), index, value_of(net, value)); });
}
extern "C" tenfold_status tenfold_network_set_constant(tenfold_network* network, tenfold_value value, const tenfold_data* content) {
  return edit(network, [&](auto& net, Network& n) { n.set_constant(value_of(net, value), need(content, "the content").value.tensor()); });
}
extern "C" tenfold_status tenfold_network_replace(tenfold_network* network, tenfold_value value, tenfold_value by) {
  return edit(network, [&](auto& net, Network& n) { n.replace(value_of(net, value), value_of(net, by)); });
}
extern "C" tenfold_status tenfold_network_remove(tenfold_network* network, tenfold_node node) {
  return edit(network, [&](auto& net, Network& n) { n.remove(node_of(net, node)); });
}
extern "C" tenfold_status tenfold_network_remove_input(tenfold_network* network, const char* name) {
  return edit(network, [&](auto&, Network& n) { n.remove_input(&need(name, "the name")); });
}
extern "C" tenfold_status tenfold_network_remove_output(tenfold_network* network, const char* name) {
  return edit(network, [&](auto&, Network& n) { n.remove_output(&need(name, "the name")); });
}
extern "C" tenfold_status tenfold_network_remove_unused(tenfold_network* network, int32_t* removed) {
  return edit(network, [&](auto&, Network& n) {
    const int count = n.remove_unused();
    if (removed) *removed = count;
  });
}
extern "C" tenfold_status tenfold_network_text(tenfold_network* network, const char** text) {
  return edit(network, [&](auto& net, Network& n) {
    net.text = n.text();
    need(text, "the place for the text") = net.text.c_str();
  });
}
