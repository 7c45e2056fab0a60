#include "native/options/values.h"

#include <nanobind/stl/shared_ptr.h>

#include "native/errors.h"
#include "tenfold/device.h"
#include "tenfold/plugin.h"
#include "tenfold/runtime.h"
#include "tenfold/timing_cache.h"

namespace tenfold::python {
namespace {

template <class T>
void take_shared(nb::handle value, std::shared_ptr<T>& to, const char* requested) {
  std::shared_ptr<std::remove_const_t<T>> given;
  if (!nb::try_cast(value, given)) throw WrongValue{requested};
  to = std::move(given);
}

void need_sequence(nb::handle value, const char* requested) {
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) || !PySequence_Check(value.ptr())) throw WrongValue{requested};
}

template <class Function>
void each_item(nb::handle mapping, const char* requested, Function function) {
  if (!PyMapping_Check(mapping.ptr()) || PyUnicode_Check(mapping.ptr()) || !nb::hasattr(mapping, "items")) throw WrongValue{requested};
  for (nb::handle item : mapping.attr("items")()) {
    const nb::object key = item[0], value = item[1];
    if (!PyUnicode_Check(key.ptr())) throw WrongValue{requested};
    function(std::string(nb::cast<const char*>(key)), nb::handle(value));
  }
}

template <class T>
T one_of(nb::handle value, std::initializer_list<std::pair<const char*, T>> names) {
  std::string requested = "one of";
  const char* given = PyUnicode_Check(value.ptr()) ? nb::cast<const char*>(value) : "";
  for (const auto& [name, meaning] : names) {
    if (std::string_view(given) == name) return meaning;
    requested += std::string(" '") + name + "'";
  }
  throw WrongValue{requested};
}

constexpr const char* kProfile = "a dict (or a list of dicts) from names of inputs to (min, opt, max), or to one shape";

bool is_number(nb::handle value) { return PyIndex_Check(value.ptr()) != 0; }

ShapeRange range_of(nb::handle value) {
  need_sequence(value, kProfile);
  const nb::object items = nb::borrow(value);
  const std::size_t count = nb::len(items);
  if (count == 0 || is_number(nb::object(items[0]))) {
    const Shape fixed = shape_of(value);
    return {fixed, fixed, fixed};
  }
  if (count != 3) throw WrongValue{kProfile};
  return {shape_of(nb::object(items[0])), shape_of(nb::object(items[1])), shape_of(nb::object(items[2]))};
}

BindingFormat format_of(nb::handle value) {
  const std::string text = PyUnicode_Check(value.ptr()) ? text_of(value) : std::string();
  const std::size_t colon = text.find(':');
  BindingFormat format;
  if (text.empty())
    format.dtype = dtype_of(value, "a binding's format");
  else if (colon != 0)
    format.dtype = dtype_of(nb::str(text.substr(0, colon).c_str()), "a binding's format");
  const std::string order = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (order == "hwc")
    format.order = BindingOrder::hwc;
  else if (order == "dhwc")
    format.order = BindingOrder::dhwc;
  else if (!order.empty())
    throw WrongValue{"a dict from names to types and orders: 'u8', 'u8:hwc', ':dhwc'"};
  return format;
}

}  // namespace

