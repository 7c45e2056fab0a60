// tenfold/network.h: models made in code, or read from ONNX, walked and edited. Operators are added by name, with ONNX's attributes.
#include "native/bind/network.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "native/options/options.h"
#include "native/options/values.h"
#include "tenfold/plugin.h"

namespace tenfold::python {
namespace {

std::vector<NetworkDim> dims_of(nb::handle dims) {
  std::vector<NetworkDim> made;
  for (nb::handle d : nb::borrow(dims)) {
    if (PyUnicode_Check(d.ptr()))
      made.emplace_back(std::string(nb::cast<const char*>(d)));
    else
      made.emplace_back(number_of(d));
  }
  return made;
}

nb::object as_tuple(const std::vector<NetworkDim>& dims) {
  nb::list made;
  for (const NetworkDim& d : dims) made.append(d.name.empty() ? nb::object(nb::int_(d.extent)) : nb::object(nb::str(d.name.c_str())));
  return nb::tuple(made);
}

NetworkAttribute list_attribute(nb::handle value, const std::string& name) {
  std::vector<std::int64_t> numbers;
  std::vector<float> floats;
  std::vector<std::string> strings;
  for (nb::handle item : nb::borrow(value)) {
    if (PyUnicode_Check(item.ptr()) || PyBytes_Check(item.ptr()))
      strings.push_back(text_of(item));
    else if (PyFloat_Check(item.ptr()))
      floats.push_back(nb::cast<float>(item));
    else
      numbers.push_back(number_of(item)), floats.push_back(static_cast<float>(numbers.back()));
  }
  if (!strings.empty() && (!floats.empty() || !numbers.empty())) raise_type_error("attribute '" + name + "' mixes strings and numbers");
  if (!strings.empty()) return strings;
  if (floats.size() > numbers.size()) return floats;  // a float among them makes all floats
  return numbers;
}

NetworkAttribute attribute_of(nb::handle value, const std::string& name) {
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr())) return text_of(value);
  if (PyBool_Check(value.ptr())) return static_cast<std::int64_t>(value.is(nb::handle(Py_True)));
  if (PyFloat_Check(value.ptr())) return nb::cast<float>(value);
  if (PyIndex_Check(value.ptr()) != 0 && !nb::hasattr(value, "__array_interface__")) return number_of(value);
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) return list_attribute(value, name);
  return tensor_of(value, "attribute '" + name + "'");
}

PyNetwork read(nb::handle model, const nb::dict& keywords) {
  BuildConfig config;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, config, callbacks, "Network.read");
  if (PyUnicode_Check(model.ptr()) || nb::hasattr(model, "__fspath__")) {
    const std::string path = text_of(model);
    return {std::make_shared<Network>(callbacks->run([&] { return Network::read(path, config); }))};
  }
  Py_buffer buffer{};
  if (PyObject_GetBuffer(model.ptr(), &buffer, PyBUF_SIMPLE) != 0) throw nb::python_error();
  const std::shared_ptr<Py_buffer> held(&buffer, PyBuffer_Release);
  const std::span bytes(static_cast<const std::byte*>(buffer.buf), static_cast<std::size_t>(buffer.len));
  return {std::make_shared<Network>(callbacks->run([&] { return Network::read(bytes, config); }))};
}

nb::object describe_node(const PyNetwork& n, NetworkNodeRef ref) {
  const NetworkNodeInfo info = n->node(ref);
  nb::dict attributes;
  for (const auto& [name, value] : info.attributes) attributes[name.c_str()] = attribute_value(value);
  return nb::make_tuple(info.name, info.op, info.domain, info.inputs, info.outputs, attributes, info.bodies);
}

}  // namespace

nb::object attribute_value(const NetworkAttribute& a) {
  return std::visit(
      [](const auto& value) -> nb::object {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>)
          return array_of(value);
        else if constexpr (std::is_same_v<T, std::int64_t>)
          return nb::int_(value);
        else if constexpr (std::is_same_v<T, float>)
          return nb::float_(value);
        else
          return nb::cast(value);
      },
      a);
}

NetworkAttributes attributes_from(const nb::dict& given) {
  NetworkAttributes made;
  for (auto [name, value] : given) {
    const std::string key = nb::cast<const char*>(name);
    if (!value.is_none()) made.emplace(key, attribute_of(value, key));
  }
  return made;
}

