// The parts of the C interface that api_use.c leaves out: edits, bodies, tensors as attributes, reports, caches, fallback chains.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "tenfold/c_api.h"

namespace {

const char* const kRelu = TENFOLD_SOURCE_DIR "/tests/install/relu.onnx";

template <class T>
T sized() {
  T info{};
  info.struct_size = sizeof info;
  return info;
}
void ok(tenfold_status status) { ASSERT_EQ(status, TENFOLD_OK) << tenfold_status_name(status) << ": " << tenfold_last_error(); }

tenfold_build_config untimed() {
  auto config = sized<tenfold_build_config>();
  config.optimization_level = TENFOLD_LEVEL_UNTIMED;
  config.threads = 1;
  return config;
}

// One f32 result of a network with one f32 input of as many elements as `x`.
std::vector<float> run(const tenfold_engine* engine, std::vector<float> x, std::size_t results) {
  tenfold_context* context = nullptr;
  std::vector<float> y(results);
  ok(tenfold_context_create(engine, &context));
  ok(tenfold_context_bind(context, 0, x.data(), x.size() * 4));
  ok(tenfold_context_bind(context, 1, y.data(), y.size() * 4));
  ok(tenfold_context_run(context));
  tenfold_context_free(context);
  return y;
}
std::vector<float> build_and_run(const tenfold_network* net, std::vector<float> x, std::size_t results) {
  const tenfold_build_config config = untimed();
  tenfold_engine* engine = nullptr;
  ok(tenfold_build_network(net, &config, &engine));
  std::vector<float> y = run(engine, std::move(x), results);
  tenfold_engine_free(engine);
  return y;
}

TEST(CRuntime, TakesMemoryFromTheCallersFunctions) {
  struct Given {
    int live = 0, all = 0;
  } given;
  auto options = sized<tenfold_runtime_options>();
  options.allocate = [](void* user, std::int64_t bytes, std::int64_t alignment, const char* device) -> void* {
    auto* const counts = static_cast<Given*>(user);
    ++counts->live, ++counts->all;
    if (std::string_view(device) != "cpu") return nullptr;
    return std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>((bytes / alignment + 1) * alignment));
  };
  tenfold_runtime* runtime = nullptr;
  EXPECT_EQ(tenfold_runtime_create(&options, &runtime), TENFOLD_INVALID_ARGUMENT) << "nothing would take it back";
  options.release = [](void* user, void* memory) {
    --static_cast<Given*>(user)->live;
    std::free(memory);
  };
  options.allocator_user = &given;
  ok(tenfold_runtime_create(&options, &runtime));
  tenfold_build_config config = untimed();
  config.runtime = runtime;
  tenfold_engine* engine = nullptr;
  ok(tenfold_build_file(kRelu, &config, &engine));
  EXPECT_EQ(run(engine, {-1, 0, 2}, 3), (std::vector<float>{0, 0, 2}));
  EXPECT_GT(given.all, 0);
  tenfold_engine_free(engine), tenfold_runtime_free(runtime);
  EXPECT_EQ(given.live, 0);
}

