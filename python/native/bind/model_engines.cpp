// tenfold/model_engines.h: the engines of one model for the arrays that come. A Session's own.
#include "tenfold/model_engines.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "native/bytes.h"
#include "native/call/bound_context.h"
#include "native/errors.h"
#include "native/options/options.h"
#include "native/options/values.h"
#include "tenfold/plan_cache.h"

namespace tenfold::python {
namespace {

bool any_in_background = false;

Tune tune_of(const std::string& text) {
  if (text == "now") return Tune::now;
  if (text == "never") return Tune::never;
  if (text == "background") return Tune::background;
  raise_error(ErrorKind::invalid_argument, "tune is 'now', 'never' or 'background', got '" + text + "'");
}

// All but construction under the interpreter's lock, which guards the wrapped engines.
class PyModelEngines {
 public:
  PyModelEngines(nb::handle model, const nb::dict& keywords, const std::string& tune, nb::handle cache,
                 nb::handle tuner, nb::object wrap)
      : wrap_(std::move(wrap)) {
    ModelEnginesOptions options;
    options.tune = tune_of(tune);
    any_in_background = any_in_background || options.tune == Tune::background;
    if (!cache.is_none()) options.cache = nb::cast<PlanCache&>(cache);
    try {
      if (!tuner.is_none()) options.tuner = text_of(tuner);
    } catch (const WrongValue&) {
      raise_type_error("tuner is the path of the program tenfold, got " + class_name(tuner));
    }
    for (const auto& [name, kept] : {std::pair{"log", &log_}, {"progress", &progress_}})
      if (keywords.contains(name)) *kept = hold(keywords[name]);
    const auto callbacks = std::make_shared<Callbacks>();
    read_options(keywords, options.build, callbacks, "Session");
    options.build.progress = nullptr;
    if (is_path(model)) {
      const std::string path = text_of(model);
      callbacks->run([&] { engines_ = std::make_unique<ModelEngines>(path, std::move(options)); });
    } else {
      const Bytes bytes(model);
      const auto span = bytes.span();
      callbacks->run([&] {
        engines_ = std::make_unique<ModelEngines>(std::vector<std::byte>(span.begin(), span.end()), std::move(options));
      });
    }
    for (const int i : engines_->open_inputs())
      names_.push_back(nb::str(engines_->bindings()[static_cast<std::size_t>(i)].name.c_str()));
  }
  ~PyModelEngines() { drop_without_gil(engines_); }
  PyModelEngines(const PyModelEngines&) = delete;
  PyModelEngines& operator=(const PyModelEngines&) = delete;

  nb::object engine_of(const nb::dict& feed) {
    const std::vector<Shape> shapes = shapes_in(feed);
    if (std::optional<ServedEngine> found = engines_->find(shapes)) return answer(*found);
    return answer(built([&](const BuildWatch& watch) { return engines_->engine_for(shapes, watch); }));
  }
  bool has_engine_of(const nb::dict& feed) { return engines_->find(shapes_in(feed)).has_value(); }
  nb::object any() {
    return answer(built([&](const BuildWatch& watch) { return engines_->any_engine(watch); }));
  }
  bool wait(std::optional<double> seconds) {
    constexpr double kYear = 365.0 * 24 * 3600;
    if (!(seconds.value_or(0) >= 0)) raise_error(ErrorKind::invalid_argument, "timeout is a number of seconds from 0, or None");
    const double max = std::min(seconds.value_or(kYear), kYear);
    const auto callbacks = std::make_shared<Callbacks>();  // signals are looked at
    return callbacks->run([&] {
      return engines_->wait(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(max)));
    });
  }
  nb::list served() const {
    nb::list list;
    for (const ServedShapes& s : engines_->served()) {
      nb::dict ranges;
      for (const auto& [name, r] : s.shapes)
        ranges[name.c_str()] = nb::make_tuple(tuple_of(r.min), tuple_of(r.opt), tuple_of(r.max));
      list.append(nb::make_tuple(ranges, s.tuned, s.pending, s.failure, s.requests));
    }
    return list;
  }
  const std::vector<BindingInfo>& bindings() const { return engines_->bindings(); }
  bool one_for_all() const { return names_.empty(); }

