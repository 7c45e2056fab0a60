// The bf16 tactics against the reference on operands that bf16 holds exactly, so that only the order of sums may differ; they
// need a CPU with AMX.
#include "backends/cpu/gemm/bf16/bf16_epilogue.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_for_tests.h"
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_matmul_amx_bf16();
Tactic cpu_matmul_gemv_bf16();
Tactic cpu_conv_amx_bf16();
Tactic cpu_conv_transpose_amx_bf16();
Tactic cpu_matmul_batched_amx_bf16();
namespace {

using namespace testing;

// Numbers that bf16 holds, so that products are exact.
void make_coarse(F32Problem& problem) {
  for (std::size_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; problem.operands[i].dtype() == DType::f32 && j < problem.operands[i].size(); ++j) {
      float& v = problem.operands[i].mutable_data<float>()[j];
      v = std::round(v * 32) / 16;
    }
}

void check_one(const Tactic& tactic, const F32Case& c) {
  SCOPED_TRACE(c.text);
  F32Problem problem(c);
  make_coarse(problem);
  check_on_this_cpu(tactic, problem, problem.truth().dtype() == DType::bf16 ? 8e-3 : 2e-6, AmxOrPortable::features());
  if (tactic.packed_bytes) check_unpacks(tactic, problem);
}

// f32 operands that may be rounded, and operands of bf16.
void check(const Tactic& tactic, const char* op, std::string text, std::string body = "", std::vector<std::string> extra = {}) {
  check_one(tactic, {op, text + " numerics={round_to=bf16}", body, extra});
  const auto narrow = [](std::string s) {
    for (std::size_t at; (at = s.find("f32")) != std::string::npos;) s.replace(at, 3, "bf16");
    return s;
  };
  for (std::string& e : extra) e = narrow(e);
  check_one(tactic, {op, narrow(text), narrow(body), extra});
}

TEST(AmxBf16, Products) {
  const AmxOrPortable kernels;
  for (const char* text :
       {"f32[1,32] f32[32,32]!", "f32[5,7] f32[7,3]!", "f32[33,70] f32[70,65]!", "f32[130,384] f32[384,100]!", "f32[2,40,96] f32[96,48]!"})
    check(cpu_matmul_amx_bf16(), "MatMul", text);
  check(cpu_matmul_amx_bf16(), "MatMul", "f32[21,70] f32[70,45]!",
        "(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%2,%3) %5=constant.f32(0) %6=max.f32(%4,%5) -> %6", {"f32[45]!", "f32[21,45]"});
  check(cpu_matmul_amx_bf16(), "MatMul", "f32[21,70] f32[70,45]!", "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[21,45]"});
  check(cpu_matmul_amx_bf16(), "MatMul", "f32[21,70] f32[70,45]!",
        "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(1.4142135) %4=div.f32(%2,%3) %5=erf.f32(%4) %6=constant.f32(1) %7=add.f32(%5,%6) "
        "%8=mul.f32(%2,%7) %9=constant.f32(0.5) %10=mul.f32(%8,%9) -> %10",
        {"f32[45]!"});
}

TEST(AmxBf16, ProductsOfFewRows) {
  if (!has_amx()) GTEST_SKIP() << "this CPU has no AMX";
  for (const char* text : {"f32[1,32] f32[32,32]!", "f32[2,7] f32[7,3]!", "f32[1,70] f32[70,165]!", "f32[130] f32[130,250]!"})
    check(cpu_matmul_gemv_bf16(), "MatMul", text);
  check(cpu_matmul_gemv_bf16(), "MatMul", "f32[2,256] f32[256,300]!",
        "(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%2,%3) %5=constant.f32(0) %6=max.f32(%4,%5) -> %6", {"f32[300]!", "f32[2,300]"});
  check(cpu_matmul_gemv_bf16(), "MatMul", "f32[1,70] f32[70,45]!", "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[1,45]"});
}

TEST(AmxBf16, GeluEndsInRegisters) {
  const auto is_simple = [](const char* body) {
    const F32Problem problem({"MatMul", "bf16[5,7] bf16[7,3]!", body, {"bf16[3]!"}});
    return cpu::Bf16Epilogue(TacticRun(cpu_matmul_amx_bf16(), problem.graph, 63).problem, 1).simple();
  };
  EXPECT_TRUE(is_simple("(bf16,bf16) %2=add.bf16(%0,%1) %3=constant.bf16(0.70703125) %4=mul.bf16(%2,%3) %5=erf.bf16(%4) "
                        "%6=constant.bf16(1) %7=add.bf16(%5,%6) %8=mul.bf16(%2,%7) %9=constant.bf16(0.5) %10=mul.bf16(%8,%9) -> %10"));
  EXPECT_FALSE(is_simple("(bf16,bf16) %2=add.bf16(%0,%1) %3=erf.bf16(%2) -> %3"));
}

