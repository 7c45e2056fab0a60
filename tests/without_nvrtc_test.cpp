// A GPU without NVRTC, which no package of ours holds: a build is refused in a line that says where to get it.
#include <gtest/gtest.h>

#include "backends/cuda/backend.h"
#include "backends/cuda/device/compiler.h"
#include "builder/builder.h"
#include "fake_driver.h"
#include "ir/text.h"
#include "tenfold/error.h"

namespace tenfold {
namespace {

TEST(WithoutNvrtc, ABuildSaysWhereToGetIt) {
  backends::cuda::choose_compiler("libnvrtc.so.of_nobody");   // before anybody opens it: this is the only test of the program
  tests::FakeDriver::get();
  const auto backend = backends::open_cuda(tests::FakeDriver::kOrdinal);
  const ir::Graph graph = ir::parse_graph("(x f32[2,6])\n y = Relu(x)", ir::Registry::builtin());
  BuildConfig config;
  config.tactic_sources = static_cast<std::uint32_t>(TacticSource::native);
  BuildReport report;
  try {
    builder::build_plan(graph, config, "", backend, report);
    ADD_FAILURE() << "a plan for a GPU was built without NVRTC";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find("libnvrtc.so.of_nobody was not found: NVIDIA's wheel has it (pip install nvidia-cuda-nvrtc"),
              std::string::npos) << error.what();
  }
  tests::FakeDriver::put();
}

}  // namespace
}  // namespace tenfold
