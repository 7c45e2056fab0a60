// Libraries of plug-ins: one in C, one in C++ by another compiler with another C++ library, and one that is wrong in
// every way that its author thought of. Each must work, or say by name what is wrong.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "plan/write.h"
#include "runtime/engine/opened.h"
#include "runtime/plugins/plugins.h"
#include "tenfold/c_api.h"
#include "tenfold/plan_cache.h"

namespace tenfold {
namespace {

Engine build_with(const std::shared_ptr<const Plugins>& plugins, const char* text, int level = 1) {
  BuildConfig config;
  config.plugins = plugins, config.optimization_level = level, config.threads = 2;
  config.profiles = {{{"x", {{1, 3}, {2, 3}, {4, 3}}}}};
  return builder::build_graph(ir::parse_graph(text, plugins->impl().registry), config);
}

// Runs the plan as built, and as loaded from its bytes with the same library opened anew.
void expect_each(const char* library, const char* text, double (*expected)(double)) {
  const auto plugins = std::make_shared<Plugins>(), again = std::make_shared<Plugins>();
  plugins->load(library), again->load(library);
  const Engine engine = build_with(plugins, text);
  const std::string bytes = plan::serialize(runtime::state_of(engine)->plan);
  const Engine loaded = Engine::load(std::as_bytes(std::span(bytes)), {.plugins = again});
  const Tensor x = ops::random_tensor(DType::f32, {4, 3}, 7);
  for (const Engine* e : {&engine, &loaded}) {
    const Tensor y = e->create_context()->run({x})[0];
    for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y.as_double(i), expected(x.as_double(i)), 1e-6) << text;
  }
}

TEST(PluginLibrary, OneInCRunsIsSavedAndLoaded) {
  expect_each(TENFOLD_PLUGIN_SNAKE, "(x f32[batch,3])\n y = com.example.Snake(x) alpha=0.5",
              [](double x) { return x + std::sin(0.5 * x) * std::sin(0.5 * x) / 0.5; });
  expect_each(TENFOLD_PLUGIN_SNAKE, "(x f32[batch,3])\n y = com.example.Squash(x) scale=3.0",
              [](double x) { return 3 * x / (1 + std::fabs(x)); });
}

TEST(PluginLibrary, OneByClangWithLibcxxRunsIsSavedAndLoaded) {
  if (*TENFOLD_PLUGIN_LIBCXX == '\0') GTEST_SKIP() << "no clang++ with libc++ here (script/bootstrap installs them)";
  expect_each(TENFOLD_PLUGIN_LIBCXX, "(x f32[batch,3])\n y = test.Clamp(x) ends=[-0.25,0.5]",
              [](double x) { return std::clamp(x, -0.25, 0.5); });
  expect_each(TENFOLD_PLUGIN_LIBCXX, "(x f32[batch,3])\n y = test.Twice(x)", [](double x) { return 2 * x; });
}

// The same library under another name is the same; one of other bytes is not, though its operators say the same of themselves.
TEST(PluginLibrary, ThePlanCacheTellsLibrariesByTheirBytes) {
  const std::string model = TENFOLD_SOURCE_DIR "/examples/snake.onnx";
  const std::string copy = testing::TempDir() + "snake_" + std::to_string(::getpid()) + ".so";
  const auto key = [&](const std::string& library) {
    const auto plugins = std::make_shared<Plugins>();
    plugins->load(library);
    BuildConfig config;
    config.plugins = plugins, config.threads = 1;
    return plan_key(model, config);
  };
  const std::string first = key(TENFOLD_PLUGIN_SNAKE);
  std::filesystem::copy_file(TENFOLD_PLUGIN_SNAKE, copy, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(key(copy), first);
  std::ofstream(copy, std::ios::binary | std::ios::app) << "more";   // behind what the loader reads
  EXPECT_NE(key(copy), first);
  std::filesystem::remove(copy);
}

// What it throws stays on its side of the border; its kind and words arrive.
TEST(PluginLibrary, WhatALibraryThrowsIsOurError) {
  if (*TENFOLD_PLUGIN_LIBCXX == '\0') GTEST_SKIP() << "no clang++ with libc++ here (script/bootstrap installs them)";
  const auto plugins = std::make_shared<Plugins>();
  plugins->load(TENFOLD_PLUGIN_LIBCXX);
  try {
    build_with(plugins, "(x f32[batch,3])\n y = test.Clamp(x) ends=[1.0]");
    ADD_FAILURE() << "it was built";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_model);
    EXPECT_NE(std::string(e.what()).find("Clamp wants two ends, not 1"), std::string::npos) << e.what();
  }
}

// Loads, builds and runs with the library wrong in one way; what is said.
std::string complaint(const char* way) {
  ::setenv("TENFOLD_HOSTILE", way, 1);
  std::string message;
  try {
    const auto plugins = std::make_shared<Plugins>();
    plugins->load(TENFOLD_PLUGIN_HOSTILE);
    // A kernel that fails when it is timed would not be taken.
    const int level = std::string_view(way).starts_with("run_") ? 0 : 1;
    const Engine engine = build_with(plugins, "(x f32[batch,3])\n r = Neg(x)\n y = test.Hostile(r)", level);
    const Tensor x = ops::random_tensor(DType::f32, {4, 3}, 7);
    const Tensor y = engine.create_context()->run({x})[0];
    for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_FLOAT_EQ(y.data<float>()[i], -2 * x.data<float>()[i]) << way;
  } catch (const Error& e) {
    message = e.what();
  }
  ::unsetenv("TENFOLD_HOSTILE");
  return message;
}

TEST(PluginLibrary, StructsOfOtherSizesAreRead) {
  EXPECT_EQ(complaint("good"), "");
  EXPECT_EQ(complaint("longer"), "") << "a struct of a later version";
  EXPECT_EQ(complaint("shorter"), "") << "structs of an earlier version: what they lack is not read";
}

TEST(PluginLibrary, WhatIsWrongIsSaidByName) {
  const std::pair<const char*, const char*> ways[] = {
      {"null", "what tenfold_plugins() returns is null"},
      {"version", "it has version 2 of the plug-in interface, this version of Tenfold"},
      {"library_size", "what tenfold_plugins() returns says that it has 4 bytes"},
      {"error", "it says: the license is missing"},
      {"empty", "it gives no operators"},
      {"operators_null", "it gives 1 operators"},
      {"operator_null", "the plug-in operator of hostile.so is null"},
      {"operator_size", "says that it has 8 bytes"},
      {"operator_huge", "bytes; this version of Tenfold expects"},
      {"no_domain", "needs a name and a domain of its own, '' and 'Hostile'"},
      {"no_name", "needs a name and a domain of its own, 'test' and ''"},
      {"no_infer", "plug-in 'test.Hostile' of hostile.so has no infer()"},
      {"counts", "takes 1 to -1 operands"},
      {"attribute_null", "plug-in 'test.Hostile' of hostile.so has 1 attributes"},
      {"attribute_value", "attribute 'a' of plug-in 'test.Hostile' of hostile.so has no values"},
      {"attribute_kind", "has kind 50, which does not exist"},
      {"tactics_null", "has 2 tactics"},
      {"tactic_null", "tactic 1 of plug-in 'test.Hostile' of hostile.so is null"},
      {"tactic_size", "tactic 0 of plug-in 'test.Hostile' of hostile.so says that it has 16 bytes"},
      {"tactic_name", "needs a name of letters, digits and _"},
      {"tactics_same", "has two tactics 'first'"},
      {"device", "('first') is for the device 'toaster'"},
      {"no_run", "('first') has no run()"},
      {"infer_fails", "plug-in 'test.Hostile' of hostile.so: I never liked matrices"},
      {"infer_silent", "infer() failed with 77 and says nothing of why"},
      {"no_output", "infers no type for result 0 of 1"},
      {"output_7", "it gives a type to result 7 of 1"},
      {"output_twice", "it gives result 0 two types"},
      {"bad_extent", "plug-in 'test.Hostile' of hostile.so: infer(): "},
      {"negative_extent", "is '-3', which is negative"},
      {"bad_size", "is no name for a size"},
      {"null_extent", "extent 0 of result 0 is null"},
      {"rank_1000", "it gives result 0 rank 1000"},
      {"type_99", "element type 99 does not exist"},
      {"ignored_refusal", "element type 99 does not exist"},
      {"workspace_fails", "too much to carry"},
      {"workspace_stranger", "where no operand has an extent 'moon'"},
      {"workspace_negative", "which may be negative"},
      {"workspace_endless", "as a text without end"},
      {"no_config", "gives no configuration"},
      {"config_1000", "gives 1000 numbers for a configuration"},
      {"no_layout", "gives no combination of layouts"},
      {"layout_42", "gives an operand layout 42, which does not exist"},
      {"layout_rank", "wants an operand of rank 2 channels-last"},
      {"open_fails", "plug-in 'test.Hostile' of hostile.so: the door is stuck"},
      {"run_fails", "plug-in 'test.Hostile' of hostile.so: no fuel"},
      {"run_silent", "run() failed with -5 and says nothing of why"},
      {"compute_fails", "plug-in 'test.Hostile' of hostile.so: out of ink"},
      {"graph_none", "gives no graph"},
      {"graph_null", "the text of its graph is null"},
      {"graph_fails", "no ideas"},
      {"graph_syntax", "plug-in 'test.Hostile' of hostile.so: "},
      {"graph_unknown", "there is no operator 'Nonsense'"},
      {"graph_two", "its graph returns 2 values for 1 results"},
      {"graph_attribute", "its graph asks for '$axis', which is no attribute of it"},
      {"graph_itself", "graphs stand for graphs, more than 16 deep"},
  };
  for (const auto& [way, part] : ways) {
    const std::string message = complaint(way);
    EXPECT_NE(message.find(part), std::string::npos) << way << ": " << (message.empty() ? "nothing was said" : message);
  }
}

TEST(PluginLibrary, WhatIsNoLibraryOfPluginsIsNotOpened) {
  const auto refused = [](const std::string& path, ErrorKind kind, const char* part) {
    Plugins plugins;
    try {
      plugins.load(path);
      ADD_FAILURE() << path << " was opened";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), kind) << e.what();
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused("/nowhere/libnone.so", ErrorKind::io, "there is no plug-in library '/nowhere/libnone.so'");
  refused("libm.so.6", ErrorKind::io, "there is no plug-in library 'libm.so.6'");
  refused(TENFOLD_PLUGIN_TEXT, ErrorKind::io, "cannot be opened");
  refused(TENFOLD_PLUGIN_STRANGER, ErrorKind::invalid_argument, "does not export 'tenfold_plugins'");
}

TEST(PluginLibrary, ALibraryLoadedTwiceIsRefusedOnce) {
  Plugins plugins;
  plugins.load(TENFOLD_PLUGIN_SNAKE);
  EXPECT_THROW(plugins.load(TENFOLD_PLUGIN_SNAKE), Error);
}

// y = Snake(x) for x[2,3], alpha 0.5.
tenfold_network* snake_network(const tenfold_plugin_set* plugins) {
  tenfold_network* net = nullptr;
  EXPECT_EQ(tenfold_network_create_with("snake", plugins, &net), TENFOLD_OK);
  const std::int64_t dims[] = {2, 3};
  tenfold_value x = -1, y = -1;
  EXPECT_EQ(tenfold_network_input(net, "x", "f32", dims, nullptr, 2, &x), TENFOLD_OK);
  const float half = 0.5f;
  tenfold_attribute alpha{};
  alpha.struct_size = sizeof alpha, alpha.name = "alpha", alpha.kind = TENFOLD_ATTRIBUTE_FLOAT, alpha.floats = &half;
  EXPECT_EQ(tenfold_network_add_node_of(net, "com.example", "Snake", nullptr, &x, 1, &alpha, 1, &y, 1), TENFOLD_OK)
      << tenfold_last_error();
  EXPECT_EQ(tenfold_network_output(net, y, "y"), TENFOLD_OK);
  return net;
}

TEST(PluginLibrary, SetsAreFilledAndUsedFromC) {
  tenfold_plugin_set* plugins = nullptr;
  ASSERT_EQ(tenfold_plugins_create(&plugins), TENFOLD_OK);
  EXPECT_EQ(tenfold_plugins_load(plugins, "/no/such.so"), TENFOLD_IO);
  EXPECT_NE(std::string(tenfold_last_error()).find("there is no plug-in library '/no/such.so'"), std::string::npos);
  EXPECT_EQ(tenfold_plugins_add(plugins, nullptr), TENFOLD_INVALID_ARGUMENT);
  ASSERT_EQ(tenfold_plugins_load(plugins, TENFOLD_PLUGIN_SNAKE), TENFOLD_OK) << tenfold_last_error();
  tenfold_network* net = snake_network(plugins);
  tenfold_engine *built = nullptr, *loaded = nullptr;
  tenfold_build_config config{};
  config.struct_size = sizeof config, config.plugins = plugins;
  ASSERT_EQ(tenfold_build_network(net, &config, &built), TENFOLD_OK) << tenfold_last_error();
  const std::string path = (std::filesystem::temp_directory_path() / cat("tenfold_c_plugins_", ::getpid(), ".plan")).string();
  ASSERT_EQ(tenfold_engine_save(built, path.c_str()), TENFOLD_OK);
  EXPECT_EQ(tenfold_engine_load(path.c_str(), &loaded), TENFOLD_PLAN_REFUSED);
  tenfold_load_options options{};
  options.struct_size = sizeof options, options.plugins = plugins;
  ASSERT_EQ(tenfold_engine_load_with(path.c_str(), &options, &loaded), TENFOLD_OK) << tenfold_last_error();
  std::filesystem::remove(path);
  tenfold_plugins_free(plugins), tenfold_network_free(net), tenfold_engine_free(built);
  tenfold_context* context = nullptr;
  ASSERT_EQ(tenfold_context_create(loaded, &context), TENFOLD_OK);
  float x[6] = {-2, -1, 0, 1, 2, 3}, y[6] = {};
  ASSERT_EQ(tenfold_context_bind(context, 0, x, sizeof x), TENFOLD_OK);
  ASSERT_EQ(tenfold_context_bind(context, 1, y, sizeof y), TENFOLD_OK);
  ASSERT_EQ(tenfold_context_run(context), TENFOLD_OK) << tenfold_last_error();
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(y[i], x[i] + std::pow(std::sin(0.5f * x[i]), 2) / 0.5f, 1e-5);
  tenfold_context_free(context), tenfold_engine_free(loaded);
}

}  // namespace
}  // namespace tenfold
