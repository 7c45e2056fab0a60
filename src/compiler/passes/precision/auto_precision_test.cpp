// BuildConfig::auto_precision's table, without any of the hardware.
#include "passes/precision/auto_precision.h"

#include <gtest/gtest.h>

namespace tenfold::passes {
namespace {

// Written out beside the rule: int8 from compute capability 7.5 where there are ranges, fp16 from 7.0, fp32 below.
struct Gpu { int arch; bool int8, fp16; };
constexpr Gpu kGpus[] = {{52, false, false}, {53, false, false}, {60, false, false}, {61, false, false}, {62, false, false},
                         {70, false, true},  {72, false, true},  {75, true, true},   {80, true, true},   {86, true, true},
                         {87, true, true},   {89, true, true},   {90, true, true},   {100, true, true},  {103, true, true},
                         {110, true, true},  {120, true, true}};

backends::DeviceInfo gpu(int arch) {
  backends::DeviceInfo info;
  info.kind = "cuda", info.arch = arch;
  return info;
}
backends::DeviceInfo cpu(std::uint32_t features) {
  backends::DeviceInfo info;
  info.kind = "cpu", info.features = features;
  return info;
}

TEST(AutoPrecision, OfGpusFollowsComputeCapability) {
  for (const Gpu& one : kGpus) {
    const PrecisionChoice ranges = auto_precision(gpu(one.arch), true), none = auto_precision(gpu(one.arch), false);
    EXPECT_EQ(ranges.int8, one.int8) << one.arch;
    EXPECT_EQ(ranges.fp16, one.fp16) << one.arch;
    EXPECT_FALSE(none.int8) << one.arch;
    EXPECT_EQ(none.fp16, one.fp16) << one.arch;
    EXPECT_FALSE(ranges.bf16 || none.bf16) << one.arch;
    EXPECT_NE(none.why.find(std::to_string(one.arch / 10) + "." + std::to_string(one.arch % 10)), std::string::npos) << none.why;
  }
}

TEST(AutoPrecision, OfCpusFollowsVnniAndAmx) {
  using namespace backends;
  const std::uint32_t plain = kAvx2 | kAvx512, vnni = plain | kVnni, amx = vnni | kAmxInt8 | kAmxBf16;
  EXPECT_EQ(auto_precision(cpu(plain), true), (PrecisionChoice{false, false, false, "this CPU has neither VNNI nor AMX for int8: fp32"}));
  EXPECT_TRUE(auto_precision(cpu(vnni), true).int8);
  EXPECT_FALSE(auto_precision(cpu(vnni), false).int8 || auto_precision(cpu(vnni), false).bf16);
  EXPECT_TRUE(auto_precision(cpu(amx), true).int8);
  EXPECT_FALSE(auto_precision(cpu(amx), true).bf16);
  EXPECT_TRUE(auto_precision(cpu(amx), false).bf16);
  EXPECT_FALSE(auto_precision(cpu(amx), false).int8 || auto_precision(cpu(amx), false).fp16);
}

}  // namespace
}  // namespace tenfold::passes
