// Building engines from C.
#include "api_build/c_builder.h"
#include "api_run/c_plugins.h"

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

void set_profiles(BuildConfig& config, const tenfold_build_config& c) {
  for (const tenfold_range& r : ranges_of(c.ranges, c.range_count)) {
    require(r.profile >= 0 && r.profile <= static_cast<std::int32_t>(config.profiles.size()), ErrorKind::invalid_argument,
            "a range of profile ", r.profile, " comes before profile ", config.profiles.size());
    if (r.profile == static_cast<std::int32_t>(config.profiles.size())) config.profiles.emplace_back();
    config.profiles[static_cast<std::size_t>(r.profile)][&need(r.input, "a range's input")] = shapes_of(r);
  }
}

void set_layer_types(LayerTypes& types, const tenfold_build_config& c) {
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

void set_precision(BuildConfig& config, const tenfold_build_config& c) {
  config.auto_precision = c.auto_precision != 0;
  set_layer_types(config.layer_types, c);
  config.bf16 = c.allow_bf16 != 0, config.fp16 = c.allow_fp16 != 0;
  config.int8 = c.no_int8 == 0, config.fp8 = c.no_fp8 == 0;
  config.check_overflow = c.no_overflow_check == 0;
  config.tf32 = c.no_tf32 == 0;
  config.tf32_convolutions = c.no_tf32_convolutions == 0, config.tf32_matmul = c.no_tf32_matmul == 0;
  config.winograd = c.no_winograd == 0, config.strassen = c.no_strassen == 0, config.fast_exp = c.no_fast_exp == 0;
  require(c.pack_tokens >= 0 && c.pack_tokens <= 2, ErrorKind::invalid_argument, "pack_tokens is ", c.pack_tokens, ", expected 0, 1 or 2");
  config.pack_tokens = static_cast<PackTokens>(c.pack_tokens);
  if (c.newest_row) config.newest_row = c.newest_row;
  if (c.calibration) config.calibration = calibration_of(c.calibration);
  if (c.budget) config.budget = budget_of(c.budget);
  if (c.typical_input_count > 0) need(c.typical_inputs, "typical_inputs");
  for (std::int32_t i = 0; i < c.typical_input_count; ++i) {
    const tenfold_typical_input& t = c.typical_inputs[i];
    const auto examples = static_cast<std::int32_t>(config.typical_inputs.size());
    require(t.example >= 0 && t.example <= examples, ErrorKind::invalid_argument, "an input of example ", t.example,
            " comes before example ", examples);
    if (t.example == examples) config.typical_inputs.emplace_back();
    config.typical_inputs[static_cast<std::size_t>(t.example)][&need(t.input, "a typical input's name")] =
        need(t.data, "a typical input's data").value.tensor();
  }
}

std::vector<std::string> strings_of(const char* const* list, std::int32_t count, const char* what) {
  std::vector<std::string> strings;
  if (count > 0) need(list, what);
  for (std::int32_t i = 0; i < count; ++i) strings.emplace_back(&need(list[i], what));
  return strings;
}
std::map<std::string, std::string> pairs_of(const tenfold_pair* list, std::int32_t count, const char* what) {
  std::map<std::string, std::string> pairs;
  if (count > 0) need(list, what);
  for (std::int32_t i = 0; i < count; ++i) pairs[&need(list[i].key, what)] = &need(list[i].value, what);
  return pairs;
}

std::map<std::string, BindingFormat> formats_of(const tenfold_binding_format* list, std::int32_t count, const char* what) {
  static_assert(static_cast<int>(BindingOrder::dhwc) == TENFOLD_ORDER_DHWC && static_cast<int>(BindingOrder::hwc) == TENFOLD_ORDER_HWC);
  std::map<std::string, BindingFormat> formats;
  if (count > 0) need(list, what);
  for (std::int32_t i = 0; i < count; ++i) {
    const tenfold_binding_format& f = list[i];
    require(f.order >= TENFOLD_ORDER_OF_MODEL && f.order <= TENFOLD_ORDER_DHWC, ErrorKind::invalid_argument, what, ": there is no order ",
            f.order, ", one of TENFOLD_ORDER_OF_MODEL, _HWC and _DHWC was expected");
    BindingFormat& format = formats[&need(f.binding, what)];
    format.order = static_cast<BindingOrder>(f.order);
    if (f.dtype) format.dtype = dtype_of(f.dtype);
  }
  return formats;
}

void set_borders(BuildConfig& config, const tenfold_build_config& c) {
  config.input_formats = formats_of(c.input_formats, c.input_format_count, "input_formats");
  config.output_formats = formats_of(c.output_formats, c.output_format_count, "output_formats");
  config.overridable = strings_of(c.overridable, c.overridable_count, "overridable");
  if (c.input_default_count > 0) need(c.input_defaults, "input_defaults");
  if (c.initializer_count > 0) need(c.initializers, "initializers");
  for (std::int32_t i = 0; i < c.initializer_count; ++i)
    config.initializers[&need(c.initializers[i].input, "an initializer's name")] =
        need(c.initializers[i].data, "an initializer's data").value.tensor();
  for (std::int32_t i = 0; i < c.input_default_count; ++i)
    config.input_defaults[&need(c.input_defaults[i].input, "a default's input")] =
        need(c.input_defaults[i].data, "a default's data").value.tensor();
}

void set_tuning(BuildConfig& config, const tenfold_build_config& c) {
  require(c.optimization_level >= TENFOLD_LEVEL_UNTIMED && c.optimization_level <= 5, ErrorKind::invalid_argument, "optimization_level is ",
          c.optimization_level, ", expected 1 to 5, 0 for the default, or TENFOLD_LEVEL_UNTIMED");
  if (c.optimization_level != 0) config.optimization_level = std::max(c.optimization_level, 0);
  if (c.max_tactics > 0) config.max_tactics = c.max_tactics;
  config.timing_repetitions = c.timing_repetitions;
  if (c.tactic_sources != 0) config.tactic_sources = c.tactic_sources;
  if (c.workspace_bytes > 0) config.workspace_bytes = c.workspace_bytes;
  config.cpu_features = c.cpu_features;
  config.error_on_cache_miss = c.error_on_cache_miss != 0;
  config.time_limit_s = c.time_limit_s;
  config.random_choices = c.random_choices;
  if (c.timing_cache) config.timing_cache = c.timing_cache;
  if (c.timings) config.timings = c.timings->cache;
  config.disabled_passes = strings_of(c.disabled_passes, c.disabled_pass_count, "disabled_passes");
  config.forced_tactics = pairs_of(c.forced_tactics, c.forced_tactic_count, "forced_tactics");
}

void set_callbacks(BuildConfig& config, const tenfold_build_config& c) {
  config.log = log_of(c.log, c.log_user);
  config.plugins = plugins_of(c.plugins), config.runtime = runtime_of(c.runtime);
  if (c.progress)
    config.progress = [progress = c.progress, user = c.progress_user](const Progress& p) {
      return progress(user, std::string(p.phase).c_str(), p.done, p.total) != 0;
    };
  if (c.dump)
    config.dump = [dump = c.dump, user = c.dump_user](std::string_view pass, std::string_view graph) {
      dump(user, std::string(pass).c_str(), std::string(graph).c_str());
    };
  if (c.choose)
    config.choose_tactic = [choose = c.choose, user = c.choose_user](const TacticQuestion& question) {
      std::vector<tenfold_candidate> list;
      for (const TacticCandidate& one : question.candidates) list.push_back({one.tactic.c_str(), one.config.c_str(), one.nanoseconds});
      return choose(user, std::string(question.node).c_str(), std::string(question.problem).c_str(), list.data(),
                    static_cast<std::int32_t>(list.size()));
    };
}

}  // namespace

BuildConfig tenfold::c::config_of(const tenfold_build_config* given) {
  BuildConfig config;
  if (!given) return config;
  const tenfold_build_config c = taken(given, "the build configuration");
  if (c.device) config.device = c.device;
  config.threads = c.threads;
  config.pin_threads = c.pin_threads != 0;
  config.refittable = c.refittable != 0;
  config.keep_portable_graph = c.drop_portable_graph == 0;
  config.version_compatible = c.version_compatible != 0, config.hardware_compatible = c.hardware_compatible != 0;
  config.external_data_dirs = strings_of(c.external_data_dirs, c.external_data_dir_count, "external_data_dirs");
  config.labels = pairs_of(c.labels, c.label_count, "labels");
  set_profiles(config, c);
  set_borders(config, c);
  set_precision(config, c);
  set_tuning(config, c);
  set_callbacks(config, c);
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
