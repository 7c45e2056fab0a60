// The f32 convolutions against the reference: windows of every kind, groups, one to three dims, epilogues.
#include "backends/case_share_for_tests.h"
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_conv_igemm();
Tactic cpu_conv_depthwise();
Tactic cpu_conv_grouped();
Tactic cpu_conv_first();
Tactic cpu_conv_nchw();
Tactic cpu_conv_plain();
Tactic cpu_conv_spread();
Tactic cpu_conv_winograd();
namespace {

using namespace testing;

const std::vector<Config> kOddBlockings = {{0, 5, 16, 3}, {0, 24, 48, 8}, {1, 12, 32, 3}, {1, 24, 64, 8}, {5, 9, 64, 5}};
const std::vector<Config> kOddBlocks = {{0, 5, 16}, {0, 24, 32}, {1, 11, 32}};

TEST(ConvIgemm, Windows) {
  for (const char* text :
       {"f32[2,16,14,14] f32[24,16,1,1]! f32[24]!", "f32[1,3,11,9] f32[8,3,3,3]! f32[8]! pads=[1,1,1,1]",
        "f32[1,3,17,15] f32[8,3,3,3]! pads=[0,1,2,1] strides=[2,2]", "f32[1,6,9,9] f32[9,2,3,3]! group=3 dilations=[2,2] pads=[2,2,2,2]",
        "f32[2,4,20] f32[6,4,5]! f32[6]! strides=[3] pads=[2,1]", "f32[1,3,5,6,7] f32[4,3,3,3,3]! pads=[1,1,1,1,1,1]",
        "f32[1,8,6,5,4] f32[33,8,3,1,2]! f32[33]! pads=[1,0,0,1,0,1] strides=[2,1,1] dilations=[1,1,2]",
        "f32[1,70,7,7] f32[65,70,3,3]! pads=[1,1,1,1]", "f32[1,64,8,8] f32[48,64,1,1]! strides=[2,2]",
        "f32[1,12,10,10] f32[20,3,5,5]! f32[20]! group=4 pads=[2,2,2,2]", "f32[1,4,3,3] f32[5,4,3,3]! pads=[5,4,3,6]",
        "f32[0,4,3,3] f32[5,4,3,3]!"})
    check_f32(cpu_conv_igemm(), {"Conv", text}, 2e-6, kOddBlockings);
}

// Few filters, so that vectors along the channels are offered, and taps that whole tiles have in the padding.
TEST(ConvIgemm, FewFiltersAndMuchPadding) {
  for (const char* text : {"f32[1,37,5,4] f32[3,37,3,3]! f32[3]! pads=[1,1,1,1]", "f32[2,94,6,5] f32[1,94,5,5]! pads=[4,4,3,4]",
                           "f32[1,40,3,3,3] f32[8,20,5,5,5]! f32[8]! group=2 pads=[2,2,2,2,2,2]",
                           "f32[1,16,4,30] f32[7,16,1,7]! pads=[0,9,0,8] strides=[1,3]"})
    check_f32(cpu_conv_igemm(), {"Conv", text}, 2e-6, kOddBlockings);
  const std::string relu = " %3=constant.f32(0) %4=max.f32(%2,%3) -> %4";
  for (const int filters : {1, 2, 3, 4, 6}) {
    const std::string y = "f32[1," + std::to_string(filters) + ",4,5]";
    check_f32(cpu_conv_igemm(),
              {"Conv",
               "f32[1,29,4,5] f32[" + std::to_string(filters) + ",29,1,1]! f32[" + std::to_string(filters) + "]!",
               "(f32,f32) %2=add.f32(%0,%1)" + relu,
               {y}},
              2e-6, kOddBlockings);
  }
}

// Two or four steps of K in a vector: every part of a panel, depths that end within a vector, taps in the padding, several panels.
TEST(ConvIgemm, StepsTogether) {
  const std::vector<Config> together = {{6, 7, 32, 1 << 20}, {7, 11, 16, 1 << 20}};
  for (const int filters : {9, 12, 13, 16, 17, 24, 25, 32, 50})
    for (const int channels : {4, 5, 7, 10})
      check_f32(cpu_conv_igemm(), {"Conv", cat("f32[1,", channels, ",5,4] f32[", filters, ",", channels, ",3,3]! pads=[1,1,2,1]")}, 2e-6,
                together);
  check_f32(cpu_conv_igemm(), {"Conv", "f32[2,8,3,4,5] f32[32,8,3,3,3]! f32[32]! pads=[1,1,1,1,1,1]"}, 2e-6, together);
  check_f32(cpu_conv_igemm(), {"Conv", "f32[1,12,10,10] f32[40,6,3,3]! f32[40]! group=2 pads=[2,2,2,2]"}, 2e-6, together);
  for (const int filters : {11, 21, 32}) {
    const std::string text = cat("f32[2,6,6,7] f32[", filters, ",6,3,3]! f32[", filters, "]! pads=[1,1,1,1]");
    const std::string same = cat("f32[2,", filters, ",6,7]");
    check_f32(cpu_conv_igemm(), {"Conv", text, "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {same}}, 2e-6,
              together);
    check_f32(cpu_conv_igemm(), {"Conv", text, "(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2"}, 1e-5, together);
  }
  check_f32(cpu_conv_igemm(), {"Conv", "f32[1,3,1,6]{nan,1,2,3,4,5,1,2,3,nan,5,6,1,2,3,4,5,nan} f32[12,3,1,1]!"}, 2e-6, together);
}

TEST(ConvIgemm, Epilogues) {
  const std::string text = "f32[2,10,6,7] f32[21,10,3,3]! pads=[1,1,1,1]", biased = "f32[2,10,6,7] f32[21,10,3,3]! f32[21]! pads=[1,1,1,1]";
  const std::string residual = "f32[2,21,6,7]", bias = "f32[21,1,1]!", relu = " %3=constant.f32(0) %4=max.f32(%2,%3) -> %4";
  check_f32(cpu_conv_igemm(), {"Conv", text, "(f32,f32) %2=add.f32(%0,%1)" + relu, {bias}}, 2e-6, kOddBlockings);
  check_f32(cpu_conv_igemm(), {"Conv", biased, "(f32,f32) %2=add.f32(%0,%1)" + relu, {residual}}, 2e-6, kOddBlockings);
  check_f32(cpu_conv_igemm(), {"Conv", biased, "(f32,f32) %2=add.f32(%0,%1)" + relu, {bias}}, 2e-6, kOddBlockings);
  check_f32(
      cpu_conv_igemm(),
      {"Conv", text, "(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%2,%3) %5=constant.f32(0) %6=max.f32(%4,%5) -> %6", {bias, residual}},
      2e-6, kOddBlockings);
  check_f32(cpu_conv_igemm(), {"Conv", biased, "(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2"}, 1e-5, kOddBlockings);
  check_f32(cpu_conv_igemm(), {"Conv", text, "(f32,f32,f32) %3=mul.f32(%0,%1) %4=add.f32(%3,%2) -> %4", {bias, "f32[2,1,6,7]"}}, 1e-5,
            kOddBlockings);
}

TEST(ConvDepthwise, Windows) {
  for (const char* text :
       {"f32[1,8,12,12] f32[8,1,3,3]! f32[8]! group=8 pads=[1,1,1,1]", "f32[2,37,9,8] f32[37,1,3,3]! group=37 pads=[1,1,1,1] strides=[2,2]",
        "f32[1,70,11,7] f32[70,1,5,5]! f32[70]! group=70 pads=[2,2,2,2]", "f32[1,17,30] f32[17,1,7]! group=17 pads=[3,3] dilations=[2]",
        "f32[1,40,5,6,7] f32[40,1,3,3,3]! group=40 pads=[1,1,1,1,1,1] strides=[1,2,1]",
        "f32[1,144,14,14] f32[144,1,3,3]! group=144 pads=[0,0,1,1] strides=[2,2]"})
    check_f32(cpu_conv_depthwise(), {"Conv", text}, 2e-6, kOddBlocks);
}

TEST(ConvDepthwise, Epilogues) {
  const std::string text = "f32[2,21,6,7] f32[21,1,3,3]! f32[21]! group=21 pads=[1,1,1,1]";
  check_f32(cpu_conv_depthwise(), {"Conv", text, "(f32) %1=constant.f32(0) %2=max.f32(%0,%1) %3=constant.f32(1) %4=min.f32(%2,%3) -> %4"},
            2e-6, kOddBlocks);
  check_f32(cpu_conv_depthwise(), {"Conv", text, "(f32,f32) %2=add.f32(%0,%1) -> %2", {"f32[2,21,6,7]"}}, 2e-6, kOddBlocks);
  check_f32(cpu_conv_depthwise(), {"Conv", text, "(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2"}, 1e-5, kOddBlocks);
}

TEST(ConvGrouped, Windows) {
  const std::vector<Config> small_blocks = {{0, 12}, {1, 12}};
  for (const char* text :
       {"f32[1,12,10,10] f32[20,3,5,5]! f32[20]! group=4 pads=[2,2,2,2]", "f32[2,33,9,8] f32[66,1,3,3]! f32[66]! group=33 pads=[1,1,1,1]",
        "f32[1,6,9,9] f32[9,2,3,3]! group=3 dilations=[2,2] pads=[2,2,2,2]", "f32[3,40,11] f32[24,5,3]! f32[24]! group=8 strides=[2]",
        "f32[1,4,5,6,7] f32[14,2,3,1,2]! group=2 pads=[2,0,1,2,0,1]", "f32[1,14,3,3] f32[14,7,6,6]! group=2 pads=[5,4,3,6]"})
    check_f32(cpu_conv_grouped(), {"Conv", text}, 2e-6, small_blocks);
  check_f32(cpu_conv_grouped(),
            {"Conv", "f32[1,12,5,5] f32[20,3,3,3]! f32[20]! group=4", "(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2"}, 1e-5,
            small_blocks);
}

TEST(ConvFirst, WindowsOfPlainAndChannelsLastInput) {
  for (const char* text :
       {"f32[1,3,11,9] f32[8,3,3,3]! f32[8]! pads=[1,1,1,1]", "f32[2,3,17,15] f32[40,3,7,7]! pads=[3,3,3,3] strides=[2,2]",
        "f32[1,1,6,7,8] f32[17,1,3,3,3]! f32[17]! pads=[1,1,1,1,1,1]", "f32[1,4,50] f32[6,4,10]! strides=[5]",
        "f32[1,2,9,8] f32[5,2,3,2]! pads=[4,5,6,7] dilations=[2,1]", "f32[1,3,9,10] f32[5,3,2,2]! strides=[3,3]",
        "f32[2,2,9,20] f32[9,2,5,3]! f32[9]! pads=[2,1,3,3] dilations=[1,2]",
        "f32[1,11,30] f32[3,11,4]! pads=[5,4] dilations=[3] strides=[2]"})
    check_f32(cpu_conv_first(), {"Conv", text}, 2e-6, {{0, 7, 16}, {1, 13, 32}});
  check_f32(cpu_conv_first(),
            {"Conv", "f32[1,3,11,9] f32[21,3,3,3]! f32[21]! pads=[1,1,1,1]", "(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2"}, 1e-5);
}

// Every number of filters up to what a block of registers holds, strides whose phases are used in part, windows that lie in the padding.
TEST(ConvNchw, Windows) {
  const std::vector<Config> odd_parts = {{0, 1, 3}, {0, 3, 5}, {0, 2, 100}, {1, 1, 17}, {1, 4, 7}, {1, 100, 100}};
  CaseShare share;
  for (const int filters : {1, 2, 3, 4, 5, 6, 7, 9, 11, 15})
    if (share.next())
      check_f32(cpu_conv_nchw(), {"Conv", cat("f32[2,2,9,23] f32[", filters, ",2,3,2]! f32[", filters, "]! pads=[1,1,1,1]")}, 2e-6,
              odd_parts);
  for (const char* text :
       {"f32[1,3,11,9] f32[8,3,3,3]! f32[8]! pads=[1,1,1,1]", "f32[2,1,92,150] f32[1,1,1,1]!",
        "f32[3,7,41] f32[1,7,3]! strides=[3] pads=[1,1]",
        "f32[1,9,20,20] f32[2,9,6,6]! pads=[3,5,3,5] dilations=[1,2]", "f32[2,11,163] f32[3,11,2]! f32[3]!",
        "f32[1,1,6,7,8] f32[7,1,3,3,3]! f32[7]! pads=[1,1,1,1,1,1] strides=[2,1,3]", "f32[1,5,9,10] f32[5,5,2,2]! strides=[3,3]",
        "f32[1,2,9,8] f32[5,2,3,2]! pads=[4,5,6,7] dilations=[2,1]", "f32[1,4,3,3] f32[5,4,3,3]! pads=[5,4,3,6]",
        "f32[2,6,9,31] f32[6,1,2,2]! f32[6]! group=6 strides=[2,2] pads=[1,1,1,1]",
        "f32[1,6,9,9] f32[9,2,3,3]! group=3 dilations=[2,3] strides=[3,2]",
        "f32[1,8,4,5,40] f32[5,8,1,1,1]! strides=[1,2,1]", "f32[0,4,3,3] f32[5,4,3,3]!", "f32[1,2,0,5] f32[3,2,1,1]!"})
    if (share.next()) check_f32(cpu_conv_nchw(), {"Conv", text}, 2e-6, odd_parts);
}

TEST(ConvNchw, Epilogues) {
  const std::string text = "f32[2,3,9,23] f32[5,3,3,3]! f32[5]! pads=[1,1,1,1]";
  const std::vector<Config> odd_parts = {{0, 2, 9}, {1, 2, 100}, {1, 3, 20}};
  check_f32(cpu_conv_nchw(), {"Conv", text, "(f32) %1=constant.f32(0) %2=max.f32(%0,%1) %3=constant.f32(1) %4=min.f32(%2,%3) -> %4"},
            2e-6, odd_parts);
  check_f32(cpu_conv_nchw(), {"Conv", text, "(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2"}, 1e-5, odd_parts);
  check_f32(cpu_conv_nchw(), {"Conv", text, "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[2,5,9,23]"}}, 1e-5, odd_parts);
  check_f32(cpu_conv_nchw(),
            {"Conv", "f32[1,1,1,3]{nan,1,2} f32[2,1,1,1]!", "(f32) %1=constant.f32(0) %2=max.f32(%0,%1) -> %2"});
}

// Groups of one channel and of several, blocks of filters that parts share, lines cut anywhere.
TEST(ConvPlain, Windows) {
  const std::vector<Config> odd_parts = {{0, 1, 3, 1}, {0, 3, 5, 2}, {0, 2, 100, 3}, {1, 1, 17, 1}, {1, 4, 7, 4}, {1, 100, 100, 100}};
  CaseShare share;
  for (const char* text :
       {"f32[1,8,12,12] f32[8,1,3,3]! f32[8]! group=8 pads=[1,1,1,1]", "f32[2,37,9,8] f32[37,1,3,3]! group=37 pads=[1,1,1,1] strides=[2,2]",
        "f32[1,7,11,40] f32[7,1,7,7]! f32[7]! group=7 pads=[3,3,3,3]", "f32[1,17,30] f32[17,1,7]! group=17 pads=[3,3] dilations=[2]",
        "f32[2,3,13,70] f32[3,1,5,3]! f32[3]! group=3 pads=[2,4,2,0] dilations=[1,2] strides=[1,2]",
        "f32[1,2,6,130] f32[2,1,3,3]! group=2 pads=[1,1,1,1]", "f32[1,2,5,7] f32[2,1,7,1]! f32[2]! group=2 pads=[3,0,2,0]",
        "f32[1,5,5,6,7] f32[15,1,3,3,3]! group=5 pads=[1,1,1,1,1,1] strides=[1,2,1]",
        "f32[2,4,20] f32[6,4,5]! f32[6]! strides=[3] pads=[2,1]", "f32[1,12,163] f32[13,12,3]! f32[13]! pads=[4,4] dilations=[4]",
        "f32[1,6,9,9] f32[9,2,3,3]! group=3 dilations=[2,3] strides=[3,2]", "f32[2,6,50] f32[10,3,1]! group=2",
        "f32[1,4,3,3] f32[10,2,3,3]! group=2 pads=[5,4,3,6]", "f32[0,4,3,3] f32[4,1,3,3]! group=4", "f32[1,2,0,5] f32[4,1,1,1]! group=2"})
    if (share.next()) check_f32(cpu_conv_plain(), {"Conv", text}, 2e-6, odd_parts);
}

TEST(ConvPlain, Epilogues) {
  const std::string text = "f32[2,3,9,23] f32[6,1,3,3]! f32[6]! group=3 pads=[1,1,1,1]";
  const std::vector<Config> odd_parts = {{0, 2, 9, 1}, {1, 2, 100, 2}, {1, 3, 20, 3}};
  check_f32(cpu_conv_plain(), {"Conv", text, "(f32) %1=constant.f32(0) %2=max.f32(%0,%1) %3=constant.f32(1) %4=min.f32(%2,%3) -> %4"},
            2e-6, odd_parts);
  check_f32(cpu_conv_plain(), {"Conv", text, "(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2"}, 1e-5, odd_parts);
  check_f32(cpu_conv_plain(), {"Conv", text, "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[2,6,9,23]"}}, 1e-5, odd_parts);
  check_f32(cpu_conv_plain(),
            {"Conv", "f32[1,1,3]{nan,1,2} f32[2,1,1]!", "(f32) %1=constant.f32(0) %2=max.f32(%0,%1) -> %2"});
  for (const char* body : {"(f32) %1=constant.f32(0) %2=max.f32(%0,%1) -> %2", "(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2"})
    check_f32(cpu_conv_plain(), {"Conv", "f32[2,3,9,23] f32[3,1,7,7]! f32[3]! group=3 pads=[3,3,3,3]", body}, 1e-5, odd_parts);
}

