// tenfold/engine.h: engines, what they tell, how they are saved, refitted and called.
#include "tenfold/engine.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "native/call/async_runs.h"
#include "native/call/call.h"
#include "native/errors.h"
#include "native/long_call.h"
#include "native/options/values.h"
#include "tenfold/bindings.h"
#include "tenfold/inspect.h"

namespace tenfold::python {
namespace {

nb::object plan_bytes(const PyEngine& e) {
  std::vector<std::byte> plan;
  {
    const Unlocked unlocked;
    plan = e.state->engine.serialize();
  }
  return nb::bytes(plan.data(), plan.size());
}

void save(const PyEngine& e, nb::handle path) {
  const std::string file = text_of(path);
  const Unlocked unlocked;
  e.state->engine.save(file);
}

PyEngine refit(const PyEngine& e, nb::handle weights) {
  std::vector<std::pair<std::string, Tensor>> values;
  std::map<std::string, Tensor> named;
  take(weights, named);
  for (auto& [name, value] : named) values.emplace_back(name, std::move(value));
  return {std::make_shared<SharedEngine>(LongCall().run([&] { return e.state->engine.refit(values); }))};
}

nb::object profile_shapes(const PyEngine& e, int profile, const std::string& input) {
  const Engine::ProfileShapes s = e.state->engine.profile_shapes(profile, input);
  return nb::make_tuple(tuple_of(s.min), tuple_of(s.opt), tuple_of(s.max));
}

// Without shapes: the largest.
std::int64_t arena_bytes(const PyEngine& e, int profile, nb::handle shapes) {
  if (shapes.is_none()) return e.state->engine.arena_bytes(profile);
  const Slots& slots = *e.state->slots;
  std::vector<Shape> inputs;
  for (int b = 0; b < slots.inputs; ++b) inputs.push_back(slots.at(b).shape);
  std::vector<bool> given(inputs.size());
  for (auto [name, shape] : nb::cast<nb::dict>(shapes)) {
    const int b = slots.index(name);
    if (b >= slots.inputs) raise_error(ErrorKind::invalid_argument, slots.at(b).what() + ": shapes are those of inputs");
    inputs[static_cast<std::size_t>(b)] = shape_of(shape), given[static_cast<std::size_t>(b)] = true;
  }
  for (int b = 0; b < slots.inputs; ++b)
    if (const Shape& shape = inputs[static_cast<std::size_t>(b)];
        !given[static_cast<std::size_t>(b)] && std::find(shape.begin(), shape.end(), -1) != shape.end())
      raise_error(ErrorKind::invalid_argument, slots.at(b).what() + " has a dynamic shape: give shapes an entry for it");
  return e.state->engine.arena_bytes(profile, inputs);
}

nb::object dims_of(const BindingInfo& b) {
  nb::list dims;
  for (std::size_t d = 0; d < b.shape.size(); ++d) {
    if (b.shape[d] >= 0)
      dims.append(nb::int_(b.shape[d]));
    else
      dims.append(nb::str(d < b.names.size() ? b.names[d].c_str() : ""));
  }
  return nb::tuple(dims);
}

void bind_info(nb::module_& m) {
  m.def(
      "dtype_name", [](nb::handle dtype) { return std::string(name(dtype_of(dtype, "a type"))); }, nb::arg("dtype"),
      "Tenfold's name of NumPy's type: 'f32'.");
  m.def(
      "numpy_name", [](const std::string& dtype) { return numpy_name(dtype_of(nb::str(dtype.c_str()), "a type")); }, nb::arg("dtype"),
      "NumPy's name of an element type: 'float32' for 'f32'.");
  nb::class_<BindingInfo>(m, "Binding", "An input or output of an engine or a model.")
      .def_ro("name", &BindingInfo::name)
      .def_prop_ro(
          "dtype", [](const BindingInfo& b) { return std::string(name(b.dtype)); }, "Tenfold's name of the type: 'f32'.")
      .def_prop_ro(
          "numpy_dtype", [](const BindingInfo& b) { return numpy_name(b.dtype); }, "NumPy's name of it: 'float32'.")
      .def_prop_ro(
          "shape", [](const BindingInfo& b) { return tuple_of(b.shape); }, nb::sig("def shape(self) -> tuple[int, ...]"),
          "Extents; -1 where they depend on the shapes that are set.")
      .def_prop_ro("dims", &dims_of, nb::sig("def dims(self) -> tuple[int | str, ...]"), "Extents, names where they are dynamic.")
      .def_ro("is_input", &BindingInfo::is_input)
      .def_ro("has_default", &BindingInfo::has_default)
      .def("__repr__", [](const BindingInfo& b) {
        return std::string("<") + (b.is_input ? "input" : "output") + " '" + b.name + "' " + std::string(name(b.dtype)) + "[" +
               text(b.shape) + "]>";
      });
  nb::class_<WeightInfo>(m, "WeightInfo", "A named weight of the model that a plan was made from.")
      .def_ro("name", &WeightInfo::name)
      .def_prop_ro("dtype", [](const WeightInfo& w) { return std::string(name(w.dtype)); })
      .def_prop_ro(
          "shape", [](const WeightInfo& w) { return tuple_of(w.shape); }, nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_ro("fixed", &WeightInfo::fixed, "Why refit() refuses another value; empty: it may change.");
  nb::class_<Note>(m, "Note", "What a build or a load has to tell of its result.")
      .def_prop_ro("severity", [](const Note& n) { return name_of(n.severity); })
      .def_prop_ro("kind", [](const Note& n) { return std::string(name(n.kind)); })
      .def_ro("step", &Note::step)
      .def_ro("text", &Note::text)
      .def("__str__", [](const Note& n) { return n.text; });
  nb::class_<EngineInfo>(m, "EngineInfo", "What an engine is and needs (bytes), as tenfold/engine.h says it.")
      .def_ro("model_name", &EngineInfo::model_name)
      .def_ro("device", &EngineInfo::device)
      .def_ro("builder", &EngineInfo::builder)
      .def_ro("weight_bytes", &EngineInfo::weight_bytes)
      .def_ro("arena_bytes", &EngineInfo::arena_bytes)
      .def_ro("scratch_bytes", &EngineInfo::scratch_bytes)
      .def_ro("arena_live_bytes", &EngineInfo::arena_live_bytes)
      .def_ro("library_workspace_bytes", &EngineInfo::library_workspace_bytes)
      .def_ro("workspace_bytes", &EngineInfo::workspace_bytes)
      .def_ro("binding_bytes", &EngineInfo::binding_bytes)
      .def_ro("pinned_bytes", &EngineInfo::pinned_bytes)
      .def_ro("profiles", &EngineInfo::profiles)
      .def_ro("steps", &EngineInfo::steps)
      .def_ro("precomputed_steps", &EngineInfo::precomputed_steps)
      .def_ro("threads", &EngineInfo::threads)
      .def_ro("on_gpu", &EngineInfo::on_gpu)
      .def_ro("waits_in_run", &EngineInfo::waits_in_run)
      .def_ro("allocates_in_run", &EngineInfo::allocates_in_run)
      .def_ro("notes", &EngineInfo::notes);
}

// engine(x): the type's own slot, since a method of nanobind would gather and spread the arguments twice.
PyObject* call_slot(PyObject* self, PyObject* args, PyObject* keywords) noexcept {
  try {
    if (!nb::inst_ready(self)) raise_type_error("the engine was not initialized: tenfold.build() and tenfold.load() make engines");
    SharedEngine& state = *nb::inst_ptr<PyEngine>(self)->state;
    Call call(*state.slots);
    read_call(call, args, keywords);
    return run_call(state, call).release().ptr();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (...) {
    set_error_of(std::current_exception());
  }
  return nullptr;
}

PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_slot)}, {0, nullptr}};

nb::object run_feed(const PyEngine& e, nb::handle names, nb::handle feed) {
  Call call(*e.state->slots);
  read_feed(call, names, feed);
  return run_call(*e.state, call);
}

}  // namespace

