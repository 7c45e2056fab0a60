// conv_int8_igemm against the reference: windows of all kinds, borders that hold the zero point, groups, one to three dims.
#include "backends/case_share_for_tests.h"
#include "backends/cpu/tactics/int8/int8_for_tests.h"

namespace tenfold::backends {
Tactic cpu_conv_int8_igemm();
namespace {

using namespace testing;

TEST(ConvInt8Igemm, IsExact) {
  CaseShare share;
  for (const char* text : {
           "u8[1,3,9,7](0,255) i8[4,3,3,3](-128,127)! u8[]{5} pads=[1,1,1,1]",
           "i8[2,16,8,8](-128,127) i8[40,16,3,3](-128,127)! i8[]{-128} pads=[1,1,1,1] strides=[2,2]",
           "u8[1,64,5,6](0,255) i8[33,64,1,1](-128,127)! u8[]{128}",
           "u8[2,64,5,6](0,255) u8[33,64,1,1](0,255)! u8[]{3} u8[33](0,255)! strides=[2,2]",
           "i8[1,3,20,20](-128,127) i8[20,3,7,7](-128,127)! i8[]{11} pads=[3,3,3,3] strides=[2,2]",
           "u8[1,8,9,9](0,255) u8[12,4,3,3](0,255)! u8[]{3} u8[]{7} group=2 pads=[2,2,2,2] dilations=[2,2]",
           "u8[1,90,6,6](0,255) i8[24,90,3,3](-128,127)! u8[]{77} pads=[0,1,1,0]",
           "u8[1,20,10](0,255) i8[3,20,3](-128,127)! u8[]{1} i8[3]{1,2,-3} pads=[1,2]",
           "i8[1,5,4,5,6](-128,127) i8[7,5,3,3,3](-128,127)! i8[]{-5} pads=[1,1,1,1,1,1]",
           "u8[1,130,4,4](255,255) i8[5,130,3,3](-128,-128)! u8[]{0} pads=[1,1,1,1]",
           "u8[1,4,5,5](0,255) i8[4,4,5,5](-128,127)! u8[]{9} pads=[4,4,4,4]",
           // Windows read where they lie: lines with rests, of one tap, of strided and dilated rows, past the image's end; taps of one
           // row of groups, more taps than tables hold, channels that no border covers.
           "u8[2,3,9,7](0,255) u8[20,3,3,3](0,255)! u8[]{5} u8[20](0,255)! pads=[1,1,1,1]",
           "i8[2,5,6,7](-128,127) i8[40,5,1,1](-128,127)! i8[]{3} strides=[2,2]",
           "u8[1,6,11,8](0,255) i8[33,6,3,2](-128,127)! u8[]{200} pads=[2,1,2,0] dilations=[2,1]",
           "i8[1,3,2,2](-128,127) i8[16,3,5,5](-128,127)! i8[]{-9} pads=[4,4,4,4]",
           "i8[2,8,7,5](-128,127) u8[64,4,3,3](0,255)! i8[]{-3} u8[64](0,255)! group=2 pads=[1,1,1,1] strides=[1,2]",
           "u8[1,4,12,13](0,255) i8[16,4,9,9](-128,127)! u8[]{9} pads=[4,4,4,4]",
           "u8[1,2052,2,2](0,255) i8[16,2052,2,2](-128,127)! u8[]{9} pads=[1,0,0,0]",
           // Lines laid side by side: cut ones, several images, strides that differ, borders on one side, a step that no line fills.
           "u8[1,4,5,150](0,255) i8[8,4,3,3](-128,127)! u8[]{9} pads=[1,1,1,1]",
           "i8[2,3,7,281](-128,127) i8[20,3,3,5](-128,127)! i8[]{-9} pads=[0,2,2,0] strides=[3,2]",
           "u8[3,70,9,20](0,255) i8[33,70,2,3](-128,127)! u8[]{255} pads=[0,0,2,3]",
           "i8[2,64,13,15](-128,127) i8[32,64,3,3](-128,127)! i8[]{4} pads=[3,1,3,1] dilations=[3,1] strides=[2,1]",
           "u8[2,16,30,31](0,255) u8[16,16,3,3](0,255)! u8[]{7} u8[16](0,255)! pads=[1,1,1,1] strides=[2,2]",
           "u8[1,1024,29,29](0,255) i8[32,1024,3,3](-128,127)! u8[]{7} pads=[1,1,1,1] strides=[2,2]",
           // Borders at least as wide as windows on both sides.
           "u8[1,10,6,9](0,255) i8[64,10,3,2](-128,127)! u8[]{8} pads=[1,2,1,2]",
           "u8[1,10,6,9](0,255) i8[40,10,3,2](-128,127)! u8[]{8} pads=[1,2,1,4]",
           "i8[2,10,6,9](-128,127) i8[64,10,3,2](-128,127)! i8[]{8} pads=[3,2,3,4]",
           "i8[2,33,7,9](-128,127) i8[33,33,3,1](-128,127)! i8[]{8} pads=[1,1,1,1]",
           "u8[2,33,7,9](0,255) i8[64,33,3,1](-128,127)! u8[]{8} pads=[1,5,1,6] strides=[2,3]",
           "i8[2,4,3,5,7](-128,127) i8[20,4,2,3,3](-128,127)! i8[]{-5} pads=[1,1,1,0,1,1] dilations=[1,1,2]",
       }) {
    if (share.next()) check_int8(cpu_conv_int8_igemm(), {"ConvInteger", text}, 0);
  }
}

// As a plan may ask for them.
TEST(ConvInt8Igemm, BlocksOfOneRow) {
  Tactic tactic = cpu_conv_int8_igemm();
  tactic.configs = [](const Problem& p) {
    std::vector<Config> all = cpu_conv_int8_igemm().configs(p);
    for (Config& c : all) c[1] = 1;
    return all;
  };
  check_int8(tactic, {"ConvInteger", "u8[1,64,28,113](0,255) i8[16,64,1,3](-128,127)! u8[]{7} pads=[1,1,1,1] strides=[3,3]"}, 0);
}

// Blocks of 256 rows that are too large to be laid do not keep those of 128 from it.
TEST(ConvInt8Igemm, LaysBlocksThatFit) {
  ir::Graph graph(ir::Registry::builtin());
  const auto image = [](ir::Dims dims) { return ir::ValueType{.tensor = {DType::u8, std::move(dims)}}; };
  ir::Node node;
  node.def = &ir::Registry::builtin().get("ConvInteger");
  node.attributes = ops::parse_case(*node.def, "u8[1,1,1,1] i8[1,1,1,1] strides=[2,2]").attributes;
  node.inputs = {graph.add_input("x", image({1, 1024, 41, 41})), graph.add_constant(Tensor(DType::i8, {64, 1024, 3, 3}), "w")};
  graph.outputs = {graph.add(std::move(node), 1)->out()};
  const Tactic tactic = cpu_conv_int8_igemm();
  TacticRun run(tactic, graph, kAvx2 | kAvx512 | kVnni | kAmxBf16 | kAmxInt8);
  run.use(tactic.formats(run.problem).front());
  const auto scratch = [&](std::int64_t rows) { return tactic.worker_scratch(run.problem, {cpu::kInt8Amx, rows, 32}).constant(); };
  EXPECT_GT(scratch(128), 1 << 20);
  EXPECT_LT(scratch(256), 1 << 20);
}

TEST(ConvInt8Igemm, EpiloguesOfLayers) {
  for (const DType to : {DType::f32, DType::u8, DType::i8}) {
    for (const DType residual : {DType::i32, DType::f32, DType::u8, DType::i8}) {
      Int8Case c{"ConvInteger", "u8[2,16,6,7](0,255) i8[40,16,3,3](-128,127)! u8[]{128} pads=[1,1,1,1]"};
      c.body = quantized_epilogue(to, 0.25, to == DType::u8 ? 128 : 0, residual, true);
      c.extra = {"f32[40,1,1](0.0001,0.002)!", "f32[1,40,1,1](-3,3)!"};
      if (residual != DType::i32) c.extra.push_back(cat(name(residual), "[2,40,6,7]"));
      check_int8(cpu_conv_int8_igemm(), c, to == DType::f32 ? 1e-4 : 1);
    }
  }
}

// Weights that stay in registers: all numbers of steps, panels in sixes, fours, twos and a rest; with a residual they do not.
TEST(ConvInt8Igemm, EpiloguesOfExpansions) {
  for (int k = 4; k <= 36; k += 4) {
    const DType to = k % 8 == 0 ? DType::u8 : DType::i8, residual = k == 16 ? DType::u8 : DType::i32;
    Int8Case c{"ConvInteger", cat("u8[2,", k, ",6,7](0,255) i8[176,", k, ",1,1](-128,127)! u8[]{128}")};
    c.body = quantized_epilogue(to, 0.25, to == DType::u8 ? k : 0, residual, k % 3 == 0);
    c.extra = {"f32[176,1,1](0.001,0.004)!", "f32[1,176,1,1](-3,3)!"};
    if (residual != DType::i32) c.extra.push_back("u8[2,176,6,7]");
    check_int8(cpu_conv_int8_igemm(), c, 1);
  }
}

}  // namespace
}  // namespace tenfold::backends
