// A GPU without NVRTC, which no package of ours holds: a build is refused in a line that says where to get it.
#include <gtest/gtest.h>

#include "backends/cuda/backend.h"
#include "backends/cuda/device/compiler.h"
#include "builder/builder.h"
#include "builder/open_built.h"
#include "fake_driver.h"
#include "ir/text.h"
#include "tenfold/error.h"

namespace tenfold {
namespace {

TEST(WithoutNvrtc, ABuildSaysWhereToGetIt) {
  backends::cuda::choose_compiler("libnvrtc.so.of_nobody");   // before anybody opens it: this is the only test of the program
  tests::FakeDriver::get();
  auto backend = backends::open_cuda(tests::FakeDriver::kOrdinal);
  // One kernel, compiled when the plan is opened; several to choose from, compiled to be timed.
  for (const char* text : {"(x f32[2,6])\n y = Relu(x)", "(x f32[64,64], w f32[64,64])\n y = MatMul(x, w)"}) {
    BuildConfig config;
    config.tactic_sources = static_cast<std::uint32_t>(TacticSource::native);
    BuildReport report;
    try {
      const ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin());
      builder::open_built(builder::build_plan(graph, config, "", backend, report), config, backend);
      ADD_FAILURE() << "an engine for a GPU was built without NVRTC: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported);
      EXPECT_NE(std::string(error.what()).find("libnvrtc.so.of_nobody was not found: NVIDIA's wheel has it (pip install nvidia-cuda-nvrtc"),
                std::string::npos) << text << '\n' << error.what();
    }
  }
  backend.reset();
  tests::FakeDriver::put();
}

}  // namespace
}  // namespace tenfold
