// Execution contexts: bind, set shapes, run, wait; and tokens that cancel runs (tenfold/run_options.h).
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <tuple>
#include <unordered_set>

#include "native/arrays/stream.h"
#include "native/call/call.h"
#include "native/errors.h"
#include "native/options/values.h"
#include "tenfold/bindings.h"

namespace tenfold::python {
namespace {

// One thread at a time: who comes second gets an error, where C++ would race.
class Context {
 public:
  Context(const PyEngine& engine, std::uintptr_t memory, std::int64_t bytes)
      : state_(engine.state),
        runner_(std::make_unique<BoundContext>(state_->engine, state_->slots, ContextOptions{reinterpret_cast<void*>(memory), bytes})) {}

  class Turn {
   public:
    explicit Turn(Context& c) : context_(c) {
      if (c.busy_.exchange(true))
        raise_error(ErrorKind::invalid_argument, "the context is in use by another thread: create_context() makes one for each");
    }
    ~Turn() { context_.busy_.store(false); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    BoundContext* operator->() { return context_.runner_.get(); }

   private:
    Context& context_;
  };

  int index(nb::handle binding) const {
    if (PyUnicode_Check(binding.ptr())) return state_->slots->index(binding);
    const std::int64_t i = number_of(binding);
    if (i < 0 || i >= static_cast<std::int64_t>(state_->slots->all.size()))
      raise_error(ErrorKind::invalid_argument, "there is no binding " + std::to_string(i) + ": the engine has " +
                                                   std::to_string(state_->slots->all.size()) + ", numbered from 0");
    return static_cast<int>(i);
  }
  ExecutionContext& raw() { return runner_->context(); }
  const Slots& slots() const { return *state_->slots; }
  const std::shared_ptr<SharedEngine>& state() const { return state_; }

 private:
  std::shared_ptr<SharedEngine> state_;
  std::unique_ptr<BoundContext> runner_;
  std::atomic<bool> busy_{false};
};

void bind(Context& c, nb::handle binding, nb::object array) {
  Context::Turn turn(c);
  if (array.is_none()) return turn->bind_nothing(c.index(binding));
  ArrayView view;
  turn->bind(c.index(binding), array, view);
}

void set_shape(Context& c, nb::handle binding, nb::handle shape) {
  Context::Turn turn(c);
  try {
    turn->set_shape(c.index(binding), shape_of(shape));
  } catch (const WrongValue& wrong) {
    raise_type_error("a shape is " + wrong.requested + ", got " + class_name(shape));
  }
}

RunOptions options_of(std::optional<double> seconds, nb::handle token) {
  RunOptions options;
  if (seconds) {
    if (!(*seconds >= 0)) raise_error(ErrorKind::invalid_argument, "timeout is a number of seconds from 0");
    options.deadline =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(*seconds, 1e9) * 1e9));
  }
  if (!token.is_none()) options.token = nb::cast<CancelToken&>(token);
  return options;
}

nb::object shape(Context& c, nb::handle binding) {
  Context::Turn turn(c);
  std::array<std::int64_t, kMaxDims> extents;
  int rank = 0;
  turn->output_shape(c.index(binding), extents, rank);
  return tuple_of({extents.data(), static_cast<std::size_t>(rank)});
}

// What lies in the context's own memory; outputs that are bound are the caller's arrays.
nb::object outputs(Context& c) {
  Context::Turn turn(c);
  nb::dict named;
  for (int b = c.slots().inputs; b < static_cast<int>(c.slots().all.size()); ++b) {
    nb::object bound = turn->bound(b);
    named[c.slots().all[static_cast<std::size_t>(b)].name.c_str()] = bound.is_valid() ? bound : turn->copied(b);
  }
  return named;
}

void set_profile(Context& c, int profile) {
  Context::Turn turn(c);
  if (const Status status = c.raw().set_profile(profile); !status) turn->refuse(status);
}

void bind_state(Context& c, nb::handle output, nb::handle input, bool in_place) {
  Context::Turn(c)->bind_state(c.index(output), c.index(input), in_place);
}
void write_state(Context& c, nb::handle input, nb::handle array) { Context::Turn(c)->write_state(c.index(input), array); }

void set_wait(Context& c, const std::string& how) {
  if (how == "spin_shortly") return c.raw().wait_how(Wait::spin_shortly);
  if (how == "spin") return c.raw().wait_how(Wait::spin);
  if (how == "sleep") return c.raw().wait_how(Wait::sleep);
  raise_error(ErrorKind::invalid_argument, "a context waits as 'spin_shortly', 'spin' or 'sleep', got '" + how + "'");
}

// Seconds and names of all steps of one run.
nb::list profile_run(Context& c) {
  Context::Turn turn(c);
  std::vector<std::pair<std::string, double>> steps;
  c.raw().set_profiler([&](std::string_view step, double ms) { steps.emplace_back(step, ms); });
  const struct Unset {
    ExecutionContext& context;
    ~Unset() { context.set_profiler(nullptr); }
  } unset{c.raw()};
  turn->bind_unbound_outputs();
  turn->run();
  nb::list reported;
  for (const auto& [step, ms] : steps) reported.append(nb::make_tuple(step, ms));
  return reported;
}

// Results of steps as one run makes them: of these names, or all that have one.
nb::list observe_run(Context& c, nb::handle names) {
  Context::Turn turn(c);
  std::unordered_set<std::string> requested;
  if (!names.is_none())
    for (nb::handle name : nb::borrow(names)) requested.insert(nb::cast<std::string>(name));
  std::vector<std::tuple<std::string, std::string, Tensor>> seen;
  const bool all = names.is_none();
  c.raw().set_observer([&](std::string_view step, std::string_view value, const Tensor& result) {
    if (all || requested.count(std::string(value)) > 0) seen.emplace_back(step, value, result);
  });
  const struct Unset {
    ExecutionContext& context;
    ~Unset() { context.set_observer(nullptr); }
  } unset{c.raw()};
  turn->bind_unbound_outputs();
  turn->run();
  nb::list reported;
  for (const auto& [step, value, result] : seen) reported.append(nb::make_tuple(step, value, array_of(result)));
  return reported;
}

}  // namespace