TEST(AmxBf16, Convolutions) {
  const AmxOrPortable kernels;
  for (const char* text :
       {"f32[2,16,14,14] f32[24,16,1,1]! f32[24]!", "f32[1,64,9,5] f32[33,64,1,1]!",
        "f32[1,3,17,15] f32[8,3,3,3]! pads=[0,1,2,1] strides=[2,2]", "f32[1,64,9,9] f32[70,64,3,3]! f32[70]! pads=[1,1,1,1]",
        "f32[1,5,6,5,4] f32[33,5,3,1,2]! pads=[1,0,0,1,0,1]", "f32[2,3,23,21] f32[40,3,7,7]! f32[40]! pads=[3,3,3,3] strides=[2,2]",
        "f32[1,1,6,7,8] f32[32,1,3,3,3]! pads=[1,1,1,1,1,1]", "f32[1,64,10,11] f32[32,64,1,1]! strides=[2,2]",
        "f32[1,32,13,12] f32[32,32,3,3]! pads=[2,2,2,2] dilations=[2,2]", "f32[1,32,6,16] f32[8,32,3,3]! pads=[1,1,1,1]",
        "f32[2,5,17,6,7] f32[40,5,3,3,3]! f32[40]! pads=[1,1,1,1,1,1]", "f32[1,33,18,16,32] f32[9,33,2,3,3]! pads=[0,1,1,1,1,1]",
        "f32[1,20,16,17] f32[9,20,5,3]! pads=[1,4,0,2] strides=[3,2] dilations=[2,3]", "f32[1,32,9] f32[8,32,4]! pads=[3,3]",
        "f32[1,64,17,19] f32[96,64,1,1]! f32[96]!", "f32[1,64,5,7] f32[512,64,1,1]!"})   // cut by rows, and by columns, among three workers
    check(cpu_conv_amx_bf16(), "Conv", text);
  check(cpu_conv_amx_bf16(), "Conv", "f32[2,32,9,11] f32[64,32,1,1]! f32[64]!",
        "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[2,64,9,11]"});
  check(cpu_conv_amx_bf16(), "Conv", "f32[1,40,6,7] f32[45,40,3,3]! f32[45]! pads=[1,1,1,1]",
        "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[1,45,6,7]"});
  check(cpu_conv_amx_bf16(), "Conv", "f32[1,40,6,7] f32[45,40,3,3]! f32[45]! pads=[1,1,1,1]", "(f32,f32) %2=mul.f32(%0,%1) -> %2",
        {"f32[1,45,6,7]"});
}

// One to eight steps of k times whole pairs of panels: strips of rows of which some are whole, some ragged, and lines that end inside.
TEST(AmxBf16, Strips) {
  const AmxOrPortable kernels;
  const std::string sum = "(bf16,bf16) %2=add.bf16(%0,%1) %3=constant.bf16(0) %4=max.bf16(%2,%3)";
  for (const int channels : {32, 64, 70, 100, 160, 256}) {
    const std::string weights = std::to_string(channels) + ",1,1]! bf16[128]!";
    check_one(cpu_conv_amx_bf16(), {"Conv", "bf16[1," + std::to_string(channels) + ",9,13] bf16[128," + weights});
    check_one(cpu_conv_amx_bf16(), {"Conv", "bf16[2," + std::to_string(channels) + ",4,8] bf16[128," + weights, sum + " -> %4",
                                    {"bf16[2,128,4,8]"}});
    check_one(cpu_conv_amx_bf16(), {"Conv", "bf16[1," + std::to_string(channels) + ",3,5] bf16[128," + weights,
                                    sum + " %5=constant.bf16(2) %6=min.bf16(%4,%5) -> %6", {"bf16[1,128,3,5]"}});
  }
  for (const char* text : {"bf16[1,3,23,70] bf16[64,3,7,7]! bf16[64]! pads=[3,3,3,3] strides=[2,2]", "bf16[2,8,9,64] bf16[64,8,3,3]!",
                           "bf16[1,3,20,67] bf16[192,3,7,7]! pads=[3,3,3,3] strides=[2,2]", "bf16[1,32,3,6,16] bf16[64,32,2,1,3]!"})
    check_one(cpu_conv_amx_bf16(), {"Conv", text});
  check_one(cpu_matmul_amx_bf16(), {"MatMul", "bf16[37,96] bf16[96,192]!", "(bf16,bf16) %2=add.bf16(%0,%1) -> %2", {"bf16[192]!"}});
}

TEST(AmxBf16, TransposedConvolutions) {
  const AmxOrPortable kernels;
  for (const char* text : {"f32[1,20,5,4] f32[20,17,2,2]! f32[17]! strides=[2,2]", "f32[2,32,3,4,5] f32[32,33,2,2,2]! strides=[2,2,2]",
                           "f32[1,6,9] f32[6,5,3]! f32[5]! strides=[3]", "f32[1,64,3,4] f32[64,40,1,3]! strides=[1,3]"})
    check(cpu_conv_transpose_amx_bf16(), "ConvTranspose", text);
  check(cpu_conv_transpose_amx_bf16(), "ConvTranspose", "f32[2,10,3,4] f32[10,21,2,2]! f32[21]! strides=[2,2]",
        "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[2,21,6,8]"});
}

