// The C interface, used by a C file; and older callers' shorter structs.
#include "tenfold/c_api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>

extern "C" int tenfold_use_from_c(const char* plan_path);

TEST(CApi, UsedFromC) {
  const std::string path = testing::TempDir() + "c_api_test.plan";
  EXPECT_EQ(tenfold_use_from_c(path.c_str()), 0) << "the line of api_use.c; last error: " << tenfold_last_error();
  std::remove(path.c_str());
}

TEST(CApi, StructsOfOlderCallers) {
  tenfold_network* net = nullptr;
  ASSERT_EQ(tenfold_network_create(nullptr, &net), TENFOLD_OK);
  const std::int64_t dims[1] = {2};
  tenfold_value x = -1, y = -1;
  ASSERT_EQ(tenfold_network_input(net, "x", "f32", dims, nullptr, 1, &x), TENFOLD_OK);
  ASSERT_EQ(tenfold_network_add_node(net, "Neg", nullptr, &x, 1, nullptr, 0, &y, 1), TENFOLD_OK);
  ASSERT_EQ(tenfold_network_output(net, y, "y"), TENFOLD_OK);
  tenfold_build_config config;
  std::memset(&config, 0xff, sizeof config);  // what lies behind the caller's struct must not be read
  config.struct_size = offsetof(tenfold_build_config, threads);
  config.device = "cpu";
  tenfold_engine* engine = nullptr;
  ASSERT_EQ(tenfold_build_network(net, &config, &engine), TENFOLD_OK) << tenfold_last_error();
  tenfold_binding_info info;
  std::memset(&info, 0x5a, sizeof info);
  info.struct_size = offsetof(tenfold_binding_info, dtype);
  ASSERT_EQ(tenfold_engine_binding(engine, 1, &info), TENFOLD_OK);
  EXPECT_STREQ(info.name, "y");
  EXPECT_EQ(info.rank, 0x5a5a5a5a);
  config.struct_size = 0;
  EXPECT_EQ(tenfold_build_network(net, &config, &engine), TENFOLD_INVALID_ARGUMENT);
  tenfold_engine_free(engine);
  tenfold_network_free(net);
}

TEST(CApi, ModelsInMemory) {
  EXPECT_NE(std::strchr(tenfold_version(), '.'), nullptr) << tenfold_version();
  std::ifstream file(TENFOLD_SOURCE_DIR "/tests/install/relu.onnx", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  tenfold_engine* engine = nullptr;
  ASSERT_EQ(tenfold_build_bytes(bytes.data(), bytes.size(), nullptr, &engine), TENFOLD_OK) << tenfold_last_error();
  tenfold_context* context = nullptr;
  ASSERT_EQ(tenfold_context_create(engine, &context), TENFOLD_OK);
  float x[3] = {1, -2, -0.5f}, y[3] = {};
  ASSERT_EQ(tenfold_context_bind(context, 0, x, sizeof x), TENFOLD_OK);
  ASSERT_EQ(tenfold_context_bind(context, 1, y, sizeof y), TENFOLD_OK);
  ASSERT_EQ(tenfold_context_run(context), TENFOLD_OK) << tenfold_last_error();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(y[i], std::max(x[i], 0.f));
  tenfold_context_free(context), tenfold_engine_free(engine);
  EXPECT_EQ(tenfold_build_bytes(bytes.data(), bytes.size() / 2, nullptr, &engine), TENFOLD_INVALID_MODEL);
  EXPECT_EQ(tenfold_build_bytes(nullptr, 3, nullptr, &engine), TENFOLD_INVALID_ARGUMENT);
}

TEST(CApi, StatusesHaveNames) {
  EXPECT_STREQ(tenfold_status_name(TENFOLD_OK), "ok");
  EXPECT_STREQ(tenfold_status_name(TENFOLD_INVALID_ARGUMENT), "invalid_argument");
  EXPECT_STREQ(tenfold_status_name(TENFOLD_INTERNAL), "internal");
  EXPECT_STREQ(tenfold_status_name(TENFOLD_RUN_BAD_INDEX), "bad_index");
  EXPECT_STREQ(tenfold_status_name(TENFOLD_RUN_FAILED), "failed");
  EXPECT_STREQ(tenfold_status_name(TENFOLD_RUN_DEADLINE), "deadline");
  EXPECT_STREQ(tenfold_status_name(TENFOLD_RUN_INVALID_INPUT), "invalid_input");
  for (const tenfold_status other : {-1, 10, 100, 112}) EXPECT_STREQ(tenfold_status_name(other), "unknown status");
}

TEST(CApi, LevelsOfABuild) {  // zero is the default, which times; -1 times nothing
  tenfold_build_config config{};
  config.struct_size = sizeof config;
  config.optimization_level = 6;
  tenfold_engine* engine = nullptr;
  EXPECT_EQ(tenfold_build_file(TENFOLD_SOURCE_DIR "/tests/install/relu.onnx", &config, &engine), TENFOLD_INVALID_ARGUMENT);
  config.timing_cache = "levels_of_a_build.cache";
  for (const auto& [level, times] : {std::pair<std::int32_t, bool>{TENFOLD_LEVEL_UNTIMED, false}, {0, true}}) {
    std::remove(config.timing_cache);
    config.optimization_level = level;
    EXPECT_EQ(tenfold_build_file(TENFOLD_SOURCE_DIR "/tests/install/relu.onnx", &config, &engine), TENFOLD_OK) << tenfold_last_error();
    tenfold_engine_free(engine);
    std::ifstream file(config.timing_cache, std::ios::binary);
    const std::string cache{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(cache.find("Relu") != std::string::npos, times) << "level " << level << ": " << cache;
  }
  std::remove(config.timing_cache);
}

TEST(CApi, Nulls) {
  EXPECT_EQ(tenfold_network_create("x", nullptr), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_build_file(nullptr, nullptr, nullptr), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_context_run(nullptr), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_engine_bindings(nullptr), 0);
  tenfold_network_free(nullptr), tenfold_engine_free(nullptr), tenfold_context_free(nullptr), tenfold_context_cancel(nullptr);
}