// Vectors that begin in every column of a row, groups, lines with steps between positions, and ends of every length.
TEST(ConvSpread, FewChannels) {
  const std::vector<Config> odd_parts = {{0, 1}, {0, 5}, {0, 1000}};
  for (const char* text :
       {"f32[2,1,591] f32[7,1,1]!", "f32[1,4,13,9] f32[8,4,1,1]! strides=[3,1]", "f32[3,2,9,10] f32[4,1,1,1]! group=2",
        "f32[2,3,5,6,7] f32[3,1,1,1,1]! f32[3]! group=3", "f32[1,2,7,19] f32[9,2,1,1]! f32[9]! strides=[1,2]",
        "f32[1,1,40] f32[150,1,1]! f32[150]!", "f32[3,57,10,10] f32[57,1,1,1]! group=57 strides=[3,1]", "f32[1,3,5] f32[14,3,1]! f32[14]!"})
    check_f32(cpu_conv_spread(), {"Conv", text}, 2e-6, odd_parts);
  for (int width = 1; width <= 40; ++width) check_f32(cpu_conv_spread(), {"Conv", cat("f32[1,2,2,", width, "] f32[3,2,1,1]! f32[3]!")});
  const std::string text = "f32[2,2,6,7] f32[5,2,1,1]! f32[5]!";
  check_f32(cpu_conv_spread(), {"Conv", text, "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[2,5,6,7]"}},
            2e-6, odd_parts);
  check_f32(cpu_conv_spread(), {"Conv", text, "(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2"}, 1e-5, odd_parts);
}