std::string text_of(nb::handle value) {
  nb::object given = nb::borrow(value);
  if (nb::hasattr(given, "__fspath__")) given = given.attr("__fspath__")();
  if (PyBytes_Check(given.ptr())) given = nb::module_::import_("os").attr("fsdecode")(given);
  if (!PyUnicode_Check(given.ptr())) throw WrongValue{"a string"};
  const nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(given.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
}

std::int64_t number_of(nb::handle value) {
  if (!PyIndex_Check(value.ptr())) throw WrongValue{"a whole number"};
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  const long long number = PyLong_AsLongLong(index.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw WrongValue{"a whole number of 64 bits"};
  }
  return number;
}

Shape shape_of(nb::handle value) {
  need_sequence(value, "a sequence of whole numbers");
  Shape shape;
  for (nb::handle extent : nb::borrow(value)) shape.push_back(number_of(extent));
  return shape;
}

void take(nb::handle value, std::string& to) { to = text_of(value); }
void take(nb::handle value, bool& to) {
  if (!PyBool_Check(value.ptr()) && !class_name(value).starts_with("bool")) throw WrongValue{"True or False"};
  to = PyObject_IsTrue(value.ptr()) == 1;
}
void take(nb::handle value, int& to) {
  const std::int64_t number = number_of(value);
  if (number != static_cast<int>(number)) throw WrongValue{"a whole number of 32 bits"};
  to = static_cast<int>(number);
}
void take(nb::handle value, std::int64_t& to) { to = number_of(value); }
void take(nb::handle value, std::uint64_t& to) {
  const std::int64_t number = number_of(value);
  if (number < 0) throw WrongValue{"a whole number from 0"};
  to = static_cast<std::uint64_t>(number);
}
void take(nb::handle value, double& to) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw WrongValue{"a number"};
  }
  to = number;
}
void take(nb::handle value, std::vector<std::string>& to) {
  constexpr const char* requested = "a sequence of strings";
  need_sequence(value, requested);
  to.clear();
  for (nb::handle item : nb::borrow(value)) to.push_back(text_of(item));
}
void take(nb::handle value, OptimizationProfile& to) {
  each_item(value, kProfile, [&](std::string name, nb::handle range) { to[name] = range_of(range); });
}
void take(nb::handle value, std::vector<OptimizationProfile>& to) {
  to.clear();
  const auto add = [&](nb::handle profile) { take(profile, to.emplace_back()); };
  if (nb::hasattr(value, "items")) return add(value);
  need_sequence(value, kProfile);
  for (nb::handle profile : nb::borrow(value)) add(profile);
}
void take(nb::handle value, std::map<std::string, std::string>& to) {
  each_item(value, "a dict from strings to strings", [&](std::string name, nb::handle text) { to[name] = text_of(text); });
}
void take(nb::handle value, std::map<std::string, BindingFormat>& to) {
  each_item(value, "a dict from names to formats", [&](std::string name, nb::handle format) { to[name] = format_of(format); });
}
void take(nb::handle value, std::map<std::string, Tensor>& to) {
  each_item(value, "a dict from names to arrays",
            [&](std::string name, nb::handle array) { to[name] = tensor_of(array, "'" + name + "'"); });
}
void take(nb::handle value, std::vector<std::map<std::string, Tensor>>& to) {
  need_sequence(value, "a sequence of dicts from names to arrays");
  for (nb::handle set : nb::borrow(value)) take(set, to.emplace_back());
}
namespace {
DType type_of(nb::handle given) {
  const std::optional<DType> type = dtype_from_name(text_of(given));
  if (!type) throw WrongValue{"types such as 'f32', 'f16', 'bf16', 'i8', 'f8e4m3fn'"};
  return *type;
}
}  // namespace
void take(nb::handle value, std::vector<DType>& to) {
  need_sequence(value, "a sequence of types such as 'i8' and 'f8e4m3fn'");
  to.clear();
  for (nb::handle item : nb::borrow(value)) to.push_back(type_of(item));
}
void take(nb::handle value, LayerTypes& to) {
  constexpr const char* kExpected =
      "a dict of constraints ('none', 'prefer' or 'obey'), precisions (a dict from layers to types) and output_types (to one type or "
      "several)";
  to = {.constraints = LayerConstraints::prefer, .precisions = {}, .output_types = {}};
  each_item(value, kExpected, [&](const std::string& key, nb::handle field) {
    if (key == "constraints") {
      to.constraints = one_of<LayerConstraints>(
          field, {{"none", LayerConstraints::none}, {"prefer", LayerConstraints::prefer}, {"obey", LayerConstraints::obey}});
    } else if (key == "precisions") {
      each_item(field, kExpected,
                [&](std::string layers, nb::handle type) { to.precisions.push_back({std::move(layers), type_of(type)}); });
    } else if (key == "output_types") {
      each_item(field, kExpected, [&](std::string layers, nb::handle types) {
        LayerOutputTypes& one = to.output_types.emplace_back(LayerOutputTypes{std::move(layers), {}});
        if (PyUnicode_Check(types.ptr())) return one.types.push_back(type_of(types));
        need_sequence(types, kExpected);
        for (nb::handle type : nb::borrow(types)) one.types.push_back(type_of(type));
      });
    } else {
      throw WrongValue{kExpected};
    }
  });
}
void take(nb::handle value, PackTokens& to) {
  to =
      one_of<PackTokens>(value, {{"no", PackTokens::no}, {"where_equal", PackTokens::where_equal}, {"with_zeros", PackTokens::with_zeros}});
}
void take(nb::handle value, WeightsMode& to) {
  to = one_of<WeightsMode>(
      value, {{"automatic", WeightsMode::automatic}, {"copy", WeightsMode::copy}, {"lock", WeightsMode::lock}, {"map", WeightsMode::map}});
}
std::function<Engine(const std::string&, const LoadOptions&)> loader_of(nb::handle weights) {
  WeightsMode mode = WeightsMode::automatic;
  try {
    take(weights, mode);
  } catch (const WrongValue&) {
    raise_error(ErrorKind::invalid_argument, "weights is " + nb::cast<std::string>(nb::repr(weights)) +
                                                 ", expected 'automatic', 'copy', 'lock' or 'map'");
  }
  if (mode == WeightsMode::automatic) return nullptr;
  return [mode](const std::string& path, LoadOptions options) {
    options.weights = mode;
    return Engine::load(path, options);
  };
}
void take(nb::handle value, std::shared_ptr<TimingCache>& to) { take_shared(value, to, "a tenfold.TimingCache"); }
void take(nb::handle value, std::shared_ptr<Runtime>& to) { take_shared(value, to, "a tenfold.Runtime"); }
void take(nb::handle value, std::shared_ptr<const Plugins>& to) { take_shared(value, to, "a tenfold.Plugins"); }

void take_cpu_features(nb::handle value, std::uint32_t& to) {
  to = PyUnicode_Check(value.ptr()) ? parse_cpu_features(text_of(value)) : static_cast<std::uint32_t>(number_of(value));
}

void take_tactic_sources(nb::handle value, std::uint32_t& to) {
  if (is_number(value)) return static_cast<void>(to = static_cast<std::uint32_t>(number_of(value)));
  to = 0;
  const auto add = [&](nb::handle name) {
    to = to | one_of<TacticSource>(name, {{"reference", TacticSource::reference},
                                          {"native", TacticSource::native},
                                          {"onednn", TacticSource::onednn},
                                          {"cublas_lt", TacticSource::cublas_lt},
                                          {"cudnn", TacticSource::cudnn}});
  };
  if (PyUnicode_Check(value.ptr())) return add(value);
  need_sequence(value, "a number, or names of sources");
  for (nb::handle name : nb::borrow(value)) add(name);
}

}  // namespace tenfold::python
