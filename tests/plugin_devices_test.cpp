// Plug-ins on devices with memory of their own: one behind addresses that fault, and a GPU whose driver computes
// nothing. With plug-ins or without, a device stays what it is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "backends/cuda/device/compiler.h"
#include "builder/builder.h"
#include "builder/open_built.h"
#include "fake_driver.h"
#include "mirror_plugin.h"
#include "plan/write.h"
#include "runtime/device/far_backend_for_tests.h"
#include "runtime/engine/opened.h"
#include "table_plugin.h"
#include "tune/timing/code_cache.h"

namespace tenfold {
namespace {

using tests::FakeDriver;
using tests::Mirror;

TEST(PluginOnFarDevice, KernelsGetTheDevicesMemoryAndHostStepsCopies) {
  for (const bool has_fast : {true, false}) {
    const auto op = std::make_shared<Mirror>(1, has_fast);
    BuildConfig config;
    config.plugins = tests::with(op), config.threads = 1, config.optimization_level = 1;
    config.profiles = {{{"x", {{1, 3}, {2, 3}, {4, 3}}}}};
    BuildReport report;
    const auto backend = std::make_shared<runtime::FarBackend>();
    const ir::Graph graph = tests::mirror_graph(*config.plugins);
    const Engine engine = builder::open_built(builder::build_plan(graph, config, "", backend, report), config, backend);
    op->runs = 0;
    tests::expect_right(engine);
    EXPECT_EQ(op->runs > 0, has_fast) << engine.inspect(1);
    EXPECT_EQ(engine.info().waits_in_run, !has_fast);
  }
}

class PluginOnFakeGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string& why = backends::cuda::compiler_why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
    fake_ = &FakeDriver::get();
    *fake_ = {};
    config_.device = cat("cuda:", FakeDriver::kOrdinal);
    config_.threads = 1, config_.optimization_level = 0;
    config_.tactic_sources = static_cast<std::uint32_t>(TacticSource::native);
    config_.plugins = tests::with(std::make_shared<Mirror>());
    config_.profiles = {{{"x", {{1, 3}, {2, 3}, {4, 3}}}}};
  }
  void TearDown() override {
    if (fake_) FakeDriver::put();
  }
  Engine build(const char* text) const {
    return builder::build_graph(ir::parse_graph(text, config_.plugins->impl().registry), config_);
  }
  FakeDriver* fake_ = nullptr;
  tests::TablePlugin table_;   // before the configuration that lets go of it last
  BuildConfig config_;
};

// Taken for the device's, each of these addresses would go into a graph of its own.
TEST_F(PluginOnFakeGpu, HostMemoryIsStillTheHosts) {
  const Engine engine = build("(x f32[batch,3])\n y = Relu(x)");
  const auto context = engine.create_context();
  for (std::uint64_t i = 0; i < 5; ++i) context->run(std::vector<Tensor>{ops::random_tensor(DType::f32, {3, 3}, i)});
  EXPECT_EQ(fake_->instantiated, 1);
  EXPECT_EQ(fake_->updated, 0);
}

TEST_F(PluginOnFakeGpu, CodeIsCachedSavedAndUsed) {
  const std::filesystem::path cache =
      std::filesystem::temp_directory_path() / cat("tenfold_plugin_gpu_", ::getpid(), ".cache");
  config_.timing_cache = cache.string();
  const Engine engine = build("(x f32[batch,3])\n r = Relu(x)\n y = test.Mirror(r)");
  const std::string code = tune::code_cache_path(cache.string());
  EXPECT_FALSE(tune::load_code(code).empty());
  std::filesystem::remove(cache), std::filesystem::remove(code);
  EXPECT_FALSE(runtime::state_of(engine)->plan.code.empty());
  const std::string plan = plan::serialize(runtime::state_of(engine)->plan);
  const Engine loaded =
      Engine::load(std::as_bytes(std::span(plan)), {.device = config_.device, .plugins = config_.plugins});
  EXPECT_NE(loaded.inspect(1).find("test.Mirror"), std::string::npos) << loaded.inspect(1);
  EXPECT_EQ(loaded.create_context()->run({ops::random_tensor(DType::f32, {3, 3}, 1)})[0].shape(), (Shape{3, 6}));
}

TEST_F(PluginOnFakeGpu, ATacticForGpusGetsAStreamAndTheDevicesMemory) {
  tests::TablePlugin& plugin = table_;
  plugin.device = "cuda", plugin.workspace = "4*batch*3", plugin.computes = false;
  config_.plugins = plugin.add();
  {
    const Engine engine = build("(x f32[batch,3])\n s = test.Scale(x)\n y = Relu(s)");
    EXPECT_NE(engine.inspect(1).find("plugin test.Scale table"), std::string::npos) << engine.inspect(1);
    EXPECT_FALSE(engine.info().waits_in_run);
    const auto context = engine.create_context();
    plugin.runs = 0;
    context->run(std::vector<Tensor>{ops::random_tensor(DType::f32, {3, 3}, 1)});
    EXPECT_GT(plugin.runs, 0);
    EXPECT_NE(plugin.last_stream, nullptr);
    EXPECT_TRUE(fake_->is_on_device(plugin.last_workspace));
    EXPECT_TRUE(fake_->is_on_device(plugin.last_data[1]));
  }
  EXPECT_EQ(plugin.open, plugin.closed);
}

// What may allocate or wait is called in every run, and no graph is captured around it; what only launches is captured once.
TEST_F(PluginOnFakeGpu, ATacticThatCannotBeCapturedRunsEachTime) {
  for (const std::int32_t flags : {0, int{TENFOLD_PLUGIN_NOT_CAPTURABLE}}) {
    tests::TablePlugin plugin;
    plugin.device = "cuda", plugin.computes = false, plugin.flags = flags;
    config_.plugins = plugin.add();
    {
      const Engine engine = build("(x f32[batch,3])\n s = test.Scale(x)\n y = Relu(s)");
      const auto context = engine.create_context();
      const std::vector<Tensor> x{ops::random_tensor(DType::f32, {3, 3}, 1)};
      context->run(x);
      const int runs = plugin.runs, graphs = fake_->own.begun;
      for (int i = 0; i < 4; ++i) context->run(x);
      EXPECT_EQ(plugin.runs - runs, flags ? 4 : 0);
      EXPECT_EQ(fake_->own.begun, graphs);
      fake_->own.begun = 0;
    }
    config_.plugins.reset();
  }
}

// A tactic for another kind of device is none: the plain kernel runs on copies.
TEST_F(PluginOnFakeGpu, ATacticForCpusIsNotRunOnAGpu) {
  tests::TablePlugin& plugin = table_;
  config_.plugins = plugin.add();
  const Engine engine = build("(x f32[batch,3])\n r = Relu(x)\n y = test.Scale(r)");
  EXPECT_TRUE(engine.info().waits_in_run);
  engine.create_context()->run(std::vector<Tensor>{ops::random_tensor(DType::f32, {3, 3}, 1)});
  EXPECT_EQ(plugin.runs, 0);
}

}  // namespace
}  // namespace tenfold
