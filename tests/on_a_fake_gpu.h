// A fixture on the fake driver: a backend for its GPU, a small engine, and engines of other graphs.
#pragma once

#include <gtest/gtest.h>

#include "backends/cuda/backend.h"
#include "backends/cuda/device/compiler.h"
#include "builder/builder.h"
#include "builder/open_built.h"
#include "fake_driver.h"
#include "ir/text.h"
#include "ops/cases.h"

namespace tenfold::tests {

class FakeGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string& why = backends::cuda::compiler_why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
    fake_ = &FakeDriver::get();
    *fake_ = {};
    backend_ = backends::open_cuda(FakeDriver::kOrdinal);
    engine_ = std::make_unique<Engine>(engine("(x f32[batch,6])\n y = Relu(x)"));
  }
  void TearDown() override {
    if (!fake_) return;
    fake_->failure = 0;
    engine_.reset(), backend_.reset();
    FakeDriver::put();
  }
  Engine engine(const char* text, std::uint64_t choices = 0) {
    const ir::Graph graph =
        ir::parse_graph(text, ir::Registry::builtin(),
                        {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
    BuildConfig config;
    config.threads = 1;
    config.optimization_level = 0;
    config.tactic_sources = static_cast<std::uint32_t>(TacticSource::native);
    config.random_choices = choices;
    if (graph.inputs[0]->dims()[0].is_constant()) config.profiles.clear();
    else if (graph.inputs[0]->rank() == 3) config.profiles = {{{"x", {{1, 65, 192}, {2, 65, 192}, {8, 65, 192}}}}};
    else config.profiles = {{{"x", {{1, 6}, {2, 6}, {8, 6}}}}};
    BuildReport report;
    return builder::open_built(builder::build_plan(graph, config, "", backend_, report), config, backend_);
  }
  static void set_batch(ExecutionContext& context, std::int64_t batch) {
    const Shape shape{batch, 6};
    ASSERT_TRUE(context.set_input_shape(0, shape));
  }
  FakeDriver* fake_ = nullptr;
  std::shared_ptr<backends::Backend> backend_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace tenfold::tests