void bind_network(nb::module_& m) {
  nb::class_<NetworkTensor>(m, "TensorRef", "A value of one network, by number.")
      .def(nb::init<>())
      .def_prop_ro("defined", &NetworkTensor::defined)
      .def_prop_ro("key", [](const NetworkTensor& t) { return nb::make_tuple(t.network, t.index); });
  nb::class_<NetworkNodeRef>(m, "NodeRef", "A node of one network, by number.")
      .def_prop_ro("defined", &NetworkNodeRef::defined)
      .def_prop_ro("key", [](const NetworkNodeRef& t) { return nb::make_tuple(t.network, t.index); });
  nb::class_<PyNetwork> network(m, "NetworkData", "A graph that is made layer by layer.");
  bind_bodies(network);
  network
      .def(
          "__init__",
          [](PyNetwork* self, const std::string& name, std::shared_ptr<Plugins> plugins) {
            new (self) PyNetwork{std::make_shared<Network>(name, std::move(plugins))};
          },
          nb::arg("name"), nb::arg("plugins").none())
      .def_static("read", &read, nb::arg("model"), nb::arg("options"))
      .def("input", [](PyNetwork& n, const std::string& name, nb::handle dtype,
                       nb::handle dims) { return n->input(name, dtype_of(dtype, "input '" + name + "'"), dims_of(dims)); })
      .def("constant", [](PyNetwork& n, nb::handle value,
                          const std::string& name) { return n->constant(tensor_of(value, "constant '" + name + "'"), name); })
      .def("add", [](PyNetwork& n, const std::string& op, const std::vector<NetworkTensor>& inputs, nb::dict attributes, int outputs,
                     const std::string& name,
                     const std::string& domain) { return n->add_node(op, inputs, attributes_from(attributes), outputs, name, domain); })
      .def("mark_output", [](PyNetwork& n, NetworkTensor t, const std::string& name) { n->mark_output(t, name); })
      .def("dtype", [](const PyNetwork& n, NetworkTensor t) { return std::string(name(n->dtype(t))); })
      .def("dims", [](const PyNetwork& n, NetworkTensor t) { return as_tuple(n->dims(t)); })
      .def("describe", [](const PyNetwork& n, NetworkTensor t) { return n->describe(t); })
      .def("text", [](const PyNetwork& n) { return n->text(); })
      .def("nodes", [](const PyNetwork& n) { return n->nodes(); })
      .def("node", &describe_node)
      .def("inputs", [](const PyNetwork& n) { return n->inputs(); })
      .def("outputs", [](const PyNetwork& n) { return n->outputs(); })
      .def("name", [](const PyNetwork& n, NetworkTensor t) { return n->name(t); })
      .def("find", [](const PyNetwork& n, const std::string& name) { return n->find(name); })
      .def("producer", [](const PyNetwork& n, NetworkTensor t) { return n->producer(t); })
      .def("users", [](const PyNetwork& n, NetworkTensor t) { return n->users(t); })
      .def("constant_value",
           [](const PyNetwork& n, NetworkTensor t) {
             const std::optional<Tensor> value = n->constant_value(t);
             return value ? array_of(*value) : nb::none();
           })
      .def("rename", [](PyNetwork& n, NetworkTensor t, const std::string& name) { n->rename(t, name); })
      .def("rename_node", [](PyNetwork& n, NetworkNodeRef r, const std::string& name) { n->rename(r, name); })
      .def("set_attribute",
           [](PyNetwork& n, NetworkNodeRef r, const std::string& name, nb::handle v) { n->set_attribute(r, name, attribute_of(v, name)); })
      .def("remove_attribute", [](PyNetwork& n, NetworkNodeRef r, const std::string& name) { n->remove_attribute(r, name); })
      .def("set_input", [](PyNetwork& n, NetworkNodeRef r, int i, NetworkTensor t) { n->set_input(r, i, t); })
      .def("set_constant", [](PyNetwork& n, NetworkTensor t, nb::handle v) { n->set_constant(t, tensor_of(v, "the constant")); })
      .def("replace", [](PyNetwork& n, NetworkTensor t, NetworkTensor by) { n->replace(t, by); })
      .def("remove", [](PyNetwork& n, NetworkNodeRef r) { n->remove(r); })
      .def("remove_output", [](PyNetwork& n, const std::string& name) { n->remove_output(name); })
      .def("remove_input", [](PyNetwork& n, const std::string& name) { n->remove_input(name); })
      .def("remove_unused", [](PyNetwork& n) { return n->remove_unused(); });
}

}  // namespace tenfold::python