TEST(AmxBf16, Stacks) {
  const AmxOrPortable kernels;
  for (const char* text : {"bf16[5,7] bf16[7,3]", "bf16[2,3,4,5] bf16[3,5,6]", "bf16[2,1,9,64] bf16[1,4,64,33]", "bf16[4,5] bf16[3,5,6]",
                           "bf16[3,17,40] bf16[40,50]", "bf16[2,12,131,64] bf16[2,12,64,31]", "bf16[2,3,0] bf16[2,0,5]",
                           "bf16[0,3,4] bf16[0,4,5]"})
    check_one(cpu_matmul_batched_amx_bf16(), {"MatMul", text});
  check_one(cpu_matmul_batched_amx_bf16(),
            {"MatMul", "bf16[2,9,20] bf16[2,20,30]", "(bf16,bf16) %2=add.bf16(%0,%1) -> %2", {"bf16[2,1,30]"}});
}

// What pads a window to whole steps is multiplied by zeros, but zero times infinity is no number.
TEST(AmxBf16, InfinityStaysInItsWindows) {
  const AmxOrPortable kernels;
  for (const char* text : {"bf16[1,3,8,40] bf16[8,3,3,3]! pads=[1,1,1,1]", "bf16[1,3,9,41] bf16[8,3,5,5]! strides=[2,2]",
                           "bf16[1,40,6,7] bf16[8,40,3,3]! pads=[1,1,1,1]", "bf16[1,1,6,40] bf16[8,1,3,3]!"}) {
    F32Problem problem({"Conv", text});
    constexpr std::uint16_t kInfinity = 0x7f80;
    static_cast<std::uint16_t*>(problem.operands[0].mutable_raw())[problem.operands[0].size() / 2] = kInfinity;
    const Tensor truth = problem.truth();
    const Tactic tactic = cpu_conv_amx_bf16();
    TacticRun run(tactic, problem.graph, kernels.features());
    run.use(tactic.formats(run.problem).front());
    Serial serial;
    const Tensor y = run.run(tactic.configs(run.problem)[0], problem.operands, serial)[0];
    int infinite = 0, spoiled = 0;
    for (std::int64_t i = 0; i < y.size(); ++i) {
      infinite += !std::isfinite(truth.as_double(i));
      spoiled += std::isfinite(truth.as_double(i)) && !std::isfinite(y.as_double(i));
    }
    EXPECT_GT(infinite, 0) << text;
    EXPECT_EQ(spoiled, 0) << text;
  }
}

// Windows far apart would ask for copies of terabytes, and a plan for more than 64 bits count.
TEST(AmxBf16, RefusesEndlessCopies) {
  const Tactic tactic = cpu_conv_amx_bf16();
  F32Problem problem({"Conv", "bf16[1,40,6,7] bf16[8,40,3,3]! pads=[1,1,1,1]"});
  TacticRun run(tactic, problem.graph, 63);
  run.use(tactic.formats(run.problem).front());
  EXPECT_TRUE(tactic.valid(run.problem, {6, 32, 1, 1, 0}).yes);
  EXPECT_FALSE(tactic.valid(run.problem, {65536, 32, 1, 1024, 0}).yes);
  EXPECT_FALSE(tactic.valid(run.problem, {6, 32, 1, 1, 1}).yes);   // a plane alone does not roll
  F32Problem far(
      {"Conv", "bf16[1,40,2,2] bf16[8,40,2,2]! pads=[65536,65536,65536,65536] strides=[131072,131072] dilations=[131072,131072]"});
  TacticRun apart(tactic, far.graph, 63);
  apart.use(tactic.formats(apart.problem).front());
  EXPECT_FALSE(tactic.supports(apart.problem).yes);
}

TEST(AmxBf16, NeedsPermission) {
  F32Problem problem({"MatMul", "f32[5,7] f32[7,3]!"});
  EXPECT_FALSE(cpu_matmul_amx_bf16().supports(TacticRun(cpu_matmul_amx_bf16(), problem.graph, 63).problem).yes);
  F32Problem permitted({"MatMul", "f32[5,7] f32[7,3]! numerics={round_to=bf16}"});
  EXPECT_FALSE(cpu_matmul_amx_bf16().supports(TacticRun(cpu_matmul_amx_bf16(), permitted.graph, kAvx2).problem).yes) << "without AMX";
  EXPECT_TRUE(cpu_matmul_amx_bf16().supports(TacticRun(cpu_matmul_amx_bf16(), permitted.graph, 63).problem).yes);
}

}  // namespace
}  // namespace tenfold::backends
