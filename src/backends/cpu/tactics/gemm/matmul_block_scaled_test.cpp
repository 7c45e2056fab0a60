// matmul_block_scaled against the reference: shapes around panels, words and blocks, every type, few and many rows, epilogues, and packings
// that give back what they were made of.
#include "backends/cpu/gemm/weights/weights_block_scaled.h"
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_matmul_block_scaled();
namespace {

using namespace testing;

const std::vector<Config> kParts = {{0, 1}, {0, 3}, {1, 1}, {1, 5}};

std::string problem(int m, int k, int n, const char* type, int block, bool zeros) {
  const std::string blocks = cat("[", (k + block - 1) / block, ",", n, "]");
  return cat("f32[", m, ",", k, "] ", type, "[", k, ",", n, "]! f32", blocks, "(-0.02,0.05)!", zeros ? cat(" ", type, blocks, "!") : "",
             " block_size=", block);
}
void check(const std::string& text, const std::string& body = "", const std::vector<std::string>& extra = {}) {
  check_f32(cpu_matmul_block_scaled(), {"MatMulBlockScaled", text, body, extra}, 5e-6, kParts);
}

TEST(MatmulBlockScaled, AnyShape) {
  for (const char* type : {"i4", "u4", "i8", "u8"}) {
    for (const bool zeros : {false, true}) {
      for (const int m : {1, 2, 3, 5, 8, 11, 13, 30})
        for (const int k : {1, 15, 16, 33, 100})
          for (const int n : {1, 17, 40}) check(problem(m, k, n, type, k % 3 ? 16 : 32, zeros));
      check(problem(1, 77, 16, type, 77, zeros));
      check(problem(7, 512, 100, type, 256, zeros));
      check(problem(300, 800, 33, type, 128, zeros));
    }
  }
  for (const char* text : {"f32[2,1,64] i4[64,96]! f32[4,96]! block_size=16", "f32[7] i8[7,40]! f32[1,40]! block_size=7",
                           "f32[0,8] i4[8,4]! f32[1,4]! block_size=8", "f32[3,8] i4[8,0]! f32[1,0]! block_size=8"})
    check(text);
}

TEST(MatmulBlockScaled, Epilogues) {
  const std::string relu = "(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%2,%3) %5=constant.f32(0) %6=max.f32(%4,%5) -> %6";
  const std::string swish = "(f32,f32) %2=add.f32(%0,%1) %3=sigmoid.f32(%2) %4=mul.f32(%2,%3) -> %4";
  for (const bool zeros : {false, true}) {
    for (const int m : {1, 3, 21, 130}) {
      check(problem(m, 70, 45, "u4", 32, zeros), relu, {"f32[45]!", cat("f32[", m, ",45]")});
      check(problem(m, 70, 45, "i8", 32, zeros), swish, {"f32[45]!"});
    }
  }
}

TEST(MatmulBlockScaled, PackingsGiveBackWhatWasPacked) {
  const Tactic tactic = cpu_matmul_block_scaled();
  for (const char* type : {"i4", "u4", "i8", "u8"}) {
    const F32Problem p({"MatMulBlockScaled", problem(1, 37, 21, type, 16, true)});
    TacticRun run(tactic, p.graph, kAvx2);
    const Config config = tactic.configs(run.problem)[0];
    std::vector<const Tensor*> constants;
    for (const Tensor& t : p.operands) constants.push_back(&t);
    for (int input = 1; input < 4; ++input) {
      std::vector<char> packed(static_cast<std::size_t>(tactic.packed_bytes(run.problem, config, input)));
      tactic.pack(run.problem, config, input, constants, packed.data());
      const Tensor back = tactic.unpack(run.problem, config, input, packed.data()), &given = *constants[static_cast<std::size_t>(input)];
      ASSERT_EQ(back.dtype(), given.dtype());
      ASSERT_EQ(back.shape(), given.shape());
      for (std::int64_t i = 0; i < given.size(); ++i) ASSERT_EQ(back.as_double(i), given.as_double(i)) << type << " " << input << " " << i;
    }
  }
}

// What a plan holds of 4 bits in blocks of 32: half a byte, a scale, half a byte of a zero point.
TEST(MatmulBlockScaled, StaysNarrow) {
  const cpu::WeightsBlockScaled w(4096, 4096, 32, DType::u4);
  EXPECT_EQ(w.word_bytes(), 4096 * 4096 / 2);
  EXPECT_EQ(w.scale_bytes(), 4096 * 128 * 4);
  EXPECT_EQ(w.zero_bytes(), 4096 * 128 / 2);
}

TEST(MatmulBlockScaled, SaysWhyNot) {
  const auto reason = [](const char* text) {
    const F32Problem p({"MatMulBlockScaled", text});
    return cpu_matmul_block_scaled().supports(TacticRun(cpu_matmul_block_scaled(), p.graph, kAvx2).problem).reason;
  };
  EXPECT_EQ(reason("f32[1,7] i4[7,3] f32[1,3]! block_size=7"), "the right operand is not a constant");
  EXPECT_EQ(reason("f32[1,7] i4[7,3]! f32[1,3] block_size=7"), "scales or zero points are not constant");
  EXPECT_EQ(reason("f32[1,27] i4[27,3]! f32[9,3]! block_size=3"), "blocks are no multiples of 16");
}

}  // namespace
}  // namespace tenfold::backends