TEST(CNetwork, IsReadWalkedAndEdited) {
  tenfold_network* net = nullptr;
  ok(tenfold_network_read(kRelu, nullptr, &net));
  tenfold_node node = -1, user = -1;
  std::int32_t count = 1;
  ok(tenfold_network_nodes(net, &node, &count));
  ASSERT_EQ(count, 1);
  auto info = sized<tenfold_node_info>();
  ok(tenfold_network_node(net, node, &info));
  EXPECT_STREQ(info.op, "Relu");
  ASSERT_EQ(info.input_count, 1);
  const tenfold_value x = info.inputs[0];
  auto value = sized<tenfold_value_info>();
  ok(tenfold_network_value(net, x, &value));
  EXPECT_STREQ(value.name, "x");
  EXPECT_STREQ(value.type, "f32[3]");
  EXPECT_EQ(value.producer, -1);
  ok(tenfold_network_users(net, x, &user, &count));
  EXPECT_EQ(user, node);
  tenfold_value y = -1, twice = -1, two = -1;
  ok(tenfold_network_find(net, "y", &y));
  const float number = 2;
  ok(tenfold_network_constant(net, "two", "f32", nullptr, 0, &number, sizeof number, &two));
  const tenfold_value pair[2] = {y, two};
  ok(tenfold_network_add_node(net, "Mul", "twice", pair, 2, nullptr, 0, &twice, 1));
  ok(tenfold_network_replace(net, y, twice));
  EXPECT_EQ(build_and_run(net, {-1, 0, 2}, 3), (std::vector<float>{0, 0, 4}));
  const float other = 5;
  tenfold_data *data = nullptr, *read = nullptr;
  ok(tenfold_data_tensor("f32", nullptr, 0, &other, sizeof other, &data));
  ok(tenfold_network_set_constant(net, two, data));
  ok(tenfold_network_constant_data(net, two, &read));
  auto tensor = sized<tenfold_tensor_info>();
  ok(tenfold_data_tensor_info(read, &tensor));
  EXPECT_EQ(*static_cast<const float*>(tensor.data), 5);
  EXPECT_EQ(build_and_run(net, {-1, 0, 2}, 3), (std::vector<float>{0, 0, 10}));
  EXPECT_EQ(tenfold_network_remove(net, node), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_network_set_input(net, node, 0, twice), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_network_find(net, "nothing", &y), TENFOLD_INVALID_ARGUMENT);
  tenfold_data_free(data), tenfold_data_free(read), tenfold_network_free(net);
}

TEST(CNetwork, TensorsAreAttributes) {   // ConstantOfShape's value
  tenfold_network* net = nullptr;
  ok(tenfold_network_create("c", &net));
  const std::int64_t dims[1] = {2}, one[1] = {1}, expected_value[1] = {2};
  tenfold_value x = -1, shape = -1, filled = -1, sum = -1;
  ok(tenfold_network_input(net, "x", "f32", dims, nullptr, 1, &x));
  ok(tenfold_network_constant(net, nullptr, "i64", one, 1, expected_value, sizeof expected_value, &shape));
  const float seven = 7;
  tenfold_data* data = nullptr;
  ok(tenfold_data_tensor("f32", one, 1, &seven, sizeof seven, &data));
  auto attribute = sized<tenfold_attribute>();
  attribute.name = "value", attribute.kind = TENFOLD_ATTRIBUTE_TENSOR, attribute.tensor = data;
  ok(tenfold_network_add_node(net, "ConstantOfShape", nullptr, &shape, 1, &attribute, 1, &filled, 1));
  const tenfold_value pair[2] = {x, filled};
  ok(tenfold_network_add_node(net, "Add", nullptr, pair, 2, nullptr, 0, &sum, 1));
  ok(tenfold_network_output(net, sum, "y"));
  EXPECT_EQ(build_and_run(net, {1, 2}, 2), (std::vector<float>{8, 9}));
  tenfold_data_free(data), tenfold_network_free(net);
}

// Twice the carried value, and on.
tenfold_status double_it(void* user, tenfold_network* body, const tenfold_value* inputs, std::int32_t count, tenfold_value* results,
                         std::int32_t* result_count) {
  ++*static_cast<int*>(user);
  if (count != 3 || *result_count < 2) return TENFOLD_INTERNAL;
  const tenfold_value pair[2] = {inputs[2], inputs[2]};
  results[0] = inputs[1];
  *result_count = 2;
  return tenfold_network_add_node(body, "Add", nullptr, pair, 2, nullptr, 0, &results[1], 1);
}
tenfold_status give_up(void*, tenfold_network*, const tenfold_value*, std::int32_t, tenfold_value*, std::int32_t*) {
  return TENFOLD_UNSUPPORTED;
}

TEST(CNetwork, LoopsHaveBodies) {   // x 2^3
  tenfold_network* net = nullptr;
  ok(tenfold_network_create("c", &net));
  const std::int64_t dims[1] = {2}, three = 3;
  tenfold_value x = -1, trips = -1, y = -1;
  ok(tenfold_network_input(net, "x", "f32", dims, nullptr, 1, &x));
  ok(tenfold_network_constant(net, nullptr, "i64", nullptr, 0, &three, sizeof three, &trips));
  int calls = 0;
  std::int32_t results = 1;
  EXPECT_EQ(tenfold_network_loop(net, trips, -1, &x, 1, nullptr, 0, give_up, nullptr, &y, &results), TENFOLD_UNSUPPORTED);
  results = 1;
  ok(tenfold_network_loop(net, trips, -1, &x, 1, nullptr, 0, double_it, &calls, &y, &results));
  EXPECT_EQ(results, 1);
  EXPECT_GT(calls, 0);
  ok(tenfold_network_output(net, y, "y"));
  EXPECT_EQ(build_and_run(net, {1, -3}, 2), (std::vector<float>{8, -24}));
  tenfold_network_free(net);
}

