// tenfold/plugin.h: sets of operators, of libraries and of tenfold.plugins.
#include "tenfold/plugin.h"

#include <nanobind/stl/shared_ptr.h>

#include "native/options/values.h"
#include "native/plugins/plugin_operator.h"
#include "native/plugins/plugin_values.h"

namespace tenfold::python {

void bind_plugin(nb::module_& m) {
  nb::class_<Plugins>(m, "Plugins", "Operators and tactics beside the built-in ones: for build(plugins=) and load(plugins=).")
      .def(nb::init<>())
      .def(
          "load", [](Plugins& p, nb::handle path) { p.load(text_of(path)); }, nb::arg("path"),
          nb::sig("def load(self, path: str | os.PathLike[str]) -> None"), "All operators of a library.")
      .def(
          "add", [](Plugins& p, nb::handle op) { p.add((new PythonOperator(op))->table()); },  // release() deletes it, refused or not
          nb::arg("op"), nb::sig("def add(self, op: Any) -> None"), "An operator that tenfold.plugins.op or graph made.");
  bind_plugin_values(m), bind_plugin_tactic(m);
}

}  // namespace tenfold::python
