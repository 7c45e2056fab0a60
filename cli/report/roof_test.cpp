// Tests of the roofline model.
#include "report/roof.h"

#include <gtest/gtest.h>

namespace tenfold::cli {
namespace {

const Roof kRoof{"a test", {{"f32", 100}}, {{"L2", 1000, 50}, {"memory", -1, 10}}};  // GFLOP/s, GB/s

TEST(Roof, ArithmeticOrMemory) {
  const auto compute = roof_of(kRoof, {.flops = 200'000'000, .constants = 0, .activations = 100, .footprint = 100, .type = "f32"});
  ASSERT_TRUE(compute);
  EXPECT_DOUBLE_EQ(compute->ms, 2);
  EXPECT_EQ(compute->by, "f32 arithmetic");
  const auto memory = roof_of(kRoof, {.flops = 2, .constants = 0, .activations = 20'000'000, .footprint = 100, .type = "f32"});
  EXPECT_DOUBLE_EQ(memory->ms, 2);
  EXPECT_EQ(memory->by, "memory");
}

// Weights that a whole run lies between come from memory, small activations from the cache.
TEST(Roof, ConstantsComeFromWhereAllDataFits) {
  const auto roof = roof_of(kRoof, {.flops = 0, .constants = 500, .activations = 400, .footprint = 1'000'000, .type = ""});
  EXPECT_DOUBLE_EQ(roof->ms, 500 / 10e6 + 400 / 50e6);
  EXPECT_EQ(roof->by, "memory");
  EXPECT_EQ(roof_of(kRoof, {.flops = 0, .constants = 500, .activations = 400, .footprint = 900, .type = ""})->by, "L2");
}

TEST(Roof, NoneForTypesWithoutAPeak) {
  EXPECT_FALSE(roof_of(kRoof, {.flops = 1, .constants = 0, .activations = 1, .footprint = 1, .type = "i8"}));
  EXPECT_TRUE(roof_of(kRoof, {.flops = 0, .constants = 0, .activations = 1, .footprint = 1, .type = "i8"}));
  EXPECT_FALSE(roof_of({}, {.flops = 0, .constants = 0, .activations = 1, .footprint = 1, .type = "f32"}));
}

TEST(Roof, DataSheets) {
  const auto h200 = data_sheet_roof("NVIDIA H200");
  ASSERT_TRUE(h200);
  EXPECT_EQ(h200->gflops.at("f16"), 989e3);
  EXPECT_EQ(h200->gb_s(1), 4800);
  EXPECT_FALSE(data_sheet_roof("NVIDIA L40")) << "not the L4, nor the L40S";
  EXPECT_FALSE(data_sheet_roof("NVIDIA A100X"));
  EXPECT_EQ(data_sheet_roof("Tesla T4")->gflops.count("bf16"), 0u);
}

}  // namespace
}  // namespace tenfold::cli