// The sum so far, and the same once more as what is stacked.
tenfold_status add_up(void*, tenfold_network* body, const tenfold_value* inputs, std::int32_t count, tenfold_value* results,
                      std::int32_t* result_count) {
  if (count != 2 || *result_count < 2) return TENFOLD_INTERNAL;
  *result_count = 2;
  if (const auto failed = tenfold_network_add_node(body, "Add", nullptr, inputs, 2, nullptr, 0, &results[0], 1)) return failed;
  results[1] = results[0];
  return TENFOLD_OK;
}

TEST(CNetwork, ScansHaveBodiesThatCanBeWalked) {   // sums from the back
  tenfold_network* net = nullptr;
  ok(tenfold_network_create("c", &net));
  const std::int64_t dims[1] = {3}, back = 1;
  const float zero = 0;
  tenfold_value x = -1, sum = -1, y[2] = {-1, -1};
  ok(tenfold_network_input(net, "x", "f32", dims, nullptr, 1, &x));
  ok(tenfold_network_constant(net, nullptr, "f32", nullptr, 0, &zero, sizeof zero, &sum));
  auto directions = sized<tenfold_attribute>();
  directions.name = "scan_input_directions", directions.kind = TENFOLD_ATTRIBUTE_INTS, directions.ints = &back, directions.count = 1;
  std::int32_t results = 2, nodes = 4;
  ok(tenfold_network_scan(net, &sum, 1, &x, 1, nullptr, 0, &directions, 1, add_up, nullptr, y, &results));
  EXPECT_EQ(results, 2);
  tenfold_node all[4], inner[4];
  ok(tenfold_network_nodes(net, all, &nodes));
  ASSERT_EQ(nodes, 1);
  tenfold_network *body = nullptr, *none = nullptr;
  ok(tenfold_network_node_body(net, all[0], 0, &body));
  EXPECT_EQ(tenfold_network_node_body(net, all[0], 1, &none), TENFOLD_INVALID_ARGUMENT);
  nodes = 4;
  ok(tenfold_network_nodes(body, inner, &nodes));
  auto info = sized<tenfold_node_info>();
  ok(tenfold_network_node(body, inner[0], &info));
  EXPECT_STREQ(info.op, "Add");
  EXPECT_EQ(tenfold_network_remove(body, inner[0]), TENFOLD_INVALID_ARGUMENT);
  tenfold_network_free(body);
  ok(tenfold_network_output(net, y[1], "y"));
  EXPECT_EQ(build_and_run(net, {1, 2, 3}, 3), (std::vector<float>{3, 5, 6}));
  tenfold_network_free(net);
}

