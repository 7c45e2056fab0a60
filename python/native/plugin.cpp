// tenfold/plugin.h, as far as libraries of plug-ins go; operators written in Python come with an issue of their own.
#include "tenfold/plugin.h"

#include <nanobind/stl/shared_ptr.h>

#include "values.h"

namespace tenfold::python {

void bind_plugin(nb::module_& m) {
  nb::class_<Plugins>(m, "Plugins", "Operators and tactics beside the built-in ones: for build(plugins=) and load(plugins=).")
      .def(nb::init<>())
      .def(
          "load", [](Plugins& p, nb::handle path) { p.load(text_of(path)); }, nb::arg("path"),
          nb::sig("def load(self, path: str | os.PathLike[str]) -> None"), "All operators of a library.");
}

}  // namespace tenfold::python
