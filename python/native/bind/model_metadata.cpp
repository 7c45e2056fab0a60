// tenfold/model_metadata.h: what a model's file says of itself, and what it declares of its inputs and outputs.
#include "tenfold/model_metadata.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "native/bytes.h"
#include "native/native.h"
#include "native/options/values.h"
#include "tenfold/internal/model_arguments.h"

namespace tenfold::python {
namespace {

// `read` of a model's path or of its bytes.
template <class Read>
auto of_file(nb::handle model, Read read) {
  if (is_path(model)) return read(text_of(model));
  return read(Bytes(model).span());
}

nb::tuple dims_of(const DeclaredValue& value) {
  nb::list dims;
  for (std::size_t d = 0; d < value.shape.size(); ++d) {
    if (value.shape[d] >= 0) dims.append(value.shape[d]);
    else if (value.names[d].empty()) dims.append(nb::none());
    else dims.append(value.names[d]);
  }
  return nb::tuple(dims);
}

}  // namespace

void bind_model_metadata(nb::module_& m) {
  using M = ModelMetadata;
  nb::class_<M>(m, "ModelMetadata", "What a model's file says of itself; texts are empty where it says nothing.")
      .def_ro("producer_name", &M::producer_name)
      .def_ro("producer_version", &M::producer_version)
      .def_ro("domain", &M::domain)
      .def_ro("description", &M::description)
      .def_ro("graph_name", &M::graph_name)
      .def_ro("graph_description", &M::graph_description)
      .def_ro("version", &M::version, "The model's, as its makers count; None: the file has none.")
      .def_ro("properties", &M::properties, "Texts that tools left there, such as the names of classes.");
  m.def(
      "model_metadata", [](nb::handle model) { return of_file(model, [](const auto& from) { return model_metadata(from); }); },
      nb::arg("model"));
  nb::class_<DeclaredValue>(m, "DeclaredValue", "An input or output as a model's file declares it.")
      .def_ro("name", &DeclaredValue::name)
      .def_ro("type", &DeclaredValue::type, "'tensor(f32)', 'seq(tensor(i64))'.")
      .def_ro("ranked", &DeclaredValue::ranked, "Whether it has a shape.")
      .def_prop_ro("dims", &dims_of, nb::sig("def dims(self) -> tuple[int | str | None, ...]"),
                   "Extents; where they are open, the file's names, or None.");
  nb::class_<ModelArguments>(m, "ModelArguments", "What a model's file declares; nothing is inferred.")
      .def_ro("inputs", &ModelArguments::inputs, "Those that are no initializers.")
      .def_ro("overridable", &ModelArguments::overridable, "Initializers that are inputs, too.")
      .def_ro("outputs", &ModelArguments::outputs)
      .def_ro("initializers", &ModelArguments::initializers)
      .def_ro("external", &ModelArguments::external, "Initializers whose data lie in other files.");
  m.def(
      "model_arguments", [](nb::handle model) { return of_file(model, [](const auto& from) { return model_arguments(from); }); },
      nb::arg("model"));
}

}  // namespace tenfold::python