void bind_context(nb::module_& m) {
  nb::class_<CancelToken>(m, "CancelToken", "Stops the runs that it was given to, from any thread.")
      .def("__init__", [](CancelToken* self) { new (self) CancelToken(CancelToken::create()); })
      .def("cancel", &CancelToken::cancel)
      .def_prop_ro("cancelled", &CancelToken::cancelled);
  nb::class_<Context>(m, "Context", "Runs an engine; one thread at a time.")
      .def(nb::init<const PyEngine&, std::uintptr_t, std::int64_t>(), nb::arg("engine"), nb::arg("memory") = 0, nb::arg("bytes") = 0,
           "memory: an address on the engine's device, aligned to 256 bytes, with engine.arena_bytes(), that outlives the context; 0: the "
           "context's own.")
      .def("bind", &bind, nb::arg("binding"), nb::arg("array").none(), nb::sig("def bind(self, binding: str | int, array: Any) -> None"),
           "Inputs are read from the array and outputs written to it, where it lies, in every run until another is bound. Sets an input's "
           "shape. None: the context's own memory.")
      .def("set_shape", &set_shape, nb::arg("binding"), nb::arg("shape"),
           nb::sig("def set_shape(self, binding: str | int, shape: Sequence[int]) -> None"))
      .def("shape", &shape, nb::arg("binding"), nb::sig("def shape(self, binding: str | int) -> tuple[int, ...]"),
           "For the shapes that are set; extents that only the run knows are -1 before it.")
      .def("set_profile", &set_profile, nb::arg("profile"))
      .def("bind_state", &bind_state, nb::arg("output"), nb::arg("input"), nb::arg("in_place") = true,
           nb::sig("def bind_state(self, output: str | int, input: str | int, in_place: bool = True) -> None"),
           "The output of a run is the input of the next one: a state in the context's own memory, zeros at first. Binding either of them "
           "otherwise ends it. in_place=False: a run that fails leaves the state as it was.")
      .def(
          "read_state", [](Context& c, nb::handle input) { return Context::Turn(c)->read_state(c.index(input)); }, nb::arg("input"),
          nb::sig("def read_state(self, input: str | int) -> Any"), "A copy of the state that the next run reads.")
      .def("write_state", &write_state, nb::arg("input"), nb::arg("array"),
           nb::sig("def write_state(self, input: str | int, array: Any) -> None"),
           "The next run reads these values. Sets the input's shape.")
      .def(
          "clear_state", [](Context& c, nb::handle input) { Context::Turn(c)->clear_state(c.index(input)); }, nb::arg("input"),
          nb::sig("def clear_state(self, input: str | int) -> None"), "Sets the state to zeros.")
      .def(
          "prepare",
          [](Context& c) {
            Context::Turn turn(c);
            turn->bind_unbound_outputs();
            Status status;
            {
              const Unlocked unlocked;
              status = c.raw().prepare();
            }
            if (!status) turn->refuse(status);
          },
          "Does all that the first run at these shapes would do.")
      .def(
          "precompute",
          [](Context& c) {
            Context::Turn turn(c);
            turn->bind_unbound_outputs();
            Status status;
            {
              const Unlocked unlocked;
              status = c.raw().precompute();
            }
            if (!status) turn->refuse(status);
          },
          "Computes what does not depend on the newest row (newest_row of the build), before that row is there. The next run computes "
          "the rest.")
      .def(
          "run",
          [](Context& c, std::optional<double> timeout, nb::object token) {
            Context::Turn turn(c);
            turn->bind_unbound_outputs();
            turn->run(options_of(timeout, token));
          },
          nb::arg("timeout") = nb::none(), nb::arg("token") = nb::none(),
          nb::sig("def run(self, timeout: float | None = None, token: CancelToken | None = None) -> None"))
      .def(
          "enqueue",
          [](Context& c, nb::object stream) {
            Context::Turn turn(c);
            turn->bind_unbound_outputs();
            StreamChoice on = stream_of(stream);
            if (!on.given && c.slots().on_gpu) on = entered_stream();
            if (on.given && !c.slots().on_gpu)
              raise_error(ErrorKind::invalid_argument, "streams are for GPUs; this engine runs on the CPU");
            turn->enqueue(on);
          },
          nb::arg("stream") = nb::none(), nb::sig("def enqueue(self, stream: Any = None) -> None"),
          "Starts a run on a stream (None: that of `with tenfold.Stream`, else the context's own); on a CPU it is run().")
      .def(
          "wait", [](Context& c) { Context::Turn(c)->wait(); }, "Until all that was enqueued is done.")
      .def("wait_how", &set_wait, nb::arg("how"))
      .def(
          "cancel", [](Context& c) { return c.raw().cancel(); }, "From any thread: stops the run that is under way, if there is one.")
      .def("outputs", &outputs, nb::sig("def outputs(self) -> dict[str, Any]"),
           "Results of the last run, by name: arrays that are bound, copies of others.")
      .def(
          "output", [](Context& c, nb::handle binding) { return Context::Turn(c)->copied(c.index(binding)); }, nb::arg("binding"),
          nb::sig("def output(self, binding: str | int) -> Any"), "A copy of what lies in the context's own memory.")
      .def("profile_run", &profile_run, nb::sig("def profile_run(self) -> list[tuple[str, float]]"),
           "One run: steps and their milliseconds.")
      .def("observe_run", &observe_run, nb::arg("names") = nb::none(),
           nb::sig("def observe_run(self, names: Sequence[str] | None = None) -> list[tuple[str, str, Any]]"),
           "One run: steps, names of values and their arrays, in the order in which they were computed; None: of all values that the plan "
           "has "
           "under a name of the model's.")
      .def_prop_ro("engine", [](Context& c) { return PyEngine{c.state()}; });
}

}  // namespace tenfold::python