TEST(ConvWinograd, WindowsAndEpilogues) {
  for (const char* text : {"f32[1,16,8,8] f32[24,16,3,3]! f32[24]! pads=[1,1,1,1]", "f32[2,9,11,7] f32[13,9,3,3]! pads=[0,1,2,1]",
                           "f32[1,40,3,3] f32[65,40,3,3]!", "f32[1,64,14,14] f32[32,64,3,3]! pads=[1,1,1,1]"})
    check_f32(cpu_conv_winograd(), {"Conv", text}, 2e-5,
              {{0, 5, 3, 0}, {0, 1, 1, 0}, {1, 7, 2, 0}, {0, 9, 4, 0}, {0, 5, 3, 1}, {1, 7, 2, 1}});
  const std::string text = "f32[2,10,5,7] f32[21,10,3,3]! f32[21]! pads=[1,1,1,1]";
  for (const Config& form : std::vector<Config>{{0, 5, 3, 0}, {0, 3, 1, 1}, {1, 5, 2, 1}}) {
    check_f32(cpu_conv_winograd(),
              {"Conv", text, "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[2,21,5,7]"}}, 2e-5, {form});
    check_f32(cpu_conv_winograd(), {"Conv", text, "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[2,21,5,7]"}}, 2e-5, {form});
  }
}