TEST(CBuild, TellsWhatItDid) {
  tenfold_build_config config = untimed();
  config.optimization_level = 1;
  tenfold_report* report = nullptr;
  ok(tenfold_report_create(&report));
  tenfold_timing_cache* times = nullptr;
  ok(tenfold_timing_cache_create(&times));
  const tenfold_pair labels[2] = {{"who", "a test"}, {"why", "to see"}};
  int questions = 0;
  config.report = report, config.timings = times, config.labels = labels, config.label_count = 2;
  config.choose_user = &questions;
  config.choose = [](void* user, const char*, const char* problem, const tenfold_candidate* candidates, std::int32_t count) {
    *static_cast<int*>(user) += std::strstr(problem, "Relu") && count > 0 && candidates[0].nanoseconds > 0;
    return -1;
  };
  tenfold_engine* engine = nullptr;
  ok(tenfold_build_file(kRelu, &config, &engine));
  EXPECT_GT(questions, 0);
  auto info = sized<tenfold_report_info>();
  ok(tenfold_report_get(report, &info));
  EXPECT_GT(info.timed, 0);
  ASSERT_GT(info.steps, 0);
  auto step = sized<tenfold_report_step_info>();
  ok(tenfold_report_step(report, 0, &step));
  ASSERT_GT(step.tactics, 0);
  auto tactic = sized<tenfold_report_tactic_info>();
  ok(tenfold_report_tactic(report, 0, 0, &tactic));
  EXPECT_STRNE(tactic.tactic, "");
  EXPECT_GT(tenfold_timing_cache_size(times), 0);
  const char *key = nullptr, *text = nullptr;
  EXPECT_EQ(tenfold_engine_labels(engine), 2);
  EXPECT_STREQ(tenfold_engine_label(engine, 1, &key), "to see");
  EXPECT_STREQ(key, "why");
  ok(tenfold_timing_cache_text(times, &text, nullptr));
  EXPECT_NE(std::strstr(text, "Relu"), nullptr);
  tenfold_timing_cache* other = nullptr;
  ok(tenfold_timing_cache_parse(text, std::strlen(text), &other));
  EXPECT_EQ(tenfold_timing_cache_size(other), tenfold_timing_cache_size(times));
  auto about = sized<tenfold_engine_information>();
  ok(tenfold_engine_info(engine, &about));
  EXPECT_STREQ(about.model_name, "relu");
  EXPECT_EQ(about.profiles, 1);
  EXPECT_EQ(about.on_gpu, 0);
  std::int64_t shape[1] = {};
  std::int32_t rank = 1;
  ok(tenfold_engine_profile_shape(engine, 0, 0, nullptr, shape, nullptr, &rank));
  EXPECT_EQ(rank, 1);
  EXPECT_EQ(shape[0], 3);
  tenfold_engine_free(engine), tenfold_report_free(report), tenfold_timing_cache_free(times), tenfold_timing_cache_free(other);
}

TEST(CPlans, LieInCachesAndOnFallbackChains) {
  const std::string folder = testing::TempDir() + "tenfold_c_plans";
  std::filesystem::remove_all(folder);
  tenfold_plan_cache* cache = nullptr;
  ok(tenfold_plan_cache_create(folder.c_str(), 0, &cache));
  const tenfold_build_config config = untimed();
  tenfold_engine* engine = nullptr;
  std::int32_t cached = -1;
  for (const std::int32_t expected : {0, 1}) {
    ok(tenfold_plan_cache_build_file(cache, kRelu, &config, "relu", &engine, &cached));
    EXPECT_EQ(cached, expected);
    EXPECT_EQ(run(engine, {-1, 0, 2}, 3), (std::vector<float>{0, 0, 2}));
    tenfold_engine_free(engine);
  }
  int32_t plans = 0, removed = 0;
  int64_t bytes = 0;
  ok(tenfold_plan_cache_sizes(cache, &plans, &bytes));
  EXPECT_EQ(plans, 1);
  EXPECT_GT(bytes, 0);
  ok(tenfold_plan_cache_trim(cache, bytes, &removed));
  EXPECT_EQ(removed, 0);
  ok(tenfold_plan_cache_find(cache, "another key", "relu", nullptr, &engine));
  EXPECT_EQ(engine, nullptr);
  tenfold_fallback_chain* fallback_chain = nullptr;
  std::int32_t candidate = -1, left = -1;
  ok(tenfold_fallback_chain_create(&fallback_chain));
  EXPECT_EQ(tenfold_fallback_chain_open(fallback_chain, &engine, &candidate), TENFOLD_INVALID_ARGUMENT) << "it has no candidate";
  ok(tenfold_fallback_chain_add_plan(fallback_chain, "/no/such.plan", nullptr));
  ok(tenfold_fallback_chain_add_model(fallback_chain, kRelu, &config, cache));
  ok(tenfold_fallback_chain_open(fallback_chain, &engine, &candidate));
  EXPECT_EQ(candidate, 1);
  auto failure = sized<tenfold_fallback_chain_failure>();
  ASSERT_EQ(tenfold_fallback_chain_failures(fallback_chain), 1);
  ok(tenfold_fallback_chain_failure_info(fallback_chain, 0, &failure));
  EXPECT_EQ(failure.status, TENFOLD_IO);
  tenfold_engine_free(engine);
  ok(tenfold_fallback_chain_report_failure(fallback_chain, TENFOLD_RUN_DEVICE, "gone", &left));
  EXPECT_EQ(left, 0);
  EXPECT_EQ(tenfold_fallback_chain_open(fallback_chain, &engine, &candidate), TENFOLD_DEVICE);
  tenfold_fallback_chain_free(fallback_chain), tenfold_plan_cache_free(cache);
  std::filesystem::remove_all(folder);
}

