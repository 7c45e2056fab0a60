// tenfold/timing_cache.h: what tactics took, shared by builds.
#include "tenfold/timing_cache.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "values.h"

namespace tenfold::python {

void bind_timing_cache(nb::module_& m) {
  nb::class_<TimingCache>(m, "TimingCache", "Times of kernels that builds share: build(timings=).")
      .def(nb::init<>())
      .def_static(
          "load", [](nb::handle path) { return TimingCache::load(text_of(path)); }, nb::arg("path"),
          nb::sig("def load(path: str | os.PathLike[str]) -> TimingCache"))
      .def_static("parse", &TimingCache::parse, nb::arg("text"))
      .def(
          "save", [](TimingCache& t, nb::handle path) { t.save(text_of(path)); }, nb::arg("path"),
          nb::sig("def save(self, path: str | os.PathLike[str]) -> None"), "Merges with the file and replaces it.")
      .def("merge", &TimingCache::merge, nb::arg("other"))
      .def_prop_ro("text", &TimingCache::text)
      .def("__len__", &TimingCache::size);
}

}  // namespace tenfold::python
