// The forms in which a call is given its arrays.
#include "native/arrays/exchange.h"
#include "native/arrays/stream.h"
#include "native/arrays/torch_arrays.h"
#include "native/call/call.h"
#include "native/errors.h"

namespace tenfold::python {
namespace {

// On a GPU: the one that is given, else the current one of `with tenfold.Stream`, else that on which the maker of an input works.
StreamChoice stream_for(Call& call, nb::handle given) {
  const StreamChoice chosen = stream_of(given);
  if (!call.slots.on_gpu && chosen.given) raise_error(ErrorKind::invalid_argument, "stream= is for GPUs; this engine runs on the CPU");
  if (!call.slots.on_gpu || chosen.given) return chosen;
  if (const StreamChoice entered = entered_stream(); entered.given) return entered;
  for (const nb::object& input : call.inputs.items()) {
    if (!input.is_valid() || PyObject_CheckBuffer(input.ptr())) continue;
    ArrayView view;
    if (const Exchange* exchange = exchange_of(input); exchange != nullptr && read_exchange(view, input, *exchange)) {
      if (view.on_gpu()) return {true, exchange_stream(*exchange, view.device.device_id)};
      continue;
    }
    if (is_plain_tensor(input)) read_torch_device(view, input);
    else read_array(view, input, "an input");
    if (view.on_gpu()) return current_stream(view);
  }
  return {};
}

void take_named(Call& call, nb::handle inputs) {
  PyObject *name = nullptr, *array = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(inputs.ptr(), &at, &name, &array) != 0;) {
    const int i = call.slots.index(name);
    if (i >= call.slots.inputs) raise_error(ErrorKind::invalid_argument, call.slots.at(i).what() + " is given as an input");
    call.inputs[i] = nb::borrow(array);
  }
}

void take_inputs(Call& call, nb::handle args) {
  const auto count = static_cast<int>(PyTuple_Size(args.ptr()));
  PyObject* const first = count == 1 ? PyTuple_GetItem(args.ptr(), 0) : nullptr;
  if (first != nullptr && PyDict_Check(first)) return take_named(call, first);
  if (count > call.slots.inputs)
    raise_error(ErrorKind::invalid_argument,
                std::to_string(count) + (count == 1 ? " array is given, the engine has " : " arrays are given, the engine has ") +
                    std::to_string(call.slots.inputs) + (call.slots.inputs == 1 ? " input" : " inputs"));
  for (int i = 0; i < count; ++i)
    if (PyObject* array = PyTuple_GetItem(args.ptr(), i); array != Py_None) call.inputs[i] = nb::borrow(array);
}

void take_outputs(Call& call, nb::handle out) {
  const Slots& slots = call.slots;
  if (!out.is_valid() || out.is_none()) return;
  if (PyDict_Check(out.ptr())) {
    for (auto [name, array] : nb::borrow<nb::dict>(out)) {
      const int i = slots.index(name);
      if (i < slots.inputs) raise_error(ErrorKind::invalid_argument, slots.at(i).what() + " is given in out=");
      call.outputs[i - slots.inputs] = nb::borrow(array);
    }
    return;
  }
  if (!PyTuple_Check(out.ptr()) && !PyList_Check(out.ptr())) {
    if (slots.outputs() != 1)
      raise_error(ErrorKind::invalid_argument, "the engine has " + std::to_string(slots.outputs()) + " outputs: out= is a dict by name");
    return static_cast<void>(call.outputs[0] = nb::borrow(out));
  }
  int o = 0;
  for (nb::handle array : nb::borrow(out)) {
    if (o == slots.outputs()) raise_error(ErrorKind::invalid_argument, "out= holds more arrays than the engine has outputs");
    if (!array.is_none()) call.outputs[o] = nb::borrow(array);
    ++o;
  }
}

}  // namespace

void read_call(Call& call, nb::handle args, nb::handle keywords) {
  nb::handle out, stream;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; keywords.is_valid() && PyDict_Next(keywords.ptr(), &at, &key, &value) != 0;) {
    if (PyUnicode_CompareWithASCIIString(key, "out") == 0)
      out = value;
    else if (PyUnicode_CompareWithASCIIString(key, "stream") == 0)
      stream = value;
    else
      raise_type_error("an engine is called with arrays, out= and stream=, got " + nb::cast<std::string>(nb::handle(key)) +
                       "=; inputs by name come in a dict");
  }
  take_inputs(call, args);
  take_outputs(call, out);
  call.on = stream_for(call, stream);
}

void read_feed(Call& call, nb::handle names, nb::handle feed) {
  if (!PyDict_Check(feed.ptr())) raise_type_error("inputs are a dict from names to arrays, got " + class_name(feed));
  take_named(call, feed);
  call.as_list = true;
  const nb::object given = nb::borrow(names);
  call.all = given.is_none() || nb::len(given) == 0;
  if (call.all)
    for (int o = 0; o < call.slots.outputs(); ++o) call.order.push_back(o);
  else
    for (nb::handle name : given) {
      const int o = call.slots.index(name) - call.slots.inputs;
      if (o < 0) raise_error(ErrorKind::invalid_argument, "an input is asked for as an output");
      call.requested[o] = true, call.order.push_back(o);
    }
  call.on = stream_for(call, {});
}

}  // namespace tenfold::python
