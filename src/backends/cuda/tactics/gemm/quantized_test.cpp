// Products of 8 bits with the epilogues that quantized models give them: compiled for every architecture that claims them, and, where there
// is a GPU, compared with the reference kernels.
#include <cmath>
#include <optional>

#include "backends/cuda/backend.h"
#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/library.h"
#include "backends/cuda/tactics/one_node_for_tests.h"

namespace tenfold::backends {

namespace {

using testing::each_tactic;
using testing::OneNode;

struct QuantizedCase {
  std::string op, text;            // as in ops/cases.h; sums become operands of the body
  std::string body;                // ir::parse_body
  std::vector<std::string> extra;  // operands of the body
  DType out;
  double step;                     // of the result's type: relative to the value for e4m3, absolute for integers
};

const std::string kGeluOfSums =
    "(i32,f32) %2=cast.f32(%0) %3=mul.f32(%2,%1) %4=cast.f16(%3) %5=constant.f16(0.70710678) %6=mul.f16(%4,%5) %7=erf.f16(%6) "
    "%8=constant.f16(1) %9=add.f16(%7,%8) %10=mul.f16(%4,%9) %11=constant.f16(0.5) %12=mul.f16(%10,%11) %13=cast.f32(%12) ";

const QuantizedCase kCases[] = {
    {"MatMulFloat8", "f8e4m3fn[1100,272] f8e4m3fn[272,144]!",
     "(f32,f32,f16) %3=mul.f32(%0,%1) %4=cast.f16(%3) %5=add.f16(%4,%2) %6=constant.f16(0) %7=max.f16(%5,%6) %8=cast.f32(%7) "
     "%9=constant.f32(0.37) %10=div.f32(%8,%9) %11=cast.f8e4m3fn(%10) -> %11",
     {"f32[144](0.001,0.01)!", "f16[144](-3,3)!"}, DType::f8e4m3fn, 0.126},
    {"MatMulFloat8", "f8e4m3fn[1100,272] f8e4m3fn[272,144]!",
     "(f32,f32,f16,f16) %4=mul.f32(%0,%1) %5=cast.f16(%4) %6=add.f16(%5,%2) %7=add.f16(%6,%3) -> %7",
     {"f32[144](0.001,0.01)!", "f16[144](-3,3)!", "f16[1100,144](-3,3)"}, DType::f16, 0.004},
    {"MatMulFloat8", "f8e4m3fn[1100,272] f8e4m3fn[272,144]!", "(f32,f32) %2=mul.f32(%0,%1) -> %2",
     {"f32[144](0.001,0.01)!"}, DType::f32, 1e-3},
    {"MatMulInteger", "u8[1100,272] i8[272,144]! u8[]{131}",
     "(i32,f32,f32) %3=cast.f32(%0) %4=mul.f32(%3,%1) %5=add.f32(%4,%2) %6=constant.f32(0) %7=max.f32(%5,%6) %8=constant.f32(0.3) "
     "%9=div.f32(%7,%8) %10=round_even.f32(%9) %11=constant.f32(7) %12=add.f32(%10,%11) %13=saturate.u8(%12) -> %13",
     {"f32[144](0.0001,0.001)!", "f32[144](-9,9)!"}, DType::u8, 1},
    {"MatMulInteger", "i8[1100,272] i8[272,144]!",
     "(i32,f32,i8) %3=cast.f32(%0) %4=mul.f32(%3,%1) %5=cast.f32(%2) %6=constant.f32(0.25) %7=mul.f32(%5,%6) %8=add.f32(%4,%7) "
     "%9=constant.f32(0.3) %10=div.f32(%8,%9) %11=saturate.i8(%10) -> %11",
     {"f32[144](0.0001,0.001)!", "i8[1100,144]"}, DType::i8, 1},
    {"MatMulInteger", "u8[1100,272] i8[272,144]!", "(i32,f32) %2=cast.f32(%0) %3=mul.f32(%2,%1) %4=cast.f16(%3) -> %4",
     {"f32[144](0.0001,0.001)!"}, DType::f16, 0.004},
    // rows with scales of their own
    {"MatMulInteger", "i8[1100,272] i8[272,144]!",
     "(i32,f32,f32,f16) %4=cast.f32(%0) %5=mul.f32(%4,%1) %6=mul.f32(%5,%2) %7=cast.f16(%6) %8=add.f16(%7,%3) -> %8",
     {"f32[1100,1](0.01,0.1)", "f32[144](0.001,0.01)!", "f16[144](-3,3)!"}, DType::f16, 0.004},
    {"MatMulFloat8", "f8e4m3fn[1100,272] f8e4m3fn[272,144]!",
     "(f32,f32,f32,f16) %4=mul.f32(%0,%1) %5=mul.f32(%4,%2) %6=cast.f16(%5) %7=add.f16(%6,%3) -> %7",
     {"f32[1100,1](0.01,0.1)", "f32[144](0.01,0.1)!", "f16[1100,144](-3,3)"}, DType::f16, 0.004},
    // GELU between two products, and its bytes: see gemm_wgmma_strips.cuh
    {"MatMulInteger", "i8[1100,272] i8[272,144]!", kGeluOfSums + "%14=constant.f32(0.02) %15=div.f32(%13,%14) %16=round_even.f32(%15) "
     "%17=saturate.i8(%16) -> %17", {"f32[144](0.00001,0.00005)!"}, DType::i8, 1},
    {"MatMulInteger", "u8[1100,272] i8[272,144]!", kGeluOfSums + "%14=constant.f32(0.01) %15=div.f32(%13,%14) %16=round_even.f32(%15) "
     "%17=constant.f32(17) %18=add.f32(%16,%17) %19=saturate.u8(%18) -> %19", {"f32[144](0.00001,0.00005)!"}, DType::u8, 1},
    {"MatMulFloat8", "f8e4m3fn[1100,272] f8e4m3fn[272,144]!", "(f32,f32) %2=mul.f32(%0,%1) %3=cast.f16(%2) %4=constant.f16(0.70710678) "
     "%5=mul.f16(%3,%4) %6=erf.f16(%5) %7=constant.f16(1) %8=add.f16(%6,%7) %9=mul.f16(%3,%8) %10=constant.f16(0.5) %11=mul.f16(%9,%10) "
     "%12=cast.f32(%11) %13=constant.f32(0.006) %14=div.f32(%12,%13) %15=cast.f8e4m3fn(%14) -> %15", {"f32[144](0.001,0.01)!"},
     DType::f8e4m3fn, 0.126},
    // sums of few products, which become floats without the conversion unit; rows of 64 bytes; a shortcut in bytes of another sign
    {"ConvInteger", "u8[6,64,19,17] i8[80,64,1,1]!",
     "(i32,f32,i8) %3=cast.f32(%0) %4=mul.f32(%3,%1) %5=cast.f32(%2) %6=constant.f32(0.25) %7=mul.f32(%5,%6) %8=add.f32(%4,%7) "
     "%9=constant.f32(0.3) %10=div.f32(%8,%9) %11=round_even.f32(%10) %12=saturate.u8(%11) -> %12",
     {"f32[80,1,1](0.0001,0.001)!", "i8[6,80,19,17]"}, DType::u8, 1},
    {"ConvInteger", "i8[6,48,19,17] i8[80,48,3,3]! pads=[1,1,1,1]",
     "(i32,f32) %2=cast.f32(%0) %3=mul.f32(%2,%1) %4=constant.f32(0.3) %5=div.f32(%3,%4) %6=round_even.f32(%5) %7=saturate.i8(%6) -> %7",
     {"f32[80,1,1](0.0001,0.001)!"}, DType::i8, 1},
    // a first convolution, which multiplies floats
    {"Conv", "f16[3,3,41,37] f16[64,3,7,7]! pads=[3,3,3,3] strides=[2,2]",
     "(f16) %1=constant.f16(0) %2=max.f16(%0,%1) %3=cast.f32(%2) %4=constant.f32(0.05) %5=div.f32(%3,%4) %6=round_even.f32(%5) "
     "%7=saturate.u8(%6) -> %7", {}, DType::u8, 1},
    {"ConvInteger", "u8[6,64,19,17] i8[80,64,3,3]! u8[]{9} pads=[1,1,1,1]",
     "(i32,f32,u8) %3=cast.f32(%0) %4=mul.f32(%3,%1) %5=cast.f32(%2) %6=constant.f32(0.25) %7=mul.f32(%5,%6) %8=add.f32(%4,%7) "
     "%9=constant.f32(0.3) %10=div.f32(%8,%9) %11=round_even.f32(%10) %12=saturate.u8(%11) -> %12",
     {"f32[80,1,1](0.0001,0.001)!", "u8[6,80,19,17]"}, DType::u8, 1},
    {"ConvInteger", "u8[6,64,19,17] i8[80,64,3,3]! pads=[1,1,1,1]",
     "(i32,f32) %2=cast.f32(%0) %3=mul.f32(%2,%1) %4=constant.f32(0.3) %5=div.f32(%3,%4) %6=round_even.f32(%5) %7=saturate.i8(%6) -> %7",
     {"f32[80,1,1](0.0001,0.001)!"}, DType::i8, 1},
    {"ConvInteger", "u8[6,80,19,17] i8[80,1,3,3]! u8[]{9} group=80 pads=[1,1,1,1]",
     "(i32,f32) %2=cast.f32(%0) %3=mul.f32(%2,%1) %4=constant.f32(0.3) %5=div.f32(%3,%4) %6=round_even.f32(%5) %7=saturate.i8(%6) -> %7",
     {"f32[80,1,1](0.001,0.01)!"}, DType::i8, 1},
    {"ConvFloat8", "f8e4m3fn[6,64,19,17] f8e4m3fn[80,64,3,3]! pads=[1,1,1,1]",
     "(f32,f32,f8e4m3fn) %3=mul.f32(%0,%1) %4=cast.f32(%2) %5=constant.f32(0.25) %6=mul.f32(%4,%5) %7=add.f32(%3,%6) %8=constant.f32(0) "
     "%9=max.f32(%7,%8) %10=constant.f32(0.37) %11=div.f32(%9,%10) %12=cast.f8e4m3fn(%11) -> %12",
     {"f32[80,1,1](0.001,0.01)!", "f8e4m3fn[6,80,19,17]"}, DType::f8e4m3fn, 0.126},
    {"FusedAttention", "f16[2,3,70,64] f16[2,3,90,64] f16[2,3,90,64] f16[2,1,1,90] scale=0.125",
     "(f16) %1=cast.f32(%0) %2=constant.f32(0.02) %3=div.f32(%1,%2) %4=cast.f8e4m3fn(%3) -> %4", {}, DType::f8e4m3fn, 0.126},
    {"FusedAttention", "bf16[2,2,130,40] bf16[2,2,300,40] bf16[2,2,300,40] scale=0.2",
     "(bf16) %1=cast.f32(%0) %2=constant.f32(0.02) %3=div.f32(%1,%2) %4=cast.f8e4m3fn(%3) -> %4", {}, DType::f8e4m3fn, 0.126},
    {"FusedAttention", "f16[1,4,65,128] f16[1,2,65,128] f16[1,2,65,128] scale=0.1 causal=1",
     "(f16) %1=cast.f32(%0) %2=constant.f32(0.01) %3=div.f32(%1,%2) %4=round_even.f32(%3) %5=constant.f32(9) %6=add.f32(%4,%5) "
     "%7=saturate.u8(%6) -> %7", {}, DType::u8, 1},
    {"AttentionFloat8", "f8e4m3fn[2,3,70,64] f8e4m3fn[2,3,90,64] f8e4m3fn[2,3,90,64] f32[2,1,1,90](-3,3) scale=0.01 value_scale=0.1",
     "(f32) %1=cast.f16(%0) -> %1", {}, DType::f16, 0.001},
    {"AttentionFloat8", "f8e4m3fn[1,4,65,32] f8e4m3fn[1,2,65,32] f8e4m3fn[1,2,65,32] scale=0.01 causal=1",
     "(f32) %1=constant.f32(0.05) %2=div.f32(%0,%1) %3=cast.f8e4m3fn(%2) -> %3", {}, DType::f8e4m3fn, 0.126},
};

TEST(CudaQuantized, EpiloguesCompile) {
  cuda::add_search_place(TENFOLD_SOURCE_DIR "/build/venv");
  if (const std::string why = cuda::compiler_why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  for (const QuantizedCase& c : kCases) {
    SCOPED_TRACE(cat(c.op, " ", c.text, " ", c.body));
    const OneNode one(c.op, c.text, c.body, c.extra);
    for (int arch : {75, 80, 89, 90, 120}) {
      const DeviceInfo device = testing::compile_only(arch);
      int opened = 0;
      each_tactic(one, device, [&](const Tactic& tactic, const testing::TacticRun& run) {
        opened += !tactic.name.ends_with("_elements");   // those take everything
        EXPECT_NO_THROW(testing::opened(tactic, run.problem, tactic.configs(run.problem).front()))
            << tactic.name << " for sm_" << arch;
      });
      const bool refused = c.op.ends_with("Float8") && arch < 89;
      const bool padded = c.text.find("]{9}") != std::string::npos;
      if (c.op == "AttentionFloat8") EXPECT_EQ(opened, arch < 89 ? 1 : 2) << "for sm_" << arch;
      else if (c.op == "Conv") EXPECT_GE(opened, 2) << "conv_small_c and conv_mma, for sm_" << arch;
      else EXPECT_EQ(opened, refused ? 0 : arch == 90 && !padded ? 2 : 1) << "for sm_" << arch;
    }
  }
}

// What an error of one sixteenth of each weight of the softmax, which kernels round to e4m3, makes of a sum in which values cancel:
// the same attention of absolute values. Nothing for other operators.
std::optional<Tensor> magnitudes_of(const QuantizedCase& c) {
  if (c.op != "AttentionFloat8") return std::nullopt;
  OneNode positive(c.op, c.text, c.body, c.extra);
  auto* bytes = static_cast<std::uint8_t*>(positive.operands[2].mutable_raw());
  for (std::int64_t i = 0; i < positive.operands[2].size(); ++i) bytes[i] &= 0x7f;
  return positive.reference();
}

TEST(CudaQuantized, EpiloguesAgreeWithTheReference) {
  std::string lacks;
  if (cuda_devices(lacks).empty()) GTEST_SKIP() << "no GPU: " << lacks;
  const std::shared_ptr<Backend> backend = open_backend("cuda");
  for (const QuantizedCase& c : kCases) {
    const OneNode one(c.op, c.text, c.body, c.extra);
    const Tensor expected = one.reference();
    const std::optional<Tensor> magnitudes = magnitudes_of(c);
    each_tactic(one, backend->info(), [&](const Tactic& tactic, const testing::TacticRun& run) {
      for (const Config& config : tactic.configs(run.problem)) {
        SCOPED_TRACE(cat(tactic.name, " on ", run.problem.line()));
        testing::OnStream stream(*backend);
        const Tensor got = run.run(config, one.operands, stream)[0];
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < expected.size(); ++i) {
          const double g = got.as_double(i), w = expected.as_double(i);
          const double of_weights = magnitudes ? magnitudes->as_double(i) / 16 : 0;
          wrong += !(std::fabs(g - w) <= of_weights + c.step * (is_float(c.out) ? std::max(std::fabs(w), 0.5) : 1));
        }
        EXPECT_EQ(wrong, 0) << "of " << expected.size();
      }
    });
  }
}

}  // namespace
}  // namespace tenfold::backends