 private:
  std::vector<Shape> shapes_in(const nb::dict& feed) const {
    std::vector<Shape> shapes;
    for (const nb::str& name : names_) shapes.push_back(shape_in(feed, name));
    return shapes;
  }
  // The engine tells what is wrong with arrays that have none.
  static Shape shape_in(const nb::dict& feed, const nb::str& name) {
    PyObject* const array = PyDict_GetItem(feed.ptr(), name.ptr());
    if (array == nullptr)
      raise_error(ErrorKind::invalid_argument, "input '" + std::string(name.c_str()) + "' is missing");
    const nb::object shape = nb::getattr(nb::handle(array), "shape", nb::make_tuple());
    try {
      return shape_of(shape);
    } catch (const WrongValue&) {
      raise_error(ErrorKind::invalid_argument,
                  "input '" + std::string(name.c_str()) + "' has no shape: " + class_name(array));
    }
  }
  // A build has callbacks of its own, so that what they raise comes out of the call that waits for it.
  template <class Build>
  ServedEngine built(Build build_engine) {
    const auto callbacks = std::make_shared<Callbacks>();
    callbacks->log_to(nb::handle(log_.get())), callbacks->progress_to(nb::handle(progress_.get()));
    BuildConfig watched;
    callbacks->watch(watched);
    const BuildWatch watch{callbacks->log(), watched.progress};
    return *callbacks->run([&] { return std::optional(build_engine(watch)); });
  }
  nb::object answer(const ServedEngine& found) { return nb::make_tuple(wrapped(found), found.settled); }
  // One object of Python's for each engine: its contexts wait there for the next call. Those of engines that were
  // replaced go.
  nb::object wrapped(const ServedEngine& found) {
    if (const auto known = objects_.find(found.number); known != objects_.end()) return known->second;
    const nb::object made = wrap_(PyEngine{std::make_shared<SharedEngine>(found.engine)});
    if (const auto known = objects_.find(found.number); known != objects_.end())
      return known->second;  // another thread was quicker
    std::map<std::uint64_t, nb::object> kept{{found.number, made}};
    for (const ServedShapes& s : engines_->served())
      if (const auto known = objects_.find(s.number); known != objects_.end()) kept.insert(*known);
    objects_.swap(kept);
    return made;
  }

  nb::object wrap_;
  std::unique_ptr<ModelEngines> engines_;
  std::vector<nb::str> names_;  // of the open inputs
  std::map<std::uint64_t, nb::object> objects_;
  Held log_, progress_;
};

}  // namespace

// What is built there may be about to call Python. Where nothing can be, daemon threads need not run once more.
void end_tuning() {
  if (!any_in_background) return;
  const Unlocked unlocked;
  end_background_builds();
}

void bind_model_engines(nb::module_& m) {
  nb::class_<PyModelEngines>(m, "ModelEngines", "The engines of one model for the arrays that come.")
      .def(nb::init<nb::handle, const nb::dict&, const std::string&, nb::handle, nb::handle, nb::object>(),
           nb::arg("model"), nb::arg("options"), nb::arg("tune"), nb::arg("cache").none(), nb::arg("tuner").none(),
           nb::arg("wrap"),
           nb::sig("def __init__(self, model: Any, options: dict[str, Any], tune: str, cache: PlanCache | None, "
                   "tuner: str | os.PathLike[str] | None, wrap: Callable[[Engine], Any]) -> None"))
      .def("engine_of", &PyModelEngines::engine_of, nb::arg("feed"),
           nb::sig("def engine_of(self, feed: dict[str, Any]) -> tuple[Any, bool]"),
           "The engine for arrays by name, built if there is none, and whether no other will take its place.")
      .def("has_engine_of", &PyModelEngines::has_engine_of, nb::arg("feed"),
           nb::sig("def has_engine_of(self, feed: dict[str, Any]) -> bool"), "Whether engine_of() would build none.")
      .def("any", &PyModelEngines::any, nb::sig("def any(self) -> tuple[Any, bool]"),
           "The same of the one used last, else of one for open extents of 1.")
      .def("wait", &PyModelEngines::wait, nb::arg("seconds").none(),
           nb::sig("def wait(self, seconds: float | None) -> bool"),
           "Until nothing is being tuned; False: it took longer.")
      .def("served", &PyModelEngines::served,
           nb::sig("def served(self) -> list[tuple[dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, "
                   "...]]], bool, bool, str, int]]"),
           "For each engine: ranges of the open inputs, whether it is tuned, whether a tuned one is to come, why none "
           "could be made, "
           "how often it was given.")
      .def_prop_ro("bindings", &PyModelEngines::bindings, "Inputs, then outputs.")
      .def_prop_ro("one_for_all", &PyModelEngines::one_for_all, "Whether one engine serves all shapes that may come.");
}

}  // namespace tenfold::python