void bind_engine(nb::module_& m) {
  bind_info(m);
  nb::class_<PyEngine>(m, "Engine", "A loaded plan. Immutable and shared by threads.", nb::type_slots(slots))
      .def(
          "__init__", [](PyEngine* self, const PyEngine& other) { new (self) PyEngine(other); }, nb::arg("engine"))
      .def("run_feed", &run_feed, nb::arg("names").none(), nb::arg("feed"), "Outputs of these names (None: all) as a list.")
      .def(
          "start",
          [](const PyEngine& e, nb::object future, const CancelToken& token, nb::handle args, nb::handle keywords) {
            start_call(e.state, future, token, args, keywords);
          },
          nb::arg("future"), nb::arg("token"), nb::arg("args"), nb::arg("keywords"),
          "Begins a call; future._finish(result, error) is called once when it is over, in some thread.")
      .def(
          "start_feed",
          [](const PyEngine& e, nb::object future, const CancelToken& token, nb::handle names, nb::handle feed) {
            start_feed(e.state, future, token, names, feed);
          },
          nb::arg("future"), nb::arg("token"), nb::arg("names").none(), nb::arg("feed"), "The same for run_feed().")
      .def("save", &save, nb::arg("path"), nb::sig("def save(self, path: str | os.PathLike[str]) -> None"),
           "Writes the plan; the file is replaced in one move.")
      .def("__bytes__", &plan_bytes)
      .def("serialize", &plan_bytes, "The plan's bytes.")
      .def_prop_ro(
          "bindings", [](const PyEngine& e) { return e.state->engine.bindings(); }, "Inputs, then outputs.")
      .def(
          "index", [](const PyEngine& e, nb::str name) { return e.state->slots->index(name); }, nb::arg("name"), "A binding's number.")
      .def_prop_ro(
          "device", [](const PyEngine& e) { return e.state->slots->device; }, "Where it runs: 'cpu', 'cuda:0'.")
      .def_prop_ro("info", [](const PyEngine& e) { return e.state->engine.info(); })
      .def_prop_ro(
          "notes", [](const PyEngine& e) { return e.state->engine.info().notes; }, "What the build and the load have to tell.")
      .def_prop_ro("labels", [](const PyEngine& e) { return e.state->engine.labels(); })
      .def_prop_ro(
          "gpu_bytes", [](const PyEngine& e) { return e.state->engine.gpu_bytes(); }, "GPU memory of this engine and its contexts.")
      .def_prop_ro(
          "captured_calls", [](const PyEngine& e) { return e.state->captured->load(); },
          "Calls that became part of callers' CUDA graphs, which live. They compute with this engine, whatever refit() makes of it.")
      .def("profile_shapes", &profile_shapes, nb::arg("profile"), nb::arg("input"),
           nb::sig("def profile_shapes(self, profile: int, input: str) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]"),
           "Smallest, usual and largest shape of an input.")
      .def("arena_bytes", &arena_bytes, nb::arg("profile") = -1, nb::arg("shapes") = nb::none(),
           nb::sig("def arena_bytes(self, profile: int = -1, shapes: Mapping[str, Sequence[int]] | None = None) -> int"),
           "What a context needs in memory of the caller's, at these shapes of the inputs, or at the largest of a profile (-1: the first "
           "that "
           "fits, or the largest of all). Inputs of fixed shapes may be left out.")
      .def(
          "inspect", [](const PyEngine& e, int detail) { return e.state->engine.inspect(detail); }, nb::arg("detail") = 1,
          "The plan in words.")
      .def(
          "inspect_json", [](const PyEngine& e) { return e.state->engine.inspect_json(); }, "The plan in trtexec's layer information form.")
      .def(
          "inspection", [](const PyEngine& e) { return e.state->engine.inspection(); }, "The plan as data.")
      .def("refit", &refit, nb::arg("weights"), nb::sig("def refit(self, weights: Mapping[str, Any]) -> Engine"),
           "A new engine with other values for named weights; shares what did not change.")
      .def_prop_ro("refittable_weights", [](const PyEngine& e) { return e.state->engine.refittable_weights(); })
      .def(
          "drop_contexts", [](const PyEngine& e) { e.state->drop_runners(); },
          "Frees the contexts that calls of this engine have made; the next call makes one anew.");
}

}  // namespace tenfold::python
