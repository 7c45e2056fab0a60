#include "native/call/runtime_values.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "native/arrays/array_types.h"
#include "native/errors.h"
#include "tenfold/bindings.h"

namespace tenfold::python {
namespace {

nb::object as_array(nb::handle object, DType dtype) {
  const nb::object type = dtype == DType::string ? nb::object(nb::str("object")) : numpy_dtype(dtype);
  return module_of("numpy").attr("asarray")(object, nb::arg("dtype") = type);
}

Tensor strings_of(nb::handle object, const std::string& what) {
  const nb::object array = as_array(object, DType::string);
  Shape shape;
  for (nb::handle extent : array.attr("shape")) shape.push_back(nb::cast<std::int64_t>(extent));
  std::vector<std::string> values;
  for (nb::handle element : array.attr("ravel")()) {
    if (!PyUnicode_Check(element.ptr())) raise_type_error(what + " holds strings, got an element that is " + class_name(element));
    values.push_back(nb::cast<std::string>(element));
  }
  return Tensor::strings(std::move(shape), std::move(values));
}

bool holds_strings(nb::handle object) {
  if (PyUnicode_Check(object.ptr())) return true;
  if (!nb::hasattr(object, "dtype") || !nb::hasattr(nb::object(object.attr("dtype")), "kind")) return false;
  const auto kind = nb::cast<std::string>(object.attr("dtype").attr("kind"));
  return kind == "U" || kind == "S" || kind == "O";
}

RuntimeValue any_value(nb::handle object, DType dtype, const std::string& what);

RuntimeValue map_of(nb::handle object, DType dtype, const std::string& what) {
  std::vector<std::string> words;
  std::vector<std::int64_t> numbers;
  std::vector<RuntimeValue> values;
  for (auto [key, value] : nb::borrow<nb::dict>(object)) {
    if (PyUnicode_Check(key.ptr())) words.push_back(nb::cast<std::string>(key));
    else if (PyIndex_Check(key.ptr()) != 0) numbers.push_back(nb::cast<std::int64_t>(nb::object(module_of("operator").attr("index")(key))));
    else raise_type_error(what + ": a key of a map is " + class_name(key) + ", an int or a str is expected");
    values.push_back(any_value(value, dtype, what));
  }
  if (!words.empty() && !numbers.empty()) raise_type_error(what + ": the keys of a map are all int or all str");
  const auto count = static_cast<std::int64_t>(values.size());
  if (!words.empty()) return RuntimeValue::map(Tensor::strings({count}, std::move(words)), std::move(values));
  Tensor keys(DType::i64, {count});
  std::copy(numbers.begin(), numbers.end(), keys.mutable_data<std::int64_t>());
  return RuntimeValue::map(std::move(keys), std::move(values));
}

RuntimeValue any_value(nb::handle object, DType dtype, const std::string& what) {
  if (object.is_none()) return {};
  if (PyDict_Check(object.ptr())) return map_of(object, dtype, what);
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    std::vector<RuntimeValue> elements;
    for (nb::handle element : nb::borrow(object)) elements.push_back(any_value(element, dtype, what));
    return RuntimeValue::sequence(std::move(elements));
  }
  if (holds_strings(object)) return strings_of(object, what);
  const bool number = PyFloat_Check(object.ptr()) != 0 || PyLong_Check(object.ptr()) != 0;
  return number ? tensor_of(as_array(object, dtype), what) : tensor_of(object, what);
}

}  // namespace

RuntimeValue value_of(nb::handle object, const Slot& slot) {
  if (object.is_none()) return {};
  if (slot.kind == ValueKind::tensor && slot.dtype == DType::string) return strings_of(object, slot.what());
  return any_value(object, slot.dtype, slot.what());
}

nb::object object_of(const RuntimeValue& value) {
  if (value.is_tensor()) return array_of(value.tensor());
  if (value.is_sequence()) {
    nb::list list;
    for (const RuntimeValue& element : value.elements()) list.append(object_of(element));
    return list;
  }
  if (!value.is_map()) return nb::none();
  nb::dict dict;
  const ValueMap& map = value.as_map();
  const nb::object keys = array_of(map.keys).attr("tolist")();
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const bool scalar = map.values[i].is_tensor() && map.values[i].tensor().rank() == 0;
    const nb::object made = object_of(map.values[i]);
    dict[nb::object(keys[i])] = scalar ? nb::object(made.attr("item")()) : made;
  }
  return dict;
}

nb::object run_on_values(SharedEngine& state, Call& call) {
  const Slots& slots = call.slots;
  if (call.on.given)
    raise_error(ErrorKind::unsupported, "an engine that takes or gives strings, sequences, optionals or maps has no stream=");
  std::vector<RuntimeValue> inputs;
  for (int i = 0; i < slots.inputs; ++i) {
    const Slot& slot = slots.at(i);
    const nb::object& given = call.inputs[i];
    if (!given.is_valid() || (given.is_none() && !slot.is_value)) {
      if (!slot.has_default && slot.kind != ValueKind::optional)
        raise_error(ErrorKind::invalid_argument, slot.what() + " is missing, and it has no default");
      inputs.emplace_back();
    } else if (slot.is_value) {
      inputs.push_back(value_of(given, slot));
    } else {
      inputs.emplace_back(tensor_of(given, slot.what()));
    }
  }
  for (int o = 0; o < slots.outputs(); ++o)
    if (call.outputs[o].is_valid())
      raise_error(ErrorKind::unsupported,
                  "an engine that takes or gives strings, sequences, optionals or maps makes its results: leave out= away");
  Borrowed runner(state, call.on);
  runner->synchronize(call.on);
  std::vector<RuntimeValue> results;
  {
    const Unlocked unlocked;
    results = run_values(runner->context(), inputs);
  }
  for (int o = 0; o < slots.outputs(); ++o) call.outputs[o] = object_of(results[static_cast<std::size_t>(o)]);
  return named_results(call);
}

}  // namespace tenfold::python
