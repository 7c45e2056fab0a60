// tenfold/layers.h: layers in TensorRT's terms, for tenfold.tensorrt.
#include "tenfold/layers.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "native/bind/network.h"
#include "native/errors.h"

namespace tenfold::python {
namespace {

// (layer, result), a TensorRef of the network, or None.
LayerOperand operand_of(nb::handle given) {
  if (given.is_none()) return {};
  NetworkTensor tensor;
  if (nb::try_cast(given, tensor)) return {.layer = -1, .result = 0, .tensor = tensor};
  return {.layer = nb::cast<std::int32_t>(nb::object(given[0])), .result = nb::cast<std::int32_t>(nb::object(given[1])), .tensor = {}};
}
std::vector<LayerOperand> operands_of(nb::handle given) {
  std::vector<LayerOperand> made;
  for (nb::handle each : nb::borrow(given)) made.push_back(operand_of(each));
  return made;
}
nb::object as_object(const LayerOperand& operand) {
  if (!operand.given()) return nb::none();
  return operand.layer >= 0 ? nb::object(nb::make_tuple(operand.layer, operand.result)) : nb::cast(operand.tensor);
}

// Empty lists say nothing of their type: the option's own decides.
NetworkAttribute value_of(const NetworkAttribute& like, nb::handle value, const std::string& option) {
  if ((PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) && nb::len(value) == 0) {
    if (std::holds_alternative<std::vector<float>>(like)) return std::vector<float>();
    if (std::holds_alternative<std::vector<std::int64_t>>(like)) return std::vector<std::int64_t>();
  }
  if (std::holds_alternative<Tensor>(like) && value.is_none()) return Tensor();
  nb::dict one;
  one[option.c_str()] = value;
  const NetworkAttributes made = attributes_from(one);
  if (made.empty()) raise_type_error("option '" + option + "' takes no None");
  return made.begin()->second;
}

nb::object value(const NetworkAttribute& attribute) {
  if (const auto* tensor = std::get_if<Tensor>(&attribute); tensor != nullptr && !tensor->defined()) return nb::none();
  return attribute_value(attribute);
}

}  // namespace

void bind_layers(nb::module_& m) {
  nb::class_<Layers>(m, "Layers", "Layers in TensorRT's terms on a network.")
      .def(
          "__init__", [](Layers* self, PyNetwork& network) { network.check(), new (self) Layers(network.network); }, nb::arg("network"))
      .def_static("kinds", &Layers::kinds)
      .def_static("options_of",
                  [](const std::string& kind) {
                    nb::dict made;
                    for (const auto& [name, attribute] : Layers::options_of(kind)) made[name.c_str()] = value(attribute);
                    return made;
                  })
      .def("add",
           [](Layers& l, const std::string& kind, nb::handle operands, const nb::dict& options, const std::string& name) {
             const NetworkAttributes known = Layers::options_of(kind);
             NetworkAttributes given;
             for (auto [key, each] : options) {
               const std::string option = nb::cast<std::string>(nb::object(nb::borrow(key)));
               const auto like = known.find(option);
               given[option] = value_of(like == known.end() ? NetworkAttribute() : like->second, each, option);
             }
             return l.add(kind, operands_of(operands), given, name);
           })
      .def("count", &Layers::count)
      .def("kind", &Layers::kind)
      .def("name", &Layers::name)
      .def("rename", &Layers::rename)
      .def("operands",
           [](const Layers& l, std::int32_t layer) {
             nb::list made;
             for (const LayerOperand& each : l.operands(layer)) made.append(as_object(each));
             return made;
           })
      .def(
          "set_operand",
          [](Layers& l, std::int32_t layer, int index, nb::handle operand) { l.set_operand(layer, index, operand_of(operand)); },
          nb::arg("layer"), nb::arg("index"), nb::arg("operand").none())
      .def("option", [](const Layers& l, std::int32_t layer, const std::string& name) { return value(l.option(layer, name)); })
      .def(
          "set",
          [](Layers& l, std::int32_t layer, const std::string& option, nb::handle given) {
            l.set(layer, option, value_of(l.option(layer, option), given, option));
          },
          nb::arg("layer"), nb::arg("option"), nb::arg("value").none())
      .def("results", &Layers::results)
      .def("result", &Layers::result)
      .def("rename_result", &Layers::rename_result)
      .def("mark_output", [](Layers& l, nb::handle operand, const std::string& name) { l.mark_output(operand_of(operand), name); })
      .def("unmark_output", &Layers::unmark_output)
      .def("is_output", &Layers::is_output)
      .def("finalize", &Layers::finalize);
}

}  // namespace tenfold::python
