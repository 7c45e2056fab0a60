// The 1x1 convolutions of f32 in three terms of bf16 against the reference, with a tolerance that two miss.
#include <bit>

#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_conv_pointwise_split();
namespace {

using namespace testing;

constexpr double kTolerance = 1e-6;  // relative to the largest value of the result; two terms give 4e-6

const char* const kConvolutions[] = {"f32[2,16,14,14] f32[24,16,1,1]! f32[24]!",
                                     "f32[1,64,9,5] f32[133,64,1,1]!",
                                     "f32[1,40,7,7] f32[330,40,1,1]! f32[330]!",
                                     "f32[1,300,13,9] f32[96,300,1,1]!",
                                     "f32[1,33,30,19] f32[47,33,1,1]! f32[47]!",
                                     "f32[1,5,6,5,4] f32[33,5,1,1,1]!",
                                     "f32[1,32,9] f32[8,32,1]!",
                                     "f32[1,130,1,1] f32[70,130,1,1]!"};

TEST(ConvPointwiseSplit, Convolutions) {
  if (!has_amx()) GTEST_SKIP() << "this CPU has no AMX";
  for (const char* text : kConvolutions) check_on_this_cpu(cpu_conv_pointwise_split(), {"Conv", text}, kTolerance);
  for (const char* text : {"f32[1,40,6,7] f32[145,40,1,1]! f32[145]!", "f32[2,150,16,17] f32[145,150,1,1]! f32[145]!"}) {
    const std::string type = text[4] == '1' ? "f32[1,145,6,7]" : "f32[2,145,16,17]";
    check_on_this_cpu(cpu_conv_pointwise_split(),
                      {"Conv", text, "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {type}}, kTolerance);
  }
}

constexpr std::int64_t kGuard = 1 << 16;
constexpr char kUntouched = 0x5a;

// The tactic with memory behind each worker's scratch that has to stay as it is.
Tactic guarded() {
  Tactic t = cpu_conv_pointwise_split();
  t.worker_scratch = [](const Problem& p, const Config& c) -> ir::Dim {
    return scratch_stride(cpu_conv_pointwise_split().worker_scratch(p, c).constant()) + kGuard;
  };
  t.run = [](const void* kernel, const RunArgs& args) noexcept {
    const std::int64_t size = args.scratch_stride - kGuard;
    for (int w = 0; w < args.parallel->workers(); ++w) std::fill_n(args.scratch_of<char>(w) + size, kGuard, kUntouched);
    const Status::Code code = cpu_conv_pointwise_split().run(kernel, args);
    for (int w = 0; w < args.parallel->workers(); ++w) {
      const char* const guard = args.scratch_of<char>(w) + size;
      EXPECT_EQ(std::count(guard, guard + kGuard, kUntouched), kGuard) << "writes behind its scratch";
    }
    return code;
  };
  return t;
}

// Pieces of more and of fewer columns than a group of panels has, of one step and of several.
TEST(ConvPointwiseSplit, StaysInItsScratch) {
  if (!has_amx()) GTEST_SKIP() << "this CPU has no AMX";
  for (const int channels : {16, 17, 32, 33, 100})
    for (const int filters : {48, 130, 144})
      check_on_this_cpu(guarded(), {"Conv", cat("f32[1,", channels, ",8,16] f32[", filters, ",", channels, ",1,1]!")}, kTolerance);
}

TEST(ConvPointwiseSplit, BoundsItsScratch) {
  F32Problem problem({"Conv", "f32[1,1024,2,2] f32[16,1024,1,1]!"});
  const Tactic tactic = cpu_conv_pointwise_split();
  TacticRun run(tactic, problem.graph, cpu::this_cpu().features);
  EXPECT_TRUE(tactic.valid(run.problem, {512, 16, 0}).yes);
  EXPECT_EQ(tactic.valid(run.problem, {1 << 16, 16, 0}).reason, "its scratch is too large");
}

TEST(ConvPointwiseSplit, WeightsComeBack) {
  for (const float value : {1.f, -0.f, 3e-42f, -1.2345678e-33f, 8.7654321e-32f, 1.9876543e-31f, -1.2345678e20f, -1.f,
                            std::numeric_limits<float>::infinity(), 3.4028235e38f}) {
    F32Problem problem({"Conv", value < 0 ? "f32[1,37,4,4] f32[19,37,1,1]!" : "f32[1,16,4,4] f32[19,16,1,1]!"});
    problem.operands[1].mutable_data<float>()[100] = value;
    SCOPED_TRACE(value);
    check_unpacks(cpu_conv_pointwise_split(), problem, Config{16, 32, 1});
  }
}

// Terms of infinity must not make numbers of other rows into none.
TEST(ConvPointwiseSplit, InfinityStaysInItsRow) {
  if (!has_amx()) GTEST_SKIP() << "this CPU has no AMX";
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float signalling = std::bit_cast<float>(0x7f800001u);  // its upper half alone is infinity
  for (const auto& [text, value] : std::vector<std::pair<const char*, float>>{{"f32[1,48,6,7] f32[40,48,1,1]!", kInfinity},
                                                                              {"f32[1,48,6,7] f32[40,48,1,1]!", -kInfinity},
                                                                              {"f32[1,48,6,7] f32[40,48,1,1]!", std::nanf("")},
                                                                              {"f32[1,48,6,7] f32[40,48,1,1]!", signalling},
                                                                              {"f32[1,14,6,7] f32[40,14,1,1]!", signalling},
                                                                              {"f32[1,14,6,7] f32[40,14,1,1]!", -kInfinity},
                                                                              {"f32[1,14,6,7] f32[40,14,1,1]!", std::nanf("")}}) {
    F32Problem problem({"Conv", text});
    problem.operands[0].mutable_data<float>()[problem.operands[0].size() / 2] = value;
    const Tensor truth = problem.truth();
    const Tactic tactic = cpu_conv_pointwise_split();
    TacticRun run(tactic, problem.graph, cpu::this_cpu().features);
    run.use(tactic.formats(run.problem).front());
    for (const Config& config : tactic.configs(run.problem)) {
      Serial serial;
      const Tensor y = run.run(config, problem.operands, serial)[0];
      EXPECT_EQ(check_special_values(y, truth), 40);
    }
  }
}

TEST(ConvPointwiseSplit, SaysWhatItRefuses) {
  const Tactic tactic = cpu_conv_pointwise_split();
  const auto reason = [&](const F32Case& c, std::uint32_t features) {
    F32Problem problem(c);
    TacticRun run(tactic, problem.graph, features);
    run.use(tactic.formats(run.problem).front());
    return tactic.supports(run.problem).reason;
  };
  EXPECT_EQ(reason({"Conv", "f32[1,4,6,7] f32[8,4,3,3]!"}, 63), "it is no 1x1 convolution without groups");
  EXPECT_EQ(reason({"Conv", "f32[1,4,6,7] f32[8,4,1,1]! strides=[2,2]"}, 63), "it has strides or pads");
  EXPECT_EQ(reason({"Conv", "f32[1,4,6,7] f32[8,4,1,1]!"}, kAvx2 | kAvx512), "this machine has no AMX");
  EXPECT_EQ(reason({"Conv", "bf16[1,4,6,7] bf16[8,4,1,1]!"}, 63), "operands are not f32");
  EXPECT_EQ(reason({"Conv", "f32[1,4,6,7] f32[8,4,1,1]!", "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[1,8,6,7]"}}, 63),
            "the epilogue is more than a bias, a residual and bounds");
}

}  // namespace
}  // namespace tenfold::backends
