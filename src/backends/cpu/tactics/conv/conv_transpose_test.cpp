// conv_transpose_gemm and conv_transpose_phases against the reference, in one to three dims, with epilogues.
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_conv_transpose_gemm();
Tactic cpu_conv_transpose_phases();
namespace {

using namespace testing;

const std::vector<Config> kOddBlockings = {{0, 3, 5}, {1, 2, 7}};

TEST(ConvTransposeGemm, Windows) {
  for (const char* text : {"f32[1,20,5,4] f32[20,17,2,2]! f32[17]! strides=[2,2]", "f32[2,8,3,4,5] f32[8,33,2,2,2]! strides=[2,2,2]",
                           "f32[1,6,9] f32[6,5,3]! f32[5]! strides=[3]", "f32[1,7,3,4] f32[7,40,1,3]! strides=[1,3]"})
    check_f32(cpu_conv_transpose_gemm(), {"ConvTranspose", text}, 2e-6, kOddBlockings);
}

TEST(ConvTransposeGemm, Epilogues) {
  const std::string text = "f32[2,10,3,4] f32[10,21,2,2]! f32[21]! strides=[2,2]";
  check_f32(cpu_conv_transpose_gemm(),
            {"ConvTranspose", text, "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[2,21,6,8]"}}, 2e-6,
            kOddBlockings);
  check_f32(cpu_conv_transpose_gemm(), {"ConvTranspose", text, "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[2,21,6,8]"}}, 2e-6,
            kOddBlockings);
}

TEST(ConvTransposeGemm, RefusesOverlap) {
  F32Problem problem({"ConvTranspose", "f32[1,4,6,6] f32[4,5,4,4]! strides=[2,2] pads=[1,1,1,1]"});
  TacticRun run(cpu_conv_transpose_gemm(), problem.graph, kAvx2);
  run.use({std::vector<Layout>(run.problem.in.size(), kChannelsLast), {kChannelsLast}});
  EXPECT_FALSE(cpu_conv_transpose_gemm().supports(run.problem).yes);
}

// Every choice of merged dims, with blocks that end within lines and within the depth.
const std::vector<Config> kMerges = {{0, 0, 5, 3}, {0, 4, 7, 2}, {0, 6, 3, 100}, {0, 7, 50, 4}, {0, 1, 6, 5}, {0, 2, 4, 5},
                                     {1, 0, 5, 3}, {1, 4, 7, 2}, {1, 6, 3, 100}, {1, 7, 50, 4}, {4, 7, 9, 5}};

TEST(ConvTransposePhases, Windows) {
  for (const char* text :
       {"f32[1,5,9] f32[5,7,3]! f32[7]! strides=[2] pads=[1,1] output_padding=[1]", "f32[2,4,20] f32[4,6,16]! strides=[8] pads=[4,4]",
        "f32[2,6,5,7] f32[6,3,4,4]! f32[3]! strides=[2,2] pads=[1,1,1,1]", "f32[1,33,6,5] f32[33,20,3,3]! strides=[2,2] pads=[0,1,1,0]",
        "f32[2,5,3,4,5] f32[5,2,3,3,3]! f32[2]! strides=[2,2,2] pads=[1,1,1,1,1,1] output_padding=[1,1,1]",
        "f32[1,8,4,3,5] f32[8,35,3,3,3]! f32[35]! strides=[2,2,2] pads=[1,1,1,1,1,1]",
        "f32[1,6,3,5,4] f32[6,4,2,3,4]! strides=[1,3,2] pads=[1,0,2,0,2,1] output_padding=[0,2,1]",
        "f32[1,4,7,6] f32[4,5,3,3]! f32[5]! strides=[1,1] pads=[1,1,1,1]"})
    check_f32(cpu_conv_transpose_phases(), {"ConvTranspose", text}, 2e-6, kMerges);
}

TEST(ConvTransposePhases, DilationGroupsAndGaps) {
  for (const char* text :
       {"f32[1,7,9] f32[7,5,6]! f32[5]! strides=[4] dilations=[3] pads=[2,5]",
        "f32[2,4,11] f32[4,3,3]! strides=[4] dilations=[2] pads=[1,0]",
        "f32[2,12,5,4] f32[12,2,3,5]! f32[6]! group=3 strides=[3,2] dilations=[1,2] pads=[0,3,1,2]",
        "f32[1,6,5,4] f32[6,1,4,4]! f32[6]! group=6 strides=[2,2] pads=[1,1,1,1]",
        "f32[1,8,4,3] f32[8,8,1,2]! f32[8]! strides=[3,3] output_padding=[2,0]", "f32[1,3,4,4] f32[3,2,5,5]! strides=[2,2] pads=[4,4,4,4]"})
    check_f32(cpu_conv_transpose_phases(), {"ConvTranspose", text}, 2e-6, kMerges);
}

TEST(ConvTransposePhases, Epilogues) {
  const std::string text = " strides=[2,2] pads=[1,1,1,1] output_padding=[1,0]";
  for (const char* body : {"(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", "(f32,f32) %2=mul.f32(%0,%1) -> %2"})
    for (const char* extra : {"f32[2,5,6,7]", "f32[5,1,1]"})
      for (const char* of : {"f32[2,10,3,4] f32[10,5,3,3]! f32[5]!", "f32[2,10,3,4] f32[10,5,3,3]!"})
        check_f32(cpu_conv_transpose_phases(), {"ConvTranspose", of + text, body, {extra}}, 2e-6, kMerges);
  // Phases without taps
  check_f32(cpu_conv_transpose_phases(),
            {"ConvTranspose", "f32[1,8,4,3] f32[8,8,1,2]! f32[8]! strides=[3,3]", "(f32) %1=constant.f32(0) %2=max.f32(%0,%1) -> %2"}, 2e-6,
            kMerges);
}

TEST(ConvTransposePhases, UnpacksWhatItPacked) {
  for (const char* text : {"f32[1,6,3,5,4] f32[6,4,2,3,4]! strides=[1,3,2]", "f32[2,12,5] f32[12,2,3]! group=3 strides=[4] dilations=[2]"})
    for (const std::int64_t merged : {0, 4, 7})
      check_unpacks(cpu_conv_transpose_phases(), F32Problem({"ConvTranspose", text}), Config{0, merged, 12, 5});
}

TEST(ConvTransposePhases, RefusesConfigsOutOfRange) {
  F32Problem problem({"ConvTranspose", "f32[1,4,6,6] f32[4,5,4,4]! strides=[2,2] pads=[1,1,1,1]"});
  TacticRun run(cpu_conv_transpose_phases(), problem.graph, kAvx2);
  for (const Config& c : {Config{0, 8, 12, 4}, Config{0, -1, 12, 4}, Config{0, 0, 0, 4}, Config{0, 0, 1 << 20, 4}, Config{0, 0, 12, 0},
                          Config{1, 0, 12, 4}, Config{0, 0, 12}})
    EXPECT_FALSE(cpu_conv_transpose_phases().valid(run.problem, c).yes);
}

}  // namespace
}  // namespace tenfold::backends
