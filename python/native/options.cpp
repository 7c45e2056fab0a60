// The one table of keywords: the fields of BuildConfig and of LoadOptions.
#include "options.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "errors.h"
#include "tenfold/internal/nearest.h"
#include "values.h"

namespace tenfold::python {
namespace {

template <class Config>
struct Option {
  const char* name;
  const char* type;
  void (*set)(Config& to, nb::handle value, const std::shared_ptr<Callbacks>& callbacks);
};

void need_callable(nb::handle value) {
  if (PyCallable_Check(value.ptr()) == 0) throw WrongValue{"a function"};
}

using Calls = const std::shared_ptr<Callbacks>&;
#define FIELD(config, field)                                                                                             \
  {                                                                                                                      \
#field, annotation < decltype(config::field)>(), [](config & to, nb::handle value, Calls) { take(value, to.field); } \
  }
#define FIELD_BY(config, field, taker)                                                                                    \
  {                                                                                                                       \
#field, annotation < decltype(config::field)>(), [](config & to, nb::handle value, Calls) { taker(value, to.field); } \
  }
#define CALLBACK(config, field, statement)                                                                        \
  {                                                                                                               \
#field, annotation<decltype(config::field)>(), []([[maybe_unused]] config& to, nb::handle value, Calls calls) { \
     need_callable(value);                                                               \
     statement;                                                                          \
   } \
  }

#define CALLBACK_OF(config, field, statement) \
  { #field, annotation<decltype(config::field)>(), [](config& to, nb::handle value, Calls calls) { statement; } }

// A dict of Calibration's fields, or its samples alone.
void take_calibration(nb::handle value, BuildConfig& to, Calls calls) {
  constexpr const char* kWanted =
      "samples (a sequence of dicts, or a function from an index) or a dict of sample, samples, profile, shapes, types, method, cache, "
      "corrections";
  Calibration& calibration = to.calibration.emplace();
  const auto take_sample = [&](nb::handle source) {
    const bool calls_it = PyCallable_Check(source.ptr()) != 0;
    if (!calls_it && (PySequence_Check(source.ptr()) == 0 || PyUnicode_Check(source.ptr()))) throw WrongValue{kWanted};
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
    else throw WrongValue{kWanted};
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
  constexpr const char* kWanted =
      "a number, or a dict of max_error, outputs (a dict from names to numbers), metric (a name, or a function of two lists of dicts), "
      "labels, search_memory, search_seconds";
  if (!nb::isinstance<nb::dict>(value)) {
    if (PyFloat_Check(value.ptr()) == 0 && PyLong_Check(value.ptr()) == 0) throw WrongValue{kWanted};
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
    else if (name == "outputs" && nb::isinstance<nb::dict>(field)) to.outputs = bounds_of(field, kWanted);
    else throw WrongValue{kWanted};
  }
}

using B = BuildConfig;
constexpr Option<B> kBuild[] = {
    FIELD(B, device),
    FIELD(B, threads),
    FIELD(B, pin_threads),
    FIELD(B, profiles),
    FIELD(B, input_formats),
    FIELD(B, output_formats),
    FIELD(B, overridable),
    FIELD(B, input_defaults),
    FIELD(B, fp16),
    FIELD(B, bf16),
    FIELD(B, int8),
    FIELD(B, fp8),
    CALLBACK_OF(B, calibration, take_calibration(value, to, calls)),
    CALLBACK_OF(B, budget, take_budget(value, to.budget.emplace(), calls)),
    FIELD(B, auto_precision),
    FIELD(B, layer_types),
    FIELD(B, check_overflow),
    FIELD(B, typical_inputs),
    FIELD(B, tf32),
    FIELD(B, tf32_convolutions),
    FIELD(B, tf32_matmul),
    FIELD(B, winograd),
    FIELD(B, strassen),
    FIELD(B, fast_exp),
    FIELD(B, pack_tokens),
    FIELD(B, newest_row),
    FIELD(B, optimization_level),
    FIELD(B, max_tactics),
    FIELD(B, timing_repetitions),
    FIELD_BY(B, tactic_sources, take_tactic_sources),
    FIELD(B, workspace_bytes),
    FIELD_BY(B, cpu_features, take_cpu_features),
    FIELD(B, timing_cache),
    FIELD(B, timings),
    FIELD(B, error_on_cache_miss),
    FIELD(B, time_limit_s),
    FIELD(B, disabled_passes),
    FIELD(B, external_data_dirs),
    FIELD(B, initializers),
    FIELD(B, keep_portable_graph),
    FIELD(B, version_compatible),
    FIELD(B, hardware_compatible),
    FIELD(B, refittable),
    FIELD(B, random_choices),
    FIELD(B, forced_tactics),
    CALLBACK(B, choose_tactic, to.choose_tactic = calls->choose(value)),
    FIELD(B, labels),
    FIELD(B, plugins),
    CALLBACK(B, log, calls->log_to(value)),
    FIELD(B, runtime),
    CALLBACK(B, progress, calls->progress_to(value)),
    CALLBACK(B, dump, to.dump = calls->dump(value)),
};

using L = LoadOptions;
constexpr Option<L> kLoad[] = {
    FIELD(L, weights),     FIELD(L, verify_weights), FIELD_BY(L, cpu_features, take_cpu_features), FIELD(L, device),  FIELD(L, threads),
    FIELD(L, pin_threads), FIELD(L, plugins),        CALLBACK(L, log, calls->log_to(value)),       FIELD(L, runtime), FIELD(L, device_code),
};

// How a message names what was called, and what it was given.
struct Asked {
  std::string subject, word, list;
  std::vector<std::string> others = {};   // names that are taken elsewhere
};

Asked call_of(const char* call) {
  return {std::string(call) + "()", "keyword", std::string("help(tenfold.") + call + ") lists them"};
}

template <class Config, std::size_t N>
void read(const Option<Config> (&table)[N], const nb::dict& keywords, Config& to, Calls callbacks, const Asked& asked) {
  for (auto [key, value] : keywords) {
    const std::string name = nb::cast<const char*>(key);
    const Option<Config>* option = nullptr;
    for (const Option<Config>& o : table)
      if (name == o.name) option = &o;
    if (option == nullptr) {
      std::vector<std::string> names = asked.others;
      for (const Option<Config>& o : table) names.emplace_back(o.name);
      const std::string near = nearest(name, names);
      raise_type_error(asked.subject + " has no " + asked.word + " '" + name + "'" +
                       (near.empty() ? "; " + asked.list : ": did you mean '" + near + "'?"));
    }
    if (value.is_none()) continue;  // the default
    try {
      option->set(to, value, callbacks);
    } catch (const WrongValue& wrong) {
      const std::string given = nb::cast<const char*>(nb::repr(value));
      raise_type_error(asked.subject + ": '" + name + "' takes " + wrong.requested + ", got " +
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
