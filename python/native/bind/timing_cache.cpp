// tenfold/timing_cache.h: what tactics took, shared by builds.
#include "tenfold/timing_cache.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "native/options/values.h"

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
      .def("keys", &TimingCache::keys, "What builds ask for: '0x' and 32 hexadecimal digits for each problem on a machine.")
      .def(
          "fastest",
          [](const TimingCache& t, const std::string& key) -> nb::object {
            const auto found = t.fastest(key);
            return found ? nb::object(nb::make_tuple(found->tactic, found->config, found->nanoseconds)) : nb::none();
          },
          nb::arg("key"), nb::sig("def fastest(self, key: str) -> tuple[str, str, float] | None"),
          "Tactic, configuration and nanoseconds of the fastest of a key.")
      .def("__len__", &TimingCache::size);
}

}  // namespace tenfold::python
