// tenfold/model_metadata.h: what a model's file says of itself.
#include "tenfold/model_metadata.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>

#include "bytes.h"
#include "native.h"
#include "values.h"

namespace tenfold::python {

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
      "model_metadata",
      [](nb::handle model) {
        if (is_path(model)) return model_metadata(text_of(model));
        return model_metadata(Bytes(model).span());
      },
      nb::arg("model"));
}

}  // namespace tenfold::python
