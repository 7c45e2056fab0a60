// Denormals in a run: kept where nothing may be rounded, else flushed to zero, on every thread and in plans that were saved.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/interpret.h"

namespace tenfold::runtime {
namespace {

constexpr float kMin = std::numeric_limits<float>::min();
constexpr std::int64_t kRows = 4096;   // work for all threads

Engine engine_of(const char* text, bool tf32, int threads, int level) {
  BuildConfig config;
  config.tf32 = tf32, config.threads = threads, config.optimization_level = level;
  return builder::build_graph(ir::parse_graph(text, ir::Registry::builtin()), config);
}

// Powers of two from the least normal number down to the least denormal, then zero.
Tensor small_numbers() {
  Tensor x(DType::f32, {kRows, 32});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = std::ldexp(kMin, -static_cast<int>(i % 32));
  return x;
}

std::int64_t differences(const Engine& engine, const ir::Graph& graph) {
  const Tensor x = small_numbers();
  const std::vector<Tensor> got = engine.create_context()->run({x});
  const Tensor expected = std::get<Tensor>(ops::run_graph(graph, {x})[0]);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) count += got[0].as_double(i) != expected.as_double(i);
  return count;
}

constexpr const char* kScaled = "(x f32[4096,32])\n half = f32[]{0.5}\n y = Mul(x, half)";
constexpr const char* kAdded = "(x f32[4096,32])\n y = Add(x, x)";
constexpr const char* kSummed = "(x f32[4096,32])\n y = ReduceSum(x) axes=[1] keepdims=1";

TEST(Denormals, AreKeptWhereNothingMayBeRounded) {
  for (const char* text : {kScaled, kAdded, kSummed}) {
    const ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin());
    for (const int threads : {1, 2})
      for (const int level : {0, 1}) EXPECT_EQ(differences(engine_of(text, false, threads, level), graph), 0) << text << threads << level;
  }
}

TEST(Denormals, AreFlushedByDefault) {
  const ir::Graph graph = ir::parse_graph(kScaled, ir::Registry::builtin());
  for (const int threads : {1, 2})   // 2^-126 to 2^-148, halved
    EXPECT_EQ(differences(engine_of(kScaled, true, threads, 0), graph), kRows * 23) << threads;
}

TEST(Denormals, ThePlanRemembers) {
  const ir::Graph graph = ir::parse_graph(kScaled, ir::Registry::builtin());
  const std::filesystem::path path = std::filesystem::temp_directory_path() / cat("tenfold_denormals_", ::getpid(), ".plan");
  for (const bool keeps : {true, false}) {
    engine_of(kScaled, !keeps, 1, 0).save(path.string());
    const Engine loaded = Engine::load(path.string());
    EXPECT_EQ(differences(loaded, graph) == 0, keeps);
    EXPECT_NE(loaded.inspect().find(keeps ? "denormal numbers are kept" : "denormal numbers are flushed to zero"), std::string::npos)
        << loaded.inspect();
  }
  std::filesystem::remove(path);
}

// Sums of these numbers are exact in any order. Without AMX, whose tiles take parts below 2^-126 for zeros (BuildConfig::tf32 tells).
TEST(Denormals, ProductsKeepThem) {
  std::string ones = "1";
  for (int i = 1; i < 32; ++i) ones += ",1";
  const std::string text = "(x f32[4096,32])\n w = f32[32,1]{" + ones + "}\n y = MatMul(x, w)";
  const ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin());
  BuildConfig config;
  config.tf32 = false, config.optimization_level = 0;
  config.cpu_features = backends::kAvx2;
  EXPECT_EQ(differences(builder::build_graph(graph, config), graph), 0);
}

}  // namespace
}  // namespace tenfold::runtime
