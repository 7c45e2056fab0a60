// Networks from C: one call per node.
#include "c/build/network_common.h"
#include "c/run/plugins.h"

using namespace tenfold;
using namespace tenfold::c;

NetworkTensor tenfold::c::value_of(const tenfold_network& net, tenfold_value value) {
  if (value == -1) return {};
  require(value >= 0 && value < static_cast<tenfold_value>(net.values.size()), ErrorKind::invalid_argument, "there is no value ", value);
  return net.values[static_cast<std::size_t>(value)];
}
Network::Tensors tenfold::c::values_of(const tenfold_network& net, const tenfold_value* values, std::int32_t count) {
  require(count >= 0 && (count == 0 || values), ErrorKind::invalid_argument, "a count is negative or a list is null");
  Network::Tensors list;
  for (std::int32_t i = 0; i < count; ++i) list.push_back(value_of(net, values[i]));
  return list;
}

tenfold_value tenfold::c::handle(tenfold_network& net, NetworkTensor value) {
  if (!value.defined()) return -1;
  const auto index = static_cast<std::size_t>(value.index);  // a handle is the reference's index
  if (net.values.size() <= index) net.values.resize(index + 1);
  net.values[index] = value;
  return value.index;
}

NetworkAttribute tenfold::c::attribute_of(const tenfold_attribute& a) {
  const auto text = [&](std::size_t i) {
    need(a.strings, "an attribute's strings");
    return std::string(&need(a.strings[i], "a string of an attribute"));
  };
  const auto list = [&](auto* data) {
    if (a.count) need(data, "an attribute's values");
    return std::vector(data, data + a.count);
  };
  switch (a.kind) {
    case TENFOLD_ATTRIBUTE_INT: return need(a.ints, "an attribute's value");
    case TENFOLD_ATTRIBUTE_FLOAT: return need(a.floats, "an attribute's value");
    case TENFOLD_ATTRIBUTE_STRING: return text(0);
    case TENFOLD_ATTRIBUTE_INTS: return list(a.ints);
    case TENFOLD_ATTRIBUTE_FLOATS: return list(a.floats);
    case TENFOLD_ATTRIBUTE_STRINGS: {
      std::vector<std::string> all;
      for (std::size_t i = 0; i < a.count; ++i) all.push_back(text(i));
      return all;
    }
    case TENFOLD_ATTRIBUTE_TENSOR: return need(a.tensor, "an attribute's tensor").value.tensor();
    default: fail(ErrorKind::invalid_argument, cat("attribute '", a.name, "' has the kind ", a.kind));
  }
}
NetworkAttributes tenfold::c::attributes_of(const tenfold_attribute* list, std::int32_t count) {
  require(count >= 0 && (count == 0 || list), ErrorKind::invalid_argument, "a count is negative or a list is null");
  NetworkAttributes made;
  const auto* at = reinterpret_cast<const char*>(list);
  for (std::int32_t i = 0; i < count; ++i) {
    const tenfold_attribute a = taken(reinterpret_cast<const tenfold_attribute*>(at), "an attribute");
    at += reinterpret_cast<const tenfold_attribute*>(at)->struct_size;
    made[&need(a.name, "an attribute's name")] = attribute_of(a);
  }
  return made;
}

extern "C" tenfold_status tenfold_network_create(const char* name, tenfold_network** network) {
  return guarded([&] {
    place(network, "the place for the network",
          [&] { return new tenfold_network{std::make_unique<Network>(name ? name : "network")}; });
  });
}
extern "C" tenfold_status tenfold_network_create_with(const char* name, const tenfold_plugin_set* plugins, tenfold_network** network) {
  return guarded([&] {
    need(network, "the place for the network") =
        new tenfold_network{std::make_unique<Network>(name ? name : "network", plugins_of(plugins))};
  });
}
extern "C" void tenfold_network_free(tenfold_network* network) { delete network; }

extern "C" tenfold_status tenfold_network_input(tenfold_network* network, const char* name, const char* dtype, const int64_t* dims,
                                                const char* const* names, int32_t rank, tenfold_value* value) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    const Shape extents = shape_of(dims, rank);
    std::vector<NetworkDim> list;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (extents[i] >= 0)
        list.emplace_back(extents[i]);
      else
        list.emplace_back(std::string(&need(names ? names[i] : nullptr, "the name of a dynamic dimension")));
    }
    need(value, "the place for the value") = handle(net, net.network->input(&need(name, "the input's name"), dtype_of(dtype), list));
  });
}

extern "C" tenfold_status tenfold_network_constant(tenfold_network* network, const char* name, const char* dtype, const int64_t* dims,
                                                   int32_t rank, const void* data, size_t bytes, tenfold_value* value) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    Tensor tensor = tensor_of(dtype, dims, rank, data, bytes, "a constant");
    need(value, "the place for the value") = handle(net, net.network->constant(std::move(tensor), name ? name : ""));
  });
}

extern "C" tenfold_status tenfold_network_add_node_of(tenfold_network* network, const char* domain, const char* op, const char* name,
                                                      const tenfold_value* inputs, int32_t input_count, const tenfold_attribute* attributes,
                                                      int32_t attribute_count, tenfold_value* values, int32_t output_count) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    require(output_count >= 0 && (output_count == 0 || values), ErrorKind::invalid_argument, "a count is negative or a list is null");
    const Network::Tensors results = net.network->add_node(&need(op, "the operator"), values_of(net, inputs, input_count),
                                                           attributes_of(attributes, attribute_count), output_count, name ? name : "",
                                                           domain ? domain : "");
    for (std::int32_t i = 0; i < output_count; ++i) values[i] = handle(net, results[static_cast<std::size_t>(i)]);
  });
}
extern "C" tenfold_status tenfold_network_add_node(tenfold_network* network, const char* op, const char* name, const tenfold_value* inputs,
                                                   int32_t input_count, const tenfold_attribute* attributes, int32_t attribute_count,
                                                   tenfold_value* values, int32_t output_count) {
  return tenfold_network_add_node_of(network, nullptr, op, name, inputs, input_count, attributes, attribute_count, values, output_count);
}

extern "C" tenfold_status tenfold_network_output(tenfold_network* network, tenfold_value value, const char* name) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    net.network->mark_output(value_of(net, value), &need(name, "the output's name"));
  });
}
