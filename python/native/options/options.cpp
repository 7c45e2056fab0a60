// Keywords: the fields of BuildConfig, as tenfold/build_fields.h has them, and of LoadOptions.
#include "native/options/options.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "native/errors.h"
#include "native/options/values.h"
#include "tenfold/internal/nearest.h"

namespace tenfold::python {
namespace {

template <class Config>
struct Option {
  const char* name;
  const char* type;
  void (*set)(Config& to, nb::handle value, const std::shared_ptr<Callbacks>& callbacks);
};

nb::handle callable(nb::handle value) {
  if (PyCallable_Check(value.ptr()) == 0) throw WrongValue{"a function"};
  return value;
}

using Calls = const std::shared_ptr<Callbacks>&;
// A dict of Calibration's fields, or its samples alone.
void take_calibration(nb::handle value, BuildConfig& to, Calls calls) {
  constexpr const char* kExpected =
      "samples (a sequence of dicts, or a function from an index) or a dict of sample, samples, profile, shapes, types, method, cache, "
      "corrections";
  Calibration& calibration = to.calibration.emplace();
  const auto take_sample = [&](nb::handle source) {
    const bool calls_it = PyCallable_Check(source.ptr()) != 0;
    if (!calls_it && (PySequence_Check(source.ptr()) == 0 || PyUnicode_Check(source.ptr()))) throw WrongValue{kExpected};
    calibration.sample = calls->sample(source);
  };
  if (!nb::isinstance<nb::dict>(value)) return take_sample(value);
  for (auto [key, field] : nb::borrow<nb::dict>(value)) {
    const std::string name = nb::isinstance<nb::str>(key) ? nb::cast<std::string>(key) : "";
    if (name == "sample") take_sample(field);
    else if (name == "samples") take(field, calibration.samples);
    else if (name == "profile") take(field, calibration.profile);
    else if (name == "shapes") take(field, calibration.shapes);
    else if (name == "types") take(field, calibration.types);
    else if (name == "method") take(field, calibration.method);
    else if (name == "cache") take(field, calibration.cache);
    else if (name == "corrections") take(field, calibration.corrections);
    else throw WrongValue{kExpected};
  }
}

std::map<std::string, double> bounds_of(nb::handle value, const char* requested) {
  std::map<std::string, double> bounds;
  for (auto [key, bound] : nb::borrow<nb::dict>(value)) {
    if (!nb::isinstance<nb::str>(key) || (PyFloat_Check(bound.ptr()) == 0 && PyLong_Check(bound.ptr()) == 0)) throw WrongValue{requested};
    bounds[nb::cast<std::string>(key)] = nb::cast<double>(bound);
  }
  return bounds;
}

// A dict of ErrorBudget's fields, or max_error alone. `metric` is a name, or a function.
void take_budget(nb::handle value, ErrorBudget& to, Calls calls) {
  constexpr const char* kExpected =
      "a number, or a dict of max_error, outputs (a dict from names to numbers), metric (a name, or a function of two lists of dicts), "
      "labels, search_memory, search_seconds";
  if (!nb::isinstance<nb::dict>(value)) {
    if (PyFloat_Check(value.ptr()) == 0 && PyLong_Check(value.ptr()) == 0) throw WrongValue{kExpected};
    to.max_error = nb::cast<double>(value);
    return;
  }
  for (auto [key, field] : nb::borrow<nb::dict>(value)) {
    const std::string name = nb::isinstance<nb::str>(key) ? nb::cast<std::string>(key) : "";
    const bool number = PyFloat_Check(field.ptr()) != 0 || PyLong_Check(field.ptr()) != 0;
    if (name == "max_error" && number) to.max_error = nb::cast<double>(field);
    else if (name == "search_seconds" && number) to.search_seconds = nb::cast<double>(field);
    else if (name == "search_memory" && number) take(field, to.search_memory);
    else if (name == "metric" && PyCallable_Check(field.ptr()) != 0) to.measure = calls->measure(field);
    else if (name == "metric") take(field, to.metric);
    else if (name == "labels") to.labels = shape_of(field);   // whole numbers, too
    else if (name == "outputs" && nb::isinstance<nb::dict>(field)) to.outputs = bounds_of(field, kExpected);
    else throw WrongValue{kExpected};
  }
}

// What a keyword sets: as its type says (values.h), or as the field does.
template <class Config, auto kField>
void take_field(Config& to, nb::handle value, Calls) { take(value, to.*kField); }

using B = BuildConfig;
template <>
void take_field<B, &B::tactic_sources>(B& to, nb::handle value, Calls) { take_tactic_sources(value, to.tactic_sources); }
template <>
void take_field<B, &B::cpu_features>(B& to, nb::handle value, Calls) { take_cpu_features(value, to.cpu_features); }
template <>
void take_field<B, &B::calibration>(B& to, nb::handle value, Calls calls) { take_calibration(value, to, calls); }
template <>
void take_field<B, &B::budget>(B& to, nb::handle value, Calls calls) { take_budget(value, to.budget.emplace(), calls); }
template <>
void take_field<B, &B::choose_tactic>(B& to, nb::handle value, Calls calls) { to.choose_tactic = calls->choose(callable(value)); }
template <>
void take_field<B, &B::dump>(B& to, nb::handle value, Calls calls) { to.dump = calls->dump(callable(value)); }
template <>
void take_field<B, &B::log>(B&, nb::handle value, Calls calls) { calls->log_to(callable(value)); }
template <>
void take_field<B, &B::progress>(B&, nb::handle value, Calls calls) { calls->progress_to(callable(value)); }

constexpr Option<B> kBuild[] = {
#define TF_FIELD(type, name, initial, forms, c, flag) {#name, annotation<decltype(B::name)>(), take_field<B, &B::name>},
#include "tenfold/build_fields.h"
};

using L = LoadOptions;
template <>
void take_field<L, &L::cpu_features>(L& to, nb::handle value, Calls) { take_cpu_features(value, to.cpu_features); }
template <>
void take_field<L, &L::log>(L&, nb::handle value, Calls calls) { calls->log_to(callable(value)); }

#define FIELD(name) {#name, annotation<decltype(L::name)>(), take_field<L, &L::name>}
constexpr Option<L> kLoad[] = {
    FIELD(weights),     FIELD(verify_weights), FIELD(cpu_features), FIELD(device),  FIELD(threads),
    FIELD(pin_threads), FIELD(plugins),        FIELD(log),          FIELD(runtime), FIELD(device_code),
};
#undef FIELD

// How a message names what was called, and what it was given.
struct CallNames {
  std::string subject, word, list;
  std::vector<std::string> others = {};   // names that are taken elsewhere
};

CallNames call_of(const char* call) {
  return {std::string(call) + "()", "keyword", std::string("help(tenfold.") + call + ") lists them"};
}

template <class Config, std::size_t N>
void read(const Option<Config> (&table)[N], const nb::dict& keywords, Config& to, Calls callbacks, const CallNames& call) {
  for (auto [key, value] : keywords) {
    const std::string name = nb::cast<const char*>(key);
    const Option<Config>* option = nullptr;
    for (const Option<Config>& o : table)
      if (name == o.name) option = &o;
    if (option == nullptr) {
      std::vector<std::string> names = call.others;
      for (const Option<Config>& o : table) names.emplace_back(o.name);
      const std::string near = nearest(name, names);
      if (name == "shapes" || name == "input_shapes" || name == "dynamic_shapes")
        raise_type_error(call.subject + " has no " + call.word + " '" + name +
                         "': shapes are given as profiles={\"x\": shape}, or {\"x\": (smallest, usual, largest shape)} for a range");
      raise_type_error(call.subject + " has no " + call.word + " '" + name + "'" +
                       (near.empty() ? "; " + call.list : ": did you mean '" + near + "'?"));
    }
    if (value.is_none()) continue;  // the default
    try {
      option->set(to, value, callbacks);
    } catch (const WrongValue& wrong) {
      const std::string given = nb::cast<const char*>(nb::repr(value));
      raise_type_error(call.subject + ": '" + name + "' takes " + wrong.requested + ", got " +
                       (given.size() > 80 ? given.substr(0, 77) + "..." : given) + " (" + class_name(value) + ")");
    }
  }
}

template <class Config, std::size_t N>
nb::list listed(const Option<Config> (&table)[N]) {
  nb::list fields;
  for (const Option<Config>& o : table) fields.append(nb::make_tuple(o.name, o.type));
  return fields;
}

}  // namespace

void read_options(const nb::dict& keywords, BuildConfig& config, Calls callbacks, const char* call) {
  read(kBuild, keywords, config, callbacks, call_of(call));
  config.log = callbacks->log();
  callbacks->watch(config);
}

void read_options(const nb::dict& keywords, LoadOptions& options, Calls callbacks, const char* call) {
  read(kLoad, keywords, options, callbacks, call_of(call));
  options.log = callbacks->log();
}

void bind_options(nb::module_& m) {
  m.def(
      "check_options",
      [](const nb::dict& options, const std::string& subject, const std::vector<std::string>& others, const std::string& list) {
        BuildConfig config;
        read(kBuild, options, config, std::make_shared<Callbacks>(), {subject, "option", list, others});
      },
      nb::arg("options"), nb::arg("subject"), nb::arg("others"), nb::arg("list"),
      "Raises TypeError where one is no field of BuildConfig, or has another type. `others` are further names; `list` says where all are.");
  m.def(
      "build_options", [] { return listed(kBuild); }, "Names and annotations of BuildConfig's fields.");
  m.def(
      "load_options", [] { return listed(kLoad); }, "Names and annotations of LoadOptions' fields.");
}

}  // namespace tenfold::python
