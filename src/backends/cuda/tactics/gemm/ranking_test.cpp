// Rankings of configurations: with an H200's figures as their constants were fitted there, with others' by these.
#include "backends/cuda/device/device.h"
#include "backends/cuda/tactics/one_node_for_tests.h"

namespace tenfold::backends {
namespace {

using testing::each_tactic;
using testing::OneNode;

struct RankedCase {
  const char *op, *text;
  int arch;
  const char* on_h200;   // every tactic with more than one configuration
};

const RankedCase kCases[] = {
    {"MatMul", "f16[48,1024] f16[1024,512]!", 90,
     "matmul_mma 32,64,1,4,3,8 64,32,4,1,3,8 64,64,2,2,3,8 16,128,1,4,3,8\n"
     "matmul_skinny_wgmma 32,8,1 32,4,1 64,8,1 64,4,1 32,2,1 32,1,1\n"},
    {"MatMul", "f16[300,768] f16[768,768]!", 90,
     "matmul_mma 64,128,2,4,4,4 32,64,1,4,6,1 64,32,4,1,6,1 64,64,2,2,4,2\n"
     "matmul_skinny_wgmma 32,1,1 64,2,1 64,1,2 64,1,1 128,4,1 64,4,1\n"
     "matmul_wgmma 1,64,2,1,8,2 1,96,2,1,8,3 2,64,2,1,6,2 1,128,2,1,8,2\n"},
    {"MatMul", "f16[4000,512] f16[512,1024]!", 90,
     "matmul_wgmma 2,128,2,1,5,2 2,96,2,1,6,3 1,256,2,0,4,2 2,128,2,0,4,1\n"},
    {"MatMul", "f16[4000,512] f16[512,1024]!", 80,
     "matmul_mma 128,256,2,4,3,1 128,128,2,2,3,1 128,128,2,4,4,1 256,64,4,2,3,1\n"},
    {"MatMul", "f16[300,768] f16[768,768]!", 86,
     "matmul_mma 32,64,1,4,6,1 64,32,4,1,6,1 64,64,2,2,4,1 64,64,2,2,6,1\n"},
    {"MatMul", "f32[300,768] f32[768,768]!", 80,
     "matmul_tiled 32,32 16,64\n"},
    {"MatMul", "f32[8,130,64] f32[8,64,130]", 90,
     "matmul_tiled 32,32 16,64\n"},
    {"Conv", "f16[4,64,56,56] f16[64,64,3,3]! pads=[1,1,1,1]", 90,
     "conv_mma 128,64,4,2,4,1 64,64,2,2,4,1 64,64,2,2,6,1 256,64,4,2,3,2\n"
     "conv_nhwc_wgmma 16,8,2,32 32,8,2,32 24,8,3,32\n"
     "conv_wgmma 2,64,2,1,6,2 1,64,2,1,8,2 1,96,2,0,7,3 1,64,3,0,5,2\n"},
    {"Conv", "f16[1,32,24,24,24] f16[32,32,3,3,3]! pads=[1,1,1,1,1,1]", 90,
     "conv_mma 128,32,4,1,4,1 64,32,4,1,6,1 128,64,4,2,4,1 128,32,4,1,4,2\n"
     "conv_nhwc_wgmma 8,16,2,16 16,8,2,16 24,8,3,16\n"
     "conv_wgmma 2,64,2,1,6,2 1,64,2,1,8,2 1,64,3,0,5,2 4,64,2,1,4,1\n"},
};

std::string ranked(const RankedCase& c, const DeviceInfo& device) {
  std::string all;
  each_tactic(OneNode(c.op, c.text, "", {}), device, [&](const Tactic& tactic, const testing::TacticRun& run) {
    const std::vector<Config> configs = tactic.configs(run.problem);
    if (configs.size() < 2) return;
    all += tactic.name;
    for (const Config& config : configs) {
      all += " ";
      for (std::size_t i = 0; i < config.size(); ++i) all += cat(i ? "," : "", config[i]);
    }
    all += "\n";
  });
  return all;
}

TEST(CudaRanking, AnH200sIsAsItWasFitted) {
  for (const RankedCase& c : kCases) EXPECT_EQ(ranked(c, testing::compile_only(c.arch)), c.on_h200) << c.op << " " << c.text;
}

DeviceInfo described(cuda::Device& device) {
  DeviceInfo info = device.info();
  info.opened = &device;
  return info;
}

// Each figure counts somewhere: fewer multiprocessors, less shared memory, tensor cores of half the rate, half the clock.
TEST(CudaRanking, OthersAreByTheirOwnFigures) {
  const auto differs = [](const RankedCase& c, const cuda::GpuFigures& figures) {
    const auto device = cuda::Device::for_ranking(c.arch, figures);
    return ranked(c, described(*device)) != c.on_h200;
  };
  for (const RankedCase& c : kCases) EXPECT_FALSE(differs(c, {})) << c.op << " " << c.text;
  int by_multiprocessors = 0, by_shared = 0, by_rate = 0, by_clock = 0;
  for (const RankedCase& c : kCases) {
    by_multiprocessors += differs(c, {.multiprocessors = 16});
    by_shared += differs(c, {.shared_bytes = 100 << 10});
    by_rate += differs(c, {.mma_macs = cuda::mma_macs_of(86)});
    by_clock += differs(c, {.clock_khz = 990'000});
  }
  EXPECT_GE(by_multiprocessors, 7);
  EXPECT_GE(by_shared, 1);
  EXPECT_GE(by_rate, 1);
  EXPECT_GE(by_clock, 1);
}

// Which is why pad_channels makes 104 channels of 100.
TEST(CudaRanking, OnlyWholePiecesOfChannelsReachWgmma) {
  for (const std::int64_t channels : {100, 104}) {
    const std::string text = cat("f16[1,", channels, ",24,24,24] f16[", channels, ",", channels, ",3,3,3]! pads=[1,1,1,1,1,1]");
    bool wgmma = false;
    each_tactic(OneNode("Conv", text, "", {}), testing::compile_only(90),
                [&](const Tactic& tactic, const testing::TacticRun&) { wgmma = wgmma || tactic.name == "conv_wgmma"; });
    EXPECT_EQ(wgmma, channels % 8 == 0) << channels;
  }
}

}  // namespace
}  // namespace tenfold::backends
