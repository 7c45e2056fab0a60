// Building engines from C.
#include "c/build/builder.h"
#include "c/run/plugins.h"

using namespace tenfold;
using namespace tenfold::c;

// The caller's structs are as far apart as they are large.
std::vector<tenfold_range> tenfold::c::ranges_of(const tenfold_range* ranges, std::int32_t count) {
  std::vector<tenfold_range> list;
  if (count > 0) need(ranges, "ranges");
  const auto* at = reinterpret_cast<const char*>(ranges);
  for (std::int32_t i = 0; i < count; ++i) {
    list.push_back(taken(reinterpret_cast<const tenfold_range*>(at), "a range"));
    at += list.back().struct_size;
  }
  return list;
}

ShapeRange tenfold::c::shapes_of(const tenfold_range& r) {
  return {shape_of(r.min, r.rank), shape_of(r.opt, r.rank), shape_of(r.max, r.rank)};
}

namespace {

// From the types of tenfold_build_config to those of BuildConfig: take(field, what its row in tenfold/build_fields.h names).
template <class T>
struct Positive {
  T value;   // else the default is meant
};
template <class T>
struct List {
  const T* entries;
  std::int32_t count;
  const char* name;

  template <class Take>
  void each(Take take_one) const {
    if (count > 0) need(entries, name);
    for (std::int32_t i = 0; i < count; ++i) take_one(entries[i]);
  }
};
template <class Function>
struct Call {
  Function function;
  void* user;
};
template <class T>   // clang 14 deduces none for aggregates
Positive(T) -> Positive<T>;
template <class T>
List(const T*, std::int32_t, const char*) -> List<T>;
template <class Function>
Call(Function, void*) -> Call<Function>;

template <class T, class U>
requires std::is_arithmetic_v<T> && std::is_arithmetic_v<U>
void take(T& to, U value) {
  to = static_cast<T>(value);
}
template <class T, class U>
void take(T& to, Positive<U> given) {
  if (given.value > 0) to = given.value;
}
void take(std::string& to, const char* text) {
  if (text) to = text;
}
void take(PackTokens& to, std::int32_t how) {
  require(how >= 0 && how <= 2, ErrorKind::invalid_argument, "pack_tokens is ", how, ", expected 0, 1 or 2");
  to = static_cast<PackTokens>(how);
}
void take(std::optional<Calibration>& to, const tenfold_calibration* given) {
  if (given) to = calibration_of(given);
}
void take(std::optional<ErrorBudget>& to, const tenfold_error_budget* given) {
  if (given) to = budget_of(given);
}
void take(std::shared_ptr<TimingCache>& to, const tenfold_timing_cache* given) {
  if (given) to = given->cache;
}
void take(std::shared_ptr<const Plugins>& to, const tenfold_plugin_set* given) { to = plugins_of(given); }
void take(std::shared_ptr<Runtime>& to, const tenfold_runtime* given) { to = runtime_of(given); }

void take(std::vector<std::string>& to, List<const char*> list) {
  list.each([&](const char* text) { to.emplace_back(&need(text, list.name)); });
}
void take(NamedTexts& to, List<tenfold_pair> list) {
  list.each([&](const tenfold_pair& pair) { to[&need(pair.key, list.name)] = &need(pair.value, list.name); });
}
void take(NamedTensors& to, List<tenfold_input_default> list) {
  list.each([&](const tenfold_input_default& one) { to[&need(one.input, list.name)] = need(one.data, list.name).value.tensor(); });
}
void take(NamedFormats& to, List<tenfold_binding_format> list) {
  static_assert(static_cast<int>(BindingOrder::dhwc) == TENFOLD_ORDER_DHWC && static_cast<int>(BindingOrder::hwc) == TENFOLD_ORDER_HWC);
  list.each([&](const tenfold_binding_format& f) {
    require(f.order >= TENFOLD_ORDER_OF_MODEL && f.order <= TENFOLD_ORDER_DHWC, ErrorKind::invalid_argument, list.name,
            ": there is no order ", f.order, ", one of TENFOLD_ORDER_OF_MODEL, _HWC and _DHWC was expected");
    BindingFormat& format = to[&need(f.binding, list.name)];
    format.order = static_cast<BindingOrder>(f.order);
    if (f.dtype) format.dtype = dtype_of(f.dtype);
  });
}
// Entries of one example, or of one profile, follow each other, and the first of the next adds it.
void take(std::vector<NamedTensors>& to, List<tenfold_typical_input> list) {
  list.each([&](const tenfold_typical_input& t) {
    const auto examples = static_cast<std::int32_t>(to.size());
    require(t.example >= 0 && t.example <= examples, ErrorKind::invalid_argument, "an input of example ", t.example,
            " comes before example ", examples);
    if (t.example == examples) to.emplace_back();
    to[static_cast<std::size_t>(t.example)][&need(t.input, list.name)] = need(t.data, list.name).value.tensor();
  });
}
void take(std::vector<OptimizationProfile>& to, List<tenfold_range> list) {
  for (const tenfold_range& r : ranges_of(list.entries, list.count)) {
    require(r.profile >= 0 && r.profile <= static_cast<std::int32_t>(to.size()), ErrorKind::invalid_argument, "a range of profile ",
            r.profile, " comes before profile ", to.size());
    if (r.profile == static_cast<std::int32_t>(to.size())) to.emplace_back();
    to[static_cast<std::size_t>(r.profile)][&need(r.input, "a range's input")] = shapes_of(r);
  }
}

void take(LogCallback& to, Call<tenfold_log_function> call) { to = log_of(call.function, call.user); }
void take(std::function<bool(const Progress&)>& to, Call<tenfold_progress_function> call) {
  if (call.function)
    to = [call](const Progress& p) { return call.function(call.user, std::string(p.phase).c_str(), p.done, p.total) != 0; };
}
void take(std::function<void(std::string_view, std::string_view)>& to, Call<tenfold_dump_function> call) {
  if (call.function)
    to = [call](std::string_view pass, std::string_view graph) {
      call.function(call.user, std::string(pass).c_str(), std::string(graph).c_str());
    };
}
void take(std::function<int(const TacticQuestion&)>& to, Call<tenfold_choose_function> call) {
  if (call.function)
    to = [call](const TacticQuestion& question) {
      std::vector<tenfold_candidate> list;
      for (const TacticCandidate& one : question.candidates) list.push_back({one.tactic.c_str(), one.config.c_str(), one.nanoseconds});
      return call.function(call.user, std::string(question.node).c_str(), std::string(question.problem).c_str(), list.data(),
                           static_cast<std::int32_t>(list.size()));
    };
}

// Rows with TF_C_OWN.
void take(int& optimization_level, const tenfold_build_config& c) {
  require(c.optimization_level >= TENFOLD_LEVEL_UNTIMED && c.optimization_level <= 5, ErrorKind::invalid_argument, "optimization_level is ",
          c.optimization_level, ", expected 1 to 5, 0 for the default, or TENFOLD_LEVEL_UNTIMED");
  if (c.optimization_level != 0) optimization_level = std::max(c.optimization_level, 0);
}
void take(LayerTypes& types, const tenfold_build_config& c) {
  static_assert(static_cast<int>(LayerConstraints::obey) == TENFOLD_LAYERS_OBEY);
  require(c.layer_constraints >= TENFOLD_LAYERS_FREE && c.layer_constraints <= TENFOLD_LAYERS_OBEY, ErrorKind::invalid_argument,
          "layer_constraints is ", c.layer_constraints, ", expected TENFOLD_LAYERS_FREE, _PREFER or _OBEY");
  types.constraints = static_cast<LayerConstraints>(c.layer_constraints);
  if (c.layer_type_count > 0) need(c.layer_types, "layer_types");
  std::string last;  // whose outputs the entry before was about
  for (std::int32_t i = 0; i < c.layer_type_count; ++i) {
    const tenfold_layer_type& one = c.layer_types[i];
    const std::string layers = &need(one.layers, "a layer's name");
    const DType type = dtype_of(&need(one.dtype, "a layer's type"));
    require(one.of == TENFOLD_LAYER_COMPUTES || one.of == TENFOLD_LAYER_GIVES, ErrorKind::invalid_argument, "layer '", layers,
            "': `of` is ", one.of, ", expected TENFOLD_LAYER_COMPUTES or TENFOLD_LAYER_GIVES");
    const bool gives = one.of == TENFOLD_LAYER_GIVES;
    if (!gives)
      types.precisions.push_back({layers, type});
    else if (!types.output_types.empty() && last == layers)
      types.output_types.back().types.push_back(type);
    else
      types.output_types.push_back({layers, {type}});
    last = gives ? layers : "";
  }
}

}  // namespace

