// Which forms of a graph the tuner is to compare.
#include <gtest/gtest.h>

#include "builder/paper_gpu_for_tests.h"
#include "builder/stages.h"

namespace tenfold::builder {
namespace {

// Output channels of the first convolution in each form.
std::vector<std::int64_t> channels_of_forms(const char* text, const backends::DeviceInfo& device, const BuildConfig& config) {
  BuildReport report;
  Findings findings;
  const Stages stages{config, device, report, {}, findings};
  std::vector<std::int64_t> channels;
  for (const ir::Graph& form : stages.set_precision(testing::parse(text), {}))
    for (const auto& node : form.nodes())
      if (node->op() == "Conv") {
        channels.push_back(node->out()->dims()[1].constant());
        break;
      }
  return channels;
}

constexpr const char* kOdd = R"((x f16[1,16,8,8], k f16[100,16,3,3]!, l f16[16,100,1,1]!)
  c = Conv(x, k) pads=[1,1,1,1]
  r = Relu(c)
  y = Conv(r, l))";
constexpr const char* kEven = R"((x f16[1,16,8,8], k f16[104,16,3,3]!, l f16[16,104,1,1]!)
  c = Conv(x, k) pads=[1,1,1,1]
  y = Conv(c, l))";

TEST(Forms, PaddedChannelsAreComparedWithTheModels) {
  const testing::PaperGpu gpu;
  using Channels = std::vector<std::int64_t>;
  EXPECT_EQ(channels_of_forms(kOdd, gpu.info(), {}), (Channels{104, 100}));
  EXPECT_EQ(channels_of_forms(kEven, gpu.info(), {}), (Channels{104}));
  BuildConfig config;
  config.optimization_level = 0;   // nothing is timed
  EXPECT_EQ(channels_of_forms(kOdd, gpu.info(), config), (Channels{104}));
  config.optimization_level = 3, config.disabled_passes = {"pad_channels"};
  EXPECT_EQ(channels_of_forms(kOdd, gpu.info(), config), (Channels{100}));
  EXPECT_EQ(channels_of_forms(kOdd, backends::DeviceInfo{.kind = "cpu"}, {}), (Channels{100}));
}

}  // namespace
}  // namespace tenfold::builder