TEST(CContext, IsWatched) {
  const tenfold_build_config config = untimed();
  tenfold_engine* engine = nullptr;
  ok(tenfold_build_file(kRelu, &config, &engine));
  tenfold_context* context = nullptr;
  ok(tenfold_context_create(engine, &context));
  float x[3] = {-1, 0, 2}, y[3] = {};
  ok(tenfold_context_bind(context, 0, x, sizeof x));
  ok(tenfold_context_bind(context, 1, y, sizeof y));
  int steps = 0;
  float seen = -1;
  ok(tenfold_context_set_profiler(context, [](void* user, const char*, double ms) { *static_cast<int*>(user) += ms >= 0; }, &steps));
  const auto observe = [](void* user, const char*, const char* value, const tenfold_data* result) {
    auto info = sized<tenfold_tensor_info>();
    if (std::strcmp(value, "y") == 0 && tenfold_data_tensor_info(result, &info) == TENFOLD_OK)
      *static_cast<float*>(user) = static_cast<const float*>(info.data)[2];
  };
  ok(tenfold_context_set_observer(context, observe, &seen));
  tenfold_context_measure_parts(context, 1);
  ok(tenfold_context_run(context));
  EXPECT_GT(steps, 0);
  EXPECT_EQ(seen, 2);
  auto times = sized<tenfold_run_times>();
  ok(tenfold_context_last_times(context, &times));
  EXPECT_GT(times.compute_ms, 0);
  EXPECT_EQ(tenfold_context_set_profile(context, 2), TENFOLD_RUN_INVALID_SHAPE);
  EXPECT_EQ(tenfold_context_device_memory(context, 0), nullptr);
  EXPECT_EQ(tenfold_context_wait_how(context, 7), TENFOLD_INVALID_ARGUMENT);
  tenfold_context_free(context), tenfold_engine_free(engine);
}

TEST(CDevices, TheCpuIsFirst) {
  tenfold_devices* devices = nullptr;
  ok(tenfold_devices_list(&devices));
  ASSERT_GE(tenfold_devices_count(devices), 1);
  auto info = sized<tenfold_device_info>();
  ok(tenfold_devices_info(devices, 0, &info));
  EXPECT_STREQ(info.device, "cpu");
  EXPECT_GT(info.threads, 0);
  EXPECT_EQ(tenfold_devices_info(devices, 99, &info), TENFOLD_INVALID_ARGUMENT);
  std::uint32_t features = 0;
  ok(tenfold_device_parse_cpu_features("avx2", &features));
  EXPECT_NE(features, 0u);
  EXPECT_EQ(tenfold_device_parse_cpu_features("sse9", &features), TENFOLD_INVALID_ARGUMENT);
  std::int32_t since = 0;
  const char* domain = nullptr;
  ASSERT_GT(tenfold_operators(), 100);
  EXPECT_NE(tenfold_operator(0, &domain, &since), nullptr);
  EXPECT_EQ(tenfold_operator(-1, &domain, &since), nullptr);
  EXPECT_EQ(tenfold_operator_types(-1), nullptr);
  EXPECT_EQ(tenfold_operator_attributes(-1), nullptr);
  int typed = 0, with_axis = 0;
  for (int32_t i = 0; i < tenfold_operators(); ++i) {
    typed += std::string(tenfold_operator_types(i)).find("->") != std::string::npos;
    with_axis += std::string(tenfold_operator_attributes(i)).find("axis") != std::string::npos;
  }
  EXPECT_GT(typed, 100);
  EXPECT_GT(with_axis, 10);
  tenfold_devices_free(devices);
}

}  // namespace
