// Tactics that are written in Python. The tables of plugin_abi.h do not say which tactic is asked, so each number has its own functions.
#include <cstdio>
#include <utility>

#include "native/errors.h"
#include "native/plugins/plugin_failures.h"
#include "native/plugins/plugin_operator.h"
#include "native/plugins/plugin_values.h"

namespace tenfold::python {
namespace {

constexpr std::int32_t kInvalidArgument = 1, kUnsupported = 3;

PythonOperator& of(void* self) { return *static_cast<PythonOperator*>(self); }
bool has(nb::handle tactic, const char* what) { return !nb::object(tactic.attr(what)).is_none(); }

// The words of tenfold.plugins.Problem.
nb::dict problem_of(const tenfold_plugin_problem& p) {
  nb::dict made;
  made["inputs"] = types_of(p.in, p.inputs), made["outputs"] = types_of(p.out, p.outputs);
  made["attributes"] = attributes_of(p.attributes, p.attribute_count);
  made["config"] = p.config_count == 0 ? nb::tuple() : tuple_of({p.config, static_cast<std::size_t>(p.config_count)});
  made["device"] = p.device, made["device_name"] = p.device_name, made["ordinal"] = p.device_ordinal, made["arch"] = p.device_arch;
  return made;
}

// The engine's workers, as long as a call lasts.
struct Workers {
  const tenfold_plugin_run* call = nullptr;
};
struct Parts {
  nb::handle function;
  PyObject* raised = nullptr;
};
void run_part(void* context, std::int64_t i) {
  auto& parts = *static_cast<Parts*>(context);
  if (leaving()) return;
  const Locked locked;
  if (parts.raised != nullptr) return;
  PyObject* answer =
      unless_ended([&] { return PyObject_CallFunction(parts.function.ptr(), "L", static_cast<long long>(i)); });
  if (answer != nullptr) return Py_DECREF(answer);
  PyObject *type = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &parts.raised, &trace);
  PyErr_NormalizeException(&type, &parts.raised, &trace);
  Py_XDECREF(type), Py_XDECREF(trace);
}
void run_parts(const Workers& workers, std::int64_t count, nb::handle function) {
  if (workers.call == nullptr) raise_error(ErrorKind::invalid_argument, "the call that these workers belong to is over");
  Parts parts{function};
  if (workers.call->parallel == nullptr) {
    for (std::int64_t i = 0; i < count && parts.raised == nullptr; ++i) run_part(&parts, i);
  } else {
    const Unlocked unlocked;
    workers.call->parallel(workers.call, count, run_part, &parts);
  }
  if (parts.raised == nullptr) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(parts.raised)), parts.raised);
  Py_DECREF(parts.raised);
  throw nb::python_error();
}

// A tactic opened for one node of one context.
struct Opened {
  Held python;  // called in each run
  DLDevice device;
};

template <int number>
std::int32_t open(void* self, tenfold_plugin_problem* p, void** state) noexcept {
  return call_python(kInvalidArgument, p->why, p->why_bytes, [&] {
    const bool on_gpu = std::string_view(p->device) == "cuda";
    *state = new Opened{hold(of(self).tactic(number).attr("open")(problem_of(*p))), {on_gpu ? kDLCUDA : kDLCPU, p->device_ordinal}};
    return 0;
  });
}
void close(void*, void* state) noexcept { delete static_cast<Opened*>(state); }

std::int32_t run(void*, void* state, tenfold_plugin_run* call) noexcept {
  const Opened& opened = *static_cast<Opened*>(state);
  return call_python(kInvalidArgument, call->why, call->why_bytes, [&] {
    const auto live = std::make_shared<int>(0);
    Workers workers{call};
    const nb::object held = nb::cast(&workers, nb::rv_policy::copy);
    auto& given = nb::cast<Workers&>(held);
    const auto over = [](Workers* w) { w->call = nullptr; };
    const std::unique_ptr<Workers, decltype(over)> end(&given, over);
    nb::borrow(opened.python.get())(
        arrays_of(call->in, call->inputs, opened.device, true, live), arrays_of(call->out, call->outputs, opened.device, false, live),
        reinterpret_cast<std::uintptr_t>(call->workspace), reinterpret_cast<std::uintptr_t>(call->stream), held);
    expect_dropped(live, "the tactic");
    return 0;
  });
}

template <int number>
std::int32_t supports(void* self, tenfold_plugin_problem* p) noexcept {
  return call_python(kUnsupported, p->why, p->why_bytes, [&] {
    const nb::object why = of(self).tactic(number).attr("supports")(problem_of(*p));
    if (why.is_none() || why.is(nb::handle(Py_True))) return 0;
    if (!PyUnicode_Check(why.ptr())) raise_type_error("supports() returns None, or words that say why not, got " + class_name(why));
    return say_failure(nb::cast<const char*>(why), kUnsupported, p->why, p->why_bytes);
  });
}

// The library asks for the first, the second and so on: Python is asked at the first, and its list stands until the next first.
thread_local Held listed_configs;

template <int number>
std::int32_t configs(void* self, tenfold_plugin_problem* p, std::int32_t which, std::int64_t* numbers, std::int32_t room) noexcept {
  std::int32_t given = -1;
  static_cast<void>(call_python(kInvalidArgument, p->why, p->why_bytes, [&] {
    if (which == 0) listed_configs = hold(of(self).tactic(number).attr("configs")(problem_of(*p)));
    const nb::object all = nb::borrow(listed_configs ? listed_configs.get() : Py_None);
    if (which >= static_cast<std::int32_t>(nb::len(all))) return listed_configs.reset(), 0;
    const nb::object config = all[which];
    const auto count = static_cast<std::int32_t>(nb::len(config));
    for (std::int32_t i = 0; i < count && i < room; ++i) numbers[i] = nb::cast<std::int64_t>(nb::object(config[i]));
    given = count;
    return 0;
  }));
  return given;
}

template <int number>
std::int32_t workspace(void* self, tenfold_plugin_problem* p, char* text, std::size_t room) noexcept {
  return call_python(kInvalidArgument, p->why, p->why_bytes, [&] {
    const std::string bytes = nb::cast<std::string>(nb::str(of(self).tactic(number).attr("workspace")(problem_of(*p))));
    if (bytes.size() >= room) raise_error(ErrorKind::invalid_argument, "the workspace's extent is longer than " + std::to_string(room));
    return say_failure(bytes.c_str(), 0, text, room);
  });
}

template <int number>
void fill(tenfold_plugin_tactic& table, nb::handle tactic) {
  table.open = open<number>, table.close = close, table.run = run;
  if (has(tactic, "supports")) table.supports = supports<number>;
  if (has(tactic, "configs")) table.configs = configs<number>;
  if (has(tactic, "workspace")) table.workspace = workspace<number>;
}

template <int... numbers>
void fill_one(std::integer_sequence<int, numbers...>, tenfold_plugin_tactic& table, int which, nb::handle tactic) {
  (void)((numbers == which && (fill<numbers>(table, tactic), true)) || ...);
}

}  // namespace

void set_tactic_functions(tenfold_plugin_tactic& table, int number, nb::handle tactic) {
  fill_one(std::make_integer_sequence<int, kMaxPythonTactics>(), table, number, tactic);
}

void bind_plugin_tactic(nb::module_& m) {
  nb::class_<Workers>(m, "PluginWorkers", "The engine's threads, within a call of a tactic.")
      .def("run", &run_parts, nb::arg("parts"), nb::arg("function"),
           "function(i) for every i below `parts`, by several threads; returns when all are done.");
}

}  // namespace tenfold::python