BuildConfig tenfold::c::config_of(const tenfold_build_config* given) {
  BuildConfig config;
  if (!given) return config;
  const tenfold_build_config c = taken(given, "the build configuration");
#define TF_FIELD(type, name, initial, forms, from_c, flag) take(config.name, from_c);
#define TF_C_IS(member) c.member != 0
#define TF_C_NOT(member) c.member == 0
#define TF_C_VALUE(member) c.member
#define TF_C_POSITIVE(member) Positive{c.member}
#define TF_C_LIST(member, count) List{c.member, c.count, #member}
#define TF_C_CALL(member, user) Call{c.member, c.user}
#define TF_C_OWN c
#define TF_C_NEW(type, member, how) how(member)
#include "tenfold/build_fields.h"
  return config;
}

BuildReport* tenfold::c::report_of(const tenfold_build_config* given) {
  tenfold_report* const report = given ? taken(given, "the build configuration").report : nullptr;
  if (!report) return nullptr;
  report->report = {};
  return &report->report;
}

extern "C" tenfold_status tenfold_build_file(const char* path, const tenfold_build_config* config, tenfold_engine** engine) {
  return make_engine(engine, [&] { return build_file(std::string(&need(path, "the path")), config_of(config), report_of(config)); });
}
extern "C" tenfold_status tenfold_build_bytes(const void* onnx, size_t bytes, const tenfold_build_config* config, tenfold_engine** engine) {
  return make_engine(engine, [&] {
    return build_bytes({&need(static_cast<const std::byte*>(onnx), "the model"), bytes}, config_of(config), report_of(config));
  });
}
extern "C" tenfold_status tenfold_build_network(const tenfold_network* network, const tenfold_build_config* config,
                                                tenfold_engine** engine) {
  return make_engine(engine, [&] { return build(*need(network, "the network").network, config_of(config), report_of(config)); });
}
extern "C" tenfold_status tenfold_load_compatible(const char* path, const tenfold_load_options* options, tenfold_engine** engine) {
  return make_engine(engine, [&] { return load_compatible(std::string(&need(path, "the path")), options_of(options)); });
}
extern "C" tenfold_status tenfold_load_compatible_bytes(const void* plan, size_t bytes, const tenfold_load_options* options,
                                                        tenfold_engine** engine) {
  return make_engine(engine, [&] {
    return load_compatible(std::span(&need(static_cast<const std::byte*>(plan), "the plan"), bytes), options_of(options));
  });
}
extern "C" tenfold_status tenfold_retune_file(const char* path, const tenfold_build_config* config, tenfold_engine** engine) {
  return make_engine(engine, [&] { return retune_file(&need(path, "the path"), config_of(config), report_of(config)); });
}
extern "C" tenfold_status tenfold_retune(const tenfold_engine* old, const tenfold_build_config* config, tenfold_engine** engine) {
  return make_engine(engine, [&] { return retune(need(old, "the engine").engine, config_of(config), report_of(config)); });
}
