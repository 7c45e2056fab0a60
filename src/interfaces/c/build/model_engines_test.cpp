// Engines of a model from C.
#include <cstring>

#include "background/background_for_tests.h"
#include "tenfold/c_api.h"

namespace tenfold {
namespace {

using namespace background;

template <class T>
T sized() {
  T info{};
  info.struct_size = sizeof info;
  return info;
}
void ok(tenfold_status status) {
  ASSERT_EQ(status, TENFOLD_OK) << tenfold_status_name(status) << ": " << tenfold_last_error();
}

// Of three rows of ones: the first element, and what the formula says.
void expect_right(const tenfold_engine* engine) {
  const std::int64_t shape[2] = {3, kIn};
  std::vector<float> x(3 * kIn, 1), y(3 * kOut);
  tenfold_context* context = nullptr;
  ok(tenfold_context_create(engine, &context));
  ok(tenfold_context_set_shape(context, 0, shape, 2));
  ok(tenfold_context_bind(context, 0, x.data(), x.size() * sizeof(float)));
  ok(tenfold_context_bind(context, 1, y.data(), y.size() * sizeof(float)));
  ok(tenfold_context_run(context));
  double sum = 0;
  for (std::int64_t i = 0; i < kIn; ++i) sum += weight(i, 0);
  EXPECT_NEAR(y[0], std::tanh(sum), kNear);
  tenfold_context_free(context);
}

TEST(CModelEngines, AreTunedInTheBackground) {
  const Folder folder;
  tenfold_plan_cache* cache = nullptr;
  ok(tenfold_plan_cache_create(folder.path.c_str(), 0, &cache));
  auto config = sized<tenfold_build_config>();
  config.optimization_level = 1, config.threads = 1, config.no_tf32 = 1;
  auto options = sized<tenfold_model_engines_options>();
  options.tune = TENFOLD_TUNE_BACKGROUND, options.tuner = TENFOLD_PROGRAM, options.cache = cache, options.max_engines = 2;
  const std::vector<std::byte> model = tanh_model();
  tenfold_model_engines* engines = nullptr;
  ok(tenfold_model_engines_create_bytes(model.data(), model.size(), &config, &options, &engines));
  tenfold_plan_cache_free(cache);
  const std::int64_t dims[2] = {3, kIn};
  const tenfold_input_shape shape{"x", dims, 2};
  tenfold_engine* engine = nullptr;
  auto served = sized<tenfold_served_engine>();
  ok(tenfold_model_engines_get(engines, &shape, 1, &engine, &served));
  EXPECT_FALSE(served.tuned || served.settled);
  expect_right(engine);
  tenfold_engine_free(engine);
  std::int32_t settled = 0;
  ok(tenfold_model_engines_wait(engines, -1, &settled));
  EXPECT_EQ(settled, 1);
  const std::uint64_t before = served.number;
  ok(tenfold_model_engines_get_any(engines, &engine, &served));
  EXPECT_TRUE(served.tuned && served.settled && served.number != before);
  expect_right(engine);
  tenfold_engine_free(engine);

  tenfold_served_list* list = nullptr;
  ok(tenfold_model_engines_list_served(engines, &list));
  ASSERT_EQ(tenfold_served_list_count(list), 1);
  auto info = sized<tenfold_served_shapes>();
  ok(tenfold_served_list_get(list, 0, &info));
  EXPECT_TRUE(info.tuned && !info.pending && info.requests == 2 && info.number == served.number);
  EXPECT_STREQ(info.failure, "");
  auto range = sized<tenfold_range>();
  ok(tenfold_served_list_range(list, 0, "x", &range));
  EXPECT_STREQ(range.input, "x");
  ASSERT_EQ(range.rank, 2);
  EXPECT_TRUE(range.min[0] == 2 && range.opt[0] == 3 && range.max[0] == 4 && range.max[1] == kIn);
  EXPECT_EQ(tenfold_served_list_range(list, 0, "y", &range), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_served_list_get(list, 1, &info), TENFOLD_INVALID_ARGUMENT);
  tenfold_served_list_free(list);

  const tenfold_input_shape wrong{"x", dims, 1};
  EXPECT_EQ(tenfold_model_engines_get(engines, &wrong, 1, &engine, nullptr), TENFOLD_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(tenfold_last_error(), "input 'x' has the shape [any, 6], [3] is given"), nullptr) << tenfold_last_error();
  tenfold_model_engines_free(engines);
  options.tune = 3;
  EXPECT_EQ(tenfold_model_engines_create_bytes(model.data(), model.size(), &config, &options, &engines), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_model_engines_create("/no/such.onnx", &config, nullptr, &engines), TENFOLD_IO);
}

// In a process of its own, for it is for good.
TEST(CModelEngines, NoneIsTunedOnceTheEndIsNear) {
  const pid_t child = ::fork();
  if (child == 0) {
    tenfold_end_background_builds();
    ModelEngines engines(tanh_model(), quick(Tune::background));
    const ServedEngine only = served(engines, 3);
    ::_exit(!only.tuned && only.settled && engines.wait(std::chrono::seconds(0)) && distance(only.engine, 3) < kNear ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tenfold