TEST(ConvWinograd, Volumes) {
  const std::vector<Config> blockings{{0, 5, 3, 2}, {0, 1, 1, 2}, {1, 7, 2, 2}};
  for (const char* text : {"f32[1,16,4,6,8] f32[24,16,3,3,3]! f32[24]! pads=[1,1,1,1,1,1]",
                           "f32[2,9,5,7,6] f32[13,9,3,3,3]! pads=[0,1,2,1,0,1]", "f32[1,33,3,3,3] f32[40,33,3,3,3]!"})
    check_f32(cpu_conv_winograd(), {"Conv", text}, 8e-6, blockings);
  const std::string text = "f32[2,10,3,5,7] f32[21,10,3,3,3]! f32[21]! pads=[1,1,1,1,1,1]";
  check_f32(cpu_conv_winograd(),
            {"Conv", text, "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[2,21,3,5,7]"}}, 8e-6, blockings);
  check_f32(cpu_conv_winograd(), {"Conv", text, "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[2,21,3,5,7]"}}, 8e-6, blockings);
}

TEST(Conv, RefusalsNameTheReason) {
  for (const char* text : {"f32[1,3,8,8] f32[4,3,3,3]", "f64[1,3,8,8] f64[4,3,3,3]!", "f32[1,4,8,8] f32[8,1,3,3]! group=4"}) {
    F32Problem problem({"Conv", text});
    TacticRun run(cpu_conv_depthwise(), problem.graph, kAvx2);
    run.use({std::vector<Layout>(run.problem.in.size(), kChannelsLast), {kChannelsLast}});
    EXPECT_FALSE(cpu_conv_depthwise().supports(run.problem).reason.empty()) << text;
  }
  F32Problem problem({"Conv", "f32[1,3,8,8] f32[4,3,3,3]!"});
  EXPECT_FALSE(cpu_conv_igemm().supports(TacticRun(cpu_conv_igemm(), problem.graph, kAvx2).problem).yes) << "plain input";
}

}  // namespace
}  // namespace tenfold::backends
