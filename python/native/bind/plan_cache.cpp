// tenfold/plan_cache.h: a folder of plans, found again by what they were made from.
#include "tenfold/plan_cache.h"

#include <nanobind/stl/string.h>

#include <optional>

#include "native/bytes.h"
#include "native/call/bound_context.h"
#include "native/errors.h"
#include "native/options/options.h"
#include "native/options/values.h"

namespace tenfold::python {
namespace {

nb::object build_cached(const PlanCache& cache, nb::handle model, const nb::dict& keywords) {
  BuildConfig config;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, config, callbacks, "build");
  bool cached = false;
  std::optional<Engine> made;
  if (is_path(model)) {
    const std::string file = text_of(model);
    made = callbacks->run([&] { return std::optional(build_file(file, config, cache, "", &cached)); });
  } else {
    const Bytes bytes(model);
    made = callbacks->run([&] { return std::optional(build_bytes(bytes.span(), config, cache, "", &cached)); });
  }
  return nb::make_tuple(PyEngine{std::make_shared<SharedEngine>(std::move(*made))}, cached);
}

PyEngine get(const PlanCache& cache, const std::string& key, nb::handle make, const std::string& name, const nb::dict& keywords) {
  LoadOptions options;
  const auto callbacks = std::make_shared<Callbacks>();
  read_options(keywords, options, callbacks, "load");
  const auto made = [&] {
    const nb::gil_scoped_acquire locked;
    return engine_from(make(), "the function that makes an entry of the plan cache");
  };
  Engine engine = callbacks->run([&] { return cache.get(key, made, options, name); });
  return {std::make_shared<SharedEngine>(std::move(engine))};
}

}  // namespace

void bind_plan_cache(nb::module_& m) {
  nb::class_<PlanCache>(m, "PlanCache", "A folder of plans; processes share it.")
      .def(
          "__init__",
          [](PlanCache* self, nb::handle folder, std::int64_t max_bytes, nb::handle weights) {
            PlanCacheOptions options{.folder = folder.is_none() ? "" : text_of(folder)};
            if (max_bytes != 0) options.max_bytes = max_bytes;
            options.load = loader_of(weights);
            new (self) PlanCache(std::move(options));
          },
          nb::arg("folder") = nb::none(), nb::arg("max_bytes") = 0, nb::arg("weights") = "automatic",
          nb::sig("def __init__(self, folder: str | os.PathLike[str] | None = None, max_bytes: int = 0, "
                  "weights: str = 'automatic') -> None"))
      .def_prop_ro("folder", &PlanCache::folder)
      .def("clear", &PlanCache::clear, "Removes all plans; how many.")
      .def("get", &get, nb::arg("key"), nb::arg("make"), nb::arg("name"), nb::arg("options"),
           "The engine of the file `name` if it holds the key, or else what `make` gives, which is then stored there.")
      .def("build", &build_cached, nb::arg("model"), nb::arg("options"),
           "The engine of a model (a path, or bytes), and whether its plan was there.");
}

}  // namespace tenfold::python
