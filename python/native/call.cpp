#include "call.h"

#include "errors.h"
#include "torch_arrays.h"

namespace tenfold::python {
namespace {

// A runner out of the pool; one whose run failed while its work may still be under way is waited for.
class Borrowed {
 public:
  Borrowed(EngineState& state, const StreamChoice& stream) : state_(state), runner_(state.take(stream)) {}
  ~Borrowed() {
    if (!runner_->pending()) runner_->forget();
    state_.give(std::move(runner_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Runner* operator->() { return runner_.get(); }

 private:
  EngineState& state_;
  std::unique_ptr<Runner> runner_;
};

[[noreturn]] void refuse_missing(const Slots& slots, int input) {
  raise_error(ErrorKind::invalid_argument, slots.all[static_cast<std::size_t>(input)].what() + " is missing, and it has no default");
}

void check_out(Runner& runner, int binding, const ArrayView& view) {
  std::array<std::int64_t, kMostDims> shape;
  int rank = 0;
  const std::string what = runner.slots().all[static_cast<std::size_t>(binding)].what();
  if (!runner.output_shape(binding, shape, rank) || runner.sized_by_run(binding))
    raise_error(ErrorKind::invalid_argument, what + " has a size that only the run knows: leave out= away for it");
  const std::span extents(shape.data(), static_cast<std::size_t>(rank));
  if (!std::equal(extents.begin(), extents.end(), view.extents().begin(), view.extents().end()))
    raise_error(ErrorKind::invalid_argument,
                what + " has the shape [" + text(extents) + "] for these inputs, an array of [" + text(view.extents()) + "] is given");
}

nb::object as_the_inputs(nb::object made, Maker maker, nb::handle like) {
  if (maker == Maker::torch) return module_of("torch").attr("from_numpy")(made).attr("to")(like.attr("device"));
  if (maker == Maker::cupy) return module_of("cupy").attr("asarray")(made);
  return made;
}

// The stream has to be known before arrays are read, for their makers bring them up to date on it.
StreamChoice stream_for(const Slots& slots, std::span<PyObject* const> inputs, nb::handle given) {
  const StreamChoice chosen = stream_of(given);
  if (!slots.on_gpu && chosen.given) raise_error(ErrorKind::invalid_argument, "stream= is for GPUs; this engine runs on the CPU");
  if (!slots.on_gpu) return {};
  if (chosen.given) return chosen;
  for (PyObject* input : inputs)
    if (input != nullptr && !PyObject_CheckBuffer(input)) {
      ArrayView view;
      if (is_plain_tensor(input)) read_torch_device(view, input);
      else read_array(view, input, "an input");
      if (view.on_gpu()) return current_stream(view);
    }
  return {};
}

}  // namespace

void call_engine(EngineState& state, std::span<PyObject* const> inputs, std::span<nb::object> outputs, const bool* wanted,
                 nb::handle stream) {
  const Slots& slots = *state.slots;
  const StreamChoice on = stream_for(slots, inputs, stream);
  Borrowed runner(state, on);
  if (runner->pending() && !(on.given && runner->stream().number == on.number)) runner->wait();
  runner->unbind_outputs();
  Maker maker = Maker::numpy;
  nb::handle like;
  bool on_host = false;
  ArrayView view;
  for (int i = 0; i < slots.inputs; ++i) {
    PyObject* given = inputs[static_cast<std::size_t>(i)];
    if (given == nullptr) {
      if (!slots.all[static_cast<std::size_t>(i)].has_default) refuse_missing(slots, i);
      runner->bind_nothing(i);
      continue;
    }
    view = {};
    runner->bind(i, given, view, on.for_dlpack());
    on_host = on_host || !view.on_gpu();
    if (view.maker != Maker::numpy && !like.is_valid()) maker = view.maker, like = given;
  }
  for (int o = 0; o < slots.outputs(); ++o) {
    nb::object& output = outputs[static_cast<std::size_t>(o)];
    const int binding = slots.inputs + o;
    if (output.is_valid()) {
      view = {};
      runner->bind(binding, output, view, on.for_dlpack());
      check_out(*runner.operator->(), binding, view);
      on_host = on_host || !view.on_gpu();
    } else if (wanted != nullptr && !wanted[o]) {
      runner->bind_nothing(binding);
    } else {
      output = runner->bind_new(binding, maker, like);
      on_host = on_host || maker == Maker::numpy || !output.is_valid();
    }
  }
  if (!on.given)
    runner->run();
  else if (runner->enqueue(on); on_host)
    runner->wait();
  for (int o = 0; o < slots.outputs(); ++o)
    if (!outputs[static_cast<std::size_t>(o)].is_valid() && (wanted == nullptr || wanted[o]))
      outputs[static_cast<std::size_t>(o)] = as_the_inputs(runner->copied(slots.inputs + o), maker, like);
}

namespace {

void read_inputs(const Slots& slots, const nb::args& args, std::vector<PyObject*>& inputs) {
  if (args.size() == 1 && PyDict_Check(args[0].ptr())) {
    for (auto [name, array] : nb::borrow<nb::dict>(args[0])) {
      const int i = slots.index(name);
      if (i >= slots.inputs)
        raise_error(ErrorKind::invalid_argument, slots.all[static_cast<std::size_t>(i)].what() + " is given as an input");
      inputs[static_cast<std::size_t>(i)] = array.ptr();
    }
    return;
  }
  if (static_cast<int>(args.size()) > slots.inputs)
    raise_error(ErrorKind::invalid_argument,
                std::to_string(args.size()) + " arrays are given, the engine has " + std::to_string(slots.inputs) + " inputs");
  for (std::size_t i = 0; i < args.size(); ++i)
    if (!args[i].is_none()) inputs[i] = args[i].ptr();
}

void read_outputs(const Slots& slots, nb::handle out, std::vector<nb::object>& outputs) {
  if (!out.is_valid() || out.is_none()) return;
  if (PyDict_Check(out.ptr())) {
    for (auto [name, array] : nb::borrow<nb::dict>(out)) {
      const int i = slots.index(name);
      if (i < slots.inputs) raise_error(ErrorKind::invalid_argument, slots.all[static_cast<std::size_t>(i)].what() + " is given in out=");
      outputs[static_cast<std::size_t>(i - slots.inputs)] = nb::borrow(array);
    }
    return;
  }
  if (!PyTuple_Check(out.ptr()) && !PyList_Check(out.ptr())) {
    if (slots.outputs() != 1)
      raise_error(ErrorKind::invalid_argument, "the engine has " + std::to_string(slots.outputs()) + " outputs: out= is a dict by name");
    return static_cast<void>(outputs[0] = nb::borrow(out));
  }
  std::size_t o = 0;
  for (nb::handle array : nb::borrow(out)) {
    if (o == outputs.size()) raise_error(ErrorKind::invalid_argument, "out= holds more arrays than the engine has outputs");
    if (!array.is_none()) outputs[o] = nb::borrow(array);
    ++o;
  }
}

}  // namespace

nb::object call_with(EngineState& state, nb::args args, nb::kwargs keywords) {
  const Slots& slots = *state.slots;
  nb::handle out, stream;
  for (auto [key, value] : keywords) {
    const std::string_view name = nb::cast<const char*>(key);
    if (name == "out")
      out = value;
    else if (name == "stream")
      stream = value;
    else
      raise_type_error("an engine is called with arrays, out= and stream=, got " + std::string(name) + "=; inputs by name come in a dict");
  }
  std::vector<PyObject*> inputs(static_cast<std::size_t>(slots.inputs), nullptr);
  std::vector<nb::object> outputs(static_cast<std::size_t>(slots.outputs()));
  read_inputs(slots, args, inputs);
  read_outputs(slots, out, outputs);
  call_engine(state, inputs, outputs, nullptr, stream);
  if (outputs.size() == 1) return std::move(outputs[0]);
  nb::dict named;
  for (std::size_t o = 0; o < outputs.size(); ++o) named[slots.all[static_cast<std::size_t>(slots.inputs) + o].name.c_str()] = outputs[o];
  return named;
}

nb::object run_feed(EngineState& state, nb::object names, nb::dict feed) {
  const Slots& slots = *state.slots;
  std::vector<PyObject*> inputs(static_cast<std::size_t>(slots.inputs), nullptr);
  std::vector<nb::object> outputs(static_cast<std::size_t>(slots.outputs()));
  for (auto [name, array] : feed) {
    const int i = slots.index(name);
    if (i >= slots.inputs)
      raise_error(ErrorKind::invalid_argument, slots.all[static_cast<std::size_t>(i)].what() + " is given as an input");
    inputs[static_cast<std::size_t>(i)] = array.ptr();
  }
  nb::list results;
  if (names.is_none() || nb::len(names) == 0) {
    call_engine(state, inputs, outputs, nullptr, {});
    for (nb::object& output : outputs) results.append(output);
    return results;
  }
  const auto wanted = std::make_unique<bool[]>(outputs.size());
  std::vector<int> order;
  for (nb::handle name : names) {
    const int o = slots.index(name) - slots.inputs;
    if (o < 0) raise_error(ErrorKind::invalid_argument, "an input is asked for as an output");
    wanted[static_cast<std::size_t>(o)] = true, order.push_back(o);
  }
  call_engine(state, inputs, outputs, wanted.get(), {});
  for (int o : order) results.append(outputs[static_cast<std::size_t>(o)]);
  return results;
}

}  // namespace tenfold::python
