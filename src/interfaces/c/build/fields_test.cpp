// Every field of the C++ interface's structs is reached from C. Each is named here, so that a new one does not compile until C has it.
// (Of BuildConfig, tenfold/build_fields.h has what C has in its place; src/serving/background/build_fields_test.cpp tries its numbers.)
#include <gtest/gtest.h>

#include "c/build/builder.h"
#include "tenfold/c_api.h"
#include "tenfold/plugin.h"

namespace tenfold {
namespace {

template <class T>
T sized() {
  T info{};
  info.struct_size = sizeof info;
  return info;
}

struct Handles {
  tenfold_plugin_set* plugins = nullptr;
  tenfold_runtime* runtime = nullptr;
  tenfold_timing_cache* timings = nullptr;
  tenfold_data* data = nullptr;
  Handles() {
    const std::int64_t shape[1] = {1};
    tenfold_plugins_create(&plugins), tenfold_runtime_create(nullptr, &runtime), tenfold_timing_cache_create(&timings);
    tenfold_data_tensor("f32", shape, 1, nullptr, 0, &data);
  }
  ~Handles() { tenfold_plugins_free(plugins), tenfold_runtime_free(runtime), tenfold_timing_cache_free(timings), tenfold_data_free(data); }
};

TEST(CFields, OfABuild) {
  const Handles h;
  const std::int64_t extents[1] = {3};
  auto range = sized<tenfold_range>();
  range.input = "x", range.rank = 1, range.min = range.opt = range.max = extents;
  const tenfold_binding_format in{"x", "f16", TENFOLD_ORDER_HWC}, out{"y", nullptr, TENFOLD_ORDER_DHWC};
  const tenfold_pair forced{"Relu", "reference"}, label{"who", "a test"};
  const tenfold_typical_input typical{"x", h.data, 0};
  const tenfold_input_default otherwise{"b", h.data};
  const char* const pass = "fuse_norm";
  const char* const folder = "/weights";
  const char* const optional = "w";
  auto calibrated = sized<tenfold_calibration>();
  calibrated.sample = [](void* user, std::int32_t index, tenfold_sample* one) -> std::int32_t {
    EXPECT_EQ(tenfold_sample_set(one, "x", static_cast<tenfold_data*>(user)), TENFOLD_OK);
    return 1 - index;  // one sample; -1 for the third
  };
  calibrated.sample_user = h.data, calibrated.samples = 17, calibrated.method = "mse", calibrated.cache = "/cache";
  const char* correction = "bias";
  calibrated.corrections = &correction, calibrated.correction_count = 1;
  const char* kinds[] = {"f8e4m3fn", "i8"};
  calibrated.types = kinds, calibrated.type_count = 2, calibrated.profile = 2, calibrated.shapes = &range, calibrated.shape_count = 1;
  auto c = sized<tenfold_build_config>();
  c.calibration = &calibrated;
  const tenfold_layer_type layers[] = {
      {"a*", "f16", TENFOLD_LAYER_COMPUTES}, {"b", "i8", TENFOLD_LAYER_GIVES}, {"b", "f32", TENFOLD_LAYER_GIVES}};
  const tenfold_output_bound bound{"y", 0.5};
  auto budget_given = sized<tenfold_error_budget>();
  budget_given.max_error = 0.25, budget_given.outputs = &bound, budget_given.output_count = 1, budget_given.metric = "top1";
  const std::int64_t classes[] = {3, -1};
  budget_given.search_seconds = 9, budget_given.search_memory = 1 << 10, budget_given.labels = classes, budget_given.label_count = 2;
  budget_given.measure = [](void*, const tenfold_answers* reference, const tenfold_answers* candidate, double* error) -> std::int32_t {
    tenfold_data* made = nullptr;
    EXPECT_EQ(tenfold_answers_output(reference, 0, "z", &made), TENFOLD_INVALID_ARGUMENT);
    EXPECT_EQ(tenfold_answers_output(reference, 0, "y", &made), TENFOLD_OK);
    tenfold_data_free(made);
    *error = 10.0 * tenfold_answers_samples(reference) + tenfold_answers_samples(candidate);
    return tenfold_answers_samples(candidate) == 3;
  };
  c.budget = &budget_given;
  c.newest_row = "x:1";
  c.auto_precision = 1, c.layer_constraints = TENFOLD_LAYERS_OBEY, c.layer_types = layers, c.layer_type_count = 3;
  c.device = "cuda:1", c.threads = 3, c.pin_threads = 1, c.ranges = &range, c.range_count = 1;
  c.input_formats = &in, c.input_format_count = 1, c.output_formats = &out, c.output_format_count = 1;
  c.overridable = &optional, c.overridable_count = 1, c.input_defaults = &otherwise, c.input_default_count = 1;
  c.initializers = &otherwise, c.initializer_count = 1;
  c.allow_fp16 = c.allow_bf16 = c.no_int8 = c.no_fp8 = c.no_overflow_check = 1, c.typical_inputs = &typical, c.typical_input_count = 1;
  c.no_tf32 = c.no_tf32_convolutions = c.no_tf32_matmul = c.no_winograd = c.no_strassen = c.no_fast_exp = 1, c.pack_tokens = 2,
  c.optimization_level = 5, c.max_tactics = 7;
  c.timing_repetitions = 11, c.tactic_sources = TENFOLD_TACTICS_NATIVE, c.workspace_bytes = 1 << 20, c.cpu_features = 1;
  c.timing_cache = "/times", c.timings = h.timings, c.error_on_cache_miss = 1, c.time_limit_s = 2.5;
  c.disabled_passes = &pass, c.disabled_pass_count = 1;
  c.external_data_dirs = &folder, c.external_data_dir_count = 1, c.drop_portable_graph = c.version_compatible = c.hardware_compatible = 1;
  c.refittable = 1, c.random_choices = 13, c.forced_tactics = &forced, c.forced_tactic_count = 1, c.labels = &label, c.label_count = 1;
  c.choose = [](void*, const char*, const char*, const tenfold_candidate*, std::int32_t) -> std::int32_t { return 0; };
  c.plugins = h.plugins, c.runtime = h.runtime, c.log = [](void*, std::int32_t, const char*) {};
  c.progress = [](void*, const char*, std::int32_t, std::int32_t) -> std::int32_t { return 1; };
  c.dump = [](void*, const char*, const char*) {};

  const BuildConfig made = c::config_of(&c);
  EXPECT_EQ(made.device, "cuda:1");
  EXPECT_EQ(made.threads, 3);
  EXPECT_TRUE(made.pin_threads && made.fp16 && made.bf16 && made.error_on_cache_miss && made.refittable);
  EXPECT_TRUE(made.version_compatible && made.hardware_compatible);
  EXPECT_FALSE(made.tf32_convolutions || made.tf32_matmul);
  EXPECT_FALSE(made.int8 || made.fp8 || made.check_overflow || made.tf32 || made.keep_portable_graph);
  EXPECT_FALSE(made.winograd || made.strassen || made.fast_exp);
  ASSERT_EQ(made.profiles.size(), 1u);
  EXPECT_EQ(made.profiles[0].at("x").opt, Shape{3});
  EXPECT_EQ(made.input_formats.at("x").dtype, DType::f16);
  EXPECT_EQ(made.input_formats.at("x").order, BindingOrder::hwc);
  EXPECT_EQ(made.output_formats.at("y").dtype, std::nullopt);
  EXPECT_EQ(made.output_formats.at("y").order, BindingOrder::dhwc);
  EXPECT_EQ(made.overridable, std::vector<std::string>{"w"});
  EXPECT_EQ(made.input_defaults.at("b").shape(), Shape{1});
  EXPECT_EQ(made.initializers.at("b").shape(), Shape{1});
  EXPECT_EQ(made.typical_inputs.at(0).at("x").shape(), Shape{1});
  EXPECT_EQ(made.pack_tokens, PackTokens::with_zeros);
  EXPECT_EQ(made.newest_row, "x:1");
  EXPECT_EQ(made.optimization_level, 5);
  EXPECT_EQ(made.max_tactics, 7);
  EXPECT_EQ(made.timing_repetitions, 11);
  EXPECT_EQ(made.time_limit_s, 2.5);
  EXPECT_EQ(made.tactic_sources, static_cast<std::uint32_t>(TacticSource::native));
  EXPECT_EQ(made.workspace_bytes, 1 << 20);
  EXPECT_EQ(made.cpu_features, 1u);
  EXPECT_EQ(made.timing_cache, "/times");
  EXPECT_EQ(made.timings, h.timings->cache);
  EXPECT_EQ(made.disabled_passes, std::vector<std::string>{"fuse_norm"});
  EXPECT_EQ(made.external_data_dirs, std::vector<std::string>{"/weights"});
  EXPECT_EQ(made.random_choices, 13u);
  EXPECT_EQ(made.forced_tactics.at("Relu"), "reference");
  EXPECT_EQ(made.labels.at("who"), "a test");
  EXPECT_EQ(made.runtime, h.runtime->runtime);
  EXPECT_TRUE(made.plugins && made.choose_tactic && made.log && made.progress && made.dump);
  EXPECT_TRUE(made.auto_precision);
  ASSERT_TRUE(made.budget.has_value());
  const auto& [max_error, bounds, metric, measure, labels_of_data, search_memory, search_seconds] = *made.budget;
  EXPECT_EQ(labels_of_data, (std::vector<std::int64_t>{3, -1}));
  EXPECT_EQ(search_memory, 1 << 10);
  const std::vector<OutputSet> answers(3, {{"y", Tensor(DType::f32, {2})}});
  EXPECT_EQ(measure(std::span(answers).first(1), std::span(answers).first(2)), 12);
  EXPECT_THROW(measure(answers, answers), Error);
  EXPECT_EQ(std::tie(max_error, metric, search_seconds), std::make_tuple(0.25, std::string("top1"), 9.0));
  EXPECT_EQ(bounds, (std::map<std::string, double>{{"y", 0.5}}));
  EXPECT_EQ(made.layer_types.constraints, LayerConstraints::obey);
  ASSERT_EQ(made.layer_types.precisions.size(), 1u);
  EXPECT_EQ(made.layer_types.precisions[0].layers, "a*");
  EXPECT_EQ(made.layer_types.precisions[0].type, DType::f16);
  ASSERT_EQ(made.layer_types.output_types.size(), 1u);
  EXPECT_EQ(made.layer_types.output_types[0].types, (std::vector<DType>{DType::i8, DType::f32}));
  ASSERT_TRUE(made.calibration.has_value());
  const auto& [sample, samples, profile, shapes, types, method, cache, corrections] = *made.calibration;
  EXPECT_EQ(profile, 2);
  EXPECT_EQ(shapes.at("x").opt, Shape{3});
  EXPECT_EQ(types, (std::vector<DType>{DType::f8e4m3fn, DType::i8}));
  EXPECT_EQ(std::tie(samples, method, cache), std::make_tuple(17, std::string("mse"), std::string("/cache")));
  EXPECT_EQ(corrections, std::vector<std::string>{"bias"});
  EXPECT_EQ(sample(0)->at("x").shape(), Shape{1});
  EXPECT_FALSE(sample(1).has_value());
  EXPECT_THROW(sample(2), Error);
}

// Of a zeroed configuration, every field means the default.
TEST(CFields, OfABuildThatIsZeroed) {
  const auto zeros = sized<tenfold_build_config>();
  const BuildConfig made = c::config_of(&zeros), usual;
  EXPECT_EQ(made.device, usual.device);
  EXPECT_EQ(made.optimization_level, usual.optimization_level);
  EXPECT_EQ(made.max_tactics, usual.max_tactics);
  EXPECT_EQ(made.tactic_sources, usual.tactic_sources);
  EXPECT_EQ(made.workspace_bytes, usual.workspace_bytes);
  EXPECT_EQ(made.pack_tokens, usual.pack_tokens);
  EXPECT_TRUE(made.tf32_convolutions && made.tf32_matmul);
  EXPECT_TRUE(made.tf32 && made.winograd && made.strassen && made.fast_exp && made.int8 && made.fp8 && made.check_overflow);
  EXPECT_TRUE(made.keep_portable_graph && !made.fp16 && !made.bf16 && !made.version_compatible && !made.runtime && !made.plugins);
}

TEST(CFields, OfALoad) {
  const Handles h;
  auto c = sized<tenfold_load_options>();
  c.device = "cuda:1", c.threads = 3, c.weights = TENFOLD_WEIGHTS_LOCK, c.skip_verification = c.pin_threads = c.no_device_code = 1;
  c.cpu_features = 1, c.plugins = h.plugins, c.runtime = h.runtime, c.log = [](void*, std::int32_t, const char*) {};
  const LoadOptions made = c::options_of(&c);
  const auto& [weights, verify_weights, cpu_features, device, threads, pin_threads, plugins, log, runtime, device_code] = made;
  EXPECT_EQ(weights, WeightsMode::lock);
  EXPECT_EQ(cpu_features, 1u);
  EXPECT_EQ(device, "cuda:1");
  EXPECT_EQ(threads, 3);
  EXPECT_EQ(runtime, h.runtime->runtime);
  EXPECT_TRUE(pin_threads && plugins && log);
  EXPECT_FALSE(verify_weights || device_code);
  const auto zeros = sized<tenfold_load_options>();
  const LoadOptions usual = c::options_of(&zeros);
  EXPECT_TRUE(usual.verify_weights && usual.device_code && usual.weights == WeightsMode::automatic && usual.device.empty());
}

TEST(CFields, OfARun) {
  tenfold_cancel_token* const mine = [] {
    tenfold_cancel_token* made = nullptr;
    tenfold_cancel_token_create(&made);
    return made;
  }();
  auto c = sized<tenfold_run_options>();
  c.token = mine, c.nanoseconds = 1;
  const RunOptions made = c::options_of(&c);
  const auto& [token, deadline] = made;
  tenfold_cancel_token_trip(mine);
  EXPECT_TRUE(token.cancelled());
  EXPECT_TRUE(deadline.has_value());
  tenfold_cancel_token_free(mine);
}

// What an engine and a build tell: a field of the C++ struct is named on the left, C's on the right.
TEST(CFields, OfWhatIsTold) {
  auto config = sized<tenfold_build_config>();
  config.optimization_level = TENFOLD_LEVEL_UNTIMED, config.threads = 1, config.allow_fp16 = 1;  // fp16 cannot be had on a CPU
  tenfold_report* report = nullptr;
  ASSERT_EQ(tenfold_report_create(&report), TENFOLD_OK);
  config.report = report;
  tenfold_engine* engine = nullptr;
  ASSERT_EQ(tenfold_build_file(TENFOLD_SOURCE_DIR "/tests/install/relu.onnx", &config, &engine), TENFOLD_OK) << tenfold_last_error();

  const auto& [model_name, device, builder, weight_bytes, arena_bytes, scratch_bytes, arena_live_bytes, library_workspace_bytes,
               workspace_bytes, binding_bytes, pinned_bytes, profiles, steps, threads, precomputed_steps, on_gpu, waits_in_run,
               allocates_in_run, notes] = engine->engine.info();
  auto i = sized<tenfold_engine_information>();
  ASSERT_EQ(tenfold_engine_info(engine, &i), TENFOLD_OK);
  EXPECT_EQ(std::tie(model_name, device, builder),
            std::make_tuple(std::string(i.model_name), std::string(i.device), std::string(i.builder)));
  EXPECT_EQ(std::tie(weight_bytes, arena_bytes, scratch_bytes, arena_live_bytes, library_workspace_bytes, workspace_bytes, binding_bytes),
            std::tie(i.weight_bytes, i.arena_bytes, i.scratch_bytes, i.arena_live_bytes, i.library_workspace_bytes, i.workspace_bytes,
                     i.binding_bytes));
  EXPECT_EQ(std::tie(pinned_bytes, profiles, steps, threads, precomputed_steps),
            std::tie(i.pinned_bytes, i.profiles, i.steps, i.threads, i.precomputed_steps));
  EXPECT_TRUE(on_gpu == i.on_gpu && waits_in_run == i.waits_in_run && allocates_in_run == i.allocates_in_run);
  ASSERT_EQ(i.notes, static_cast<std::int32_t>(notes.size()));
  ASSERT_GT(i.notes, 0);
  auto note = sized<tenfold_note>();
  ASSERT_EQ(tenfold_engine_note(engine, 0, &note), TENFOLD_OK);
  const auto& [severity, kind, step, text] = notes[0];
  EXPECT_EQ(note.severity, static_cast<std::int32_t>(severity));
  EXPECT_EQ(note.kind, TENFOLD_NOTE_PRECISION);
  EXPECT_EQ(note.kind, static_cast<std::int32_t>(kind));
  EXPECT_EQ(std::make_pair(step, text), std::make_pair(std::string(note.step), std::string(note.text)));
  EXPECT_EQ(tenfold_engine_note(engine, i.notes, &note), TENFOLD_INVALID_ARGUMENT);

  auto r = sized<tenfold_report_info>();
  ASSERT_EQ(tenfold_report_get(report, &r), TENFOLD_OK);
  const auto& [report_steps, device_s, import_s, passes_s, check_s, tune_s, assemble_s, open_s, timed, cache_hits, timed_again, disturbed,
               disturbance, overflow_checked_on, kept_in_f32, layers_by_type, calibration, budget, tuned_ms, report_notes] = report->report;
  EXPECT_EQ(r.steps, static_cast<std::int32_t>(report_steps.size()));
  EXPECT_EQ(std::tie(device_s, import_s, passes_s, check_s, tune_s, assemble_s, open_s),
            std::tie(r.device_s, r.import_s, r.passes_s, r.check_s, r.tune_s, r.assemble_s, r.open_s));
  EXPECT_EQ(std::tie(timed, cache_hits, timed_again, disturbed, disturbance),
            std::tie(r.timed, r.cache_hits, r.timed_again, r.disturbed, r.disturbance));
  EXPECT_EQ(r.overflow_checked_on, static_cast<std::int32_t>(overflow_checked_on));
  EXPECT_EQ(r.wide, static_cast<std::int32_t>(kept_in_f32.size()));
  ASSERT_EQ(r.notes, static_cast<std::int32_t>(report_notes.size()));
  ASSERT_EQ(tenfold_report_note(report, 0, &note), TENFOLD_OK);
  EXPECT_EQ(report_notes[0].text, note.text);
  auto calibrated = sized<tenfold_calibration_info>();
  EXPECT_FALSE(calibration.has_value());
  EXPECT_EQ(tenfold_report_calibration(report, &calibrated), TENFOLD_INVALID_ARGUMENT);
  report->report.calibration = CalibrationReport{"mse", 3, 5, 2, {"t"}, {{"y", 0.25}}, {{"bias", 0.5, 0.25, true}}, 1.5};
  ASSERT_EQ(tenfold_report_calibration(report, &calibrated), TENFOLD_OK);
  EXPECT_STREQ(calibrated.method, "mse");
  EXPECT_EQ(std::make_tuple(calibrated.samples, calibrated.values, calibrated.compared, calibrated.without_range, calibrated.errors),
            std::make_tuple(3, 5, 2, 1, 1));
  EXPECT_TRUE(calibrated.seconds == 1.5 && calibrated.corrections == 1);
  auto corrected = sized<tenfold_correction>();
  ASSERT_EQ(tenfold_report_correction(report, 0, &corrected), TENFOLD_OK);
  EXPECT_STREQ(corrected.name, "bias");
  EXPECT_TRUE(corrected.before == 0.5 && corrected.after == 0.25 && corrected.kept == 1);
  const char* text_of_it = nullptr;
  double relative_l2 = 0;
  ASSERT_EQ(tenfold_report_without_range(report, 0, &text_of_it), TENFOLD_OK);
  EXPECT_STREQ(text_of_it, "t");
  ASSERT_EQ(tenfold_report_output_error(report, 0, &text_of_it, &relative_l2), TENFOLD_OK);
  EXPECT_STREQ(text_of_it, "y");
  EXPECT_EQ(relative_l2, 0.25);
  EXPECT_EQ(tenfold_report_output_error(report, 1, &text_of_it, &relative_l2), TENFOLD_INVALID_ARGUMENT);
  std::int32_t layers = -1;
  ASSERT_EQ(tenfold_report_layers_in(report, "f32", &layers), TENFOLD_OK);
  EXPECT_EQ(layers, layers_by_type.at(DType::f32));
  ASSERT_EQ(tenfold_report_layers_in(report, "bf16", &layers), TENFOLD_OK);
  EXPECT_EQ(layers, 0);
  EXPECT_EQ(tenfold_report_layers_in(report, "f33", &layers), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tuned_ms, r.tuned_ms);
  auto searched = sized<tenfold_budget_info>();
  EXPECT_FALSE(budget.has_value());
  EXPECT_EQ(tenfold_report_budget(report, &searched), TENFOLD_INVALID_ARGUMENT);
  report->report.budget =
      BudgetReport{{{"fp32", 0.5, 0.25, 0.75, 1.5, 1.25, 12, {{DType::i8, 0.75}}, true, true}},
                   {{"conv", "Conv", 0.125, 2.5, true, DType::bf16, "none"}}, 7, true, true, 3.5};
  ASSERT_EQ(tenfold_report_budget(report, &searched), TENFOLD_OK);
  EXPECT_EQ(std::make_tuple(searched.plans, searched.layers, searched.samples, searched.met, searched.out_of_time, searched.seconds),
            std::make_tuple(1, 1, 7, 1, 1, 3.5));
  auto one_plan = sized<tenfold_budget_plan>();
  ASSERT_EQ(tenfold_report_budget_plan(report, 0, &one_plan), TENFOLD_OK);
  EXPECT_STREQ(one_plan.name, "fp32");
  EXPECT_EQ(std::make_tuple(one_plan.error, one_plan.low, one_plan.high, one_plan.milliseconds), std::make_tuple(0.5, 0.25, 0.75, 1.5));
  EXPECT_TRUE(one_plan.weight_bytes == 12 && one_plan.within == 1 && one_plan.taken == 1 && one_plan.tuned_milliseconds == 1.25);
  double share = -1;
  EXPECT_TRUE(tenfold_report_budget_work(report, 0, "i8", &share) == TENFOLD_OK && share == 0.75);
  EXPECT_TRUE(tenfold_report_budget_work(report, 0, "f32", &share) == TENFOLD_OK && share == 0);
  EXPECT_EQ(tenfold_report_budget_work(report, 0, "f33", &share), TENFOLD_INVALID_ARGUMENT);
  auto one_layer = sized<tenfold_budget_layer>();
  ASSERT_EQ(tenfold_report_budget_layer(report, 0, &one_layer), TENFOLD_OK);
  EXPECT_TRUE(std::string(one_layer.layer) == "conv" && std::string(one_layer.op) == "Conv" && one_layer.error == 0.125);
  EXPECT_TRUE(one_layer.saved_milliseconds == 2.5 && one_layer.wide == 1);
  EXPECT_TRUE(std::string(one_layer.type) == "bf16" && std::string(one_layer.advice) == "none");
  EXPECT_EQ(tenfold_report_budget_layer(report, 1, &one_layer), TENFOLD_INVALID_ARGUMENT);
  report->report.kept_in_f32.push_back({"conv", "Conv", 1e6});
  auto wide = sized<tenfold_wide_info>();
  ASSERT_EQ(tenfold_report_wide(report, 0, &wide), TENFOLD_OK);
  EXPECT_TRUE(std::string(wide.node) == "conv" && std::string(wide.op) == "Conv" && wide.largest == 1e6);

  const auto& [name, dtype, shape, names, is_input, has_default] = engine->engine.bindings()[0];
  auto b = sized<tenfold_binding_info>();
  ASSERT_EQ(tenfold_engine_binding(engine, 0, &b), TENFOLD_OK);
  EXPECT_TRUE(name == b.name && tenfold::name(dtype) == b.dtype && is_input == b.is_input && has_default == b.has_default);
  EXPECT_EQ(shape, Shape(b.shape, b.shape + b.rank));
  EXPECT_EQ(names[0], tenfold_engine_binding_symbol(engine, 0, 0));
  tenfold_engine_free(engine), tenfold_report_free(report);
}

}  // namespace
}  // namespace tenfold
