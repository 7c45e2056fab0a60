// Products with weights of 4 and 8 bits in blocks against the reference: shapes around panels, words and blocks, every type, few and many
// rows, epilogues, and packings that give back what they were made of.
#include "backends/cpu/gemm/weights/weights_block_scaled.h"
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_matmul_block_scaled();
Tactic cpu_matmul_block_scaled_amx();
Tactic cpu_matmul_block_scaled_vnni();
namespace {

using namespace testing;

const std::vector<Config> kParts = {{0, 1, 0}, {0, 3, 0}, {1, 1, 0}, {1, 5, 0}};

// What rounds f32: rows of 16 bits, scales of 24, or two terms of bf16.
std::vector<Tactic> rounding(int rows) {
  std::vector<Tactic> all;
  const std::uint32_t features = cpu::this_cpu().features;
  if (features & kVnni) all.push_back(cpu_matmul_block_scaled_vnni());
  if (features & kAmxBf16 && rows > 12) all.push_back(cpu_matmul_block_scaled_amx());
  return all;
}

std::string problem(int m, int k, int n, const char* type, int block, bool zeros) {
  const std::string blocks = cat("[", (k + block - 1) / block, ",", n, "]");
  return cat("f32[", m, ",", k, "] ", type, "[", k, ",", n, "]! f32", blocks, "(-0.02,0.05)!", zeros ? cat(" ", type, blocks, "!") : "",
             " block_size=", block);
}
void check(const std::string& text, const std::string& body = "", const std::vector<std::string>& extra = {}, int rows = 1) {
  const F32Case c{"MatMulBlockScaled", text, body, extra};
  check_f32(cpu_matmul_block_scaled(), c, 5e-6, kParts);
  for (const Tactic& tactic : rounding(rows)) {
    EXPECT_TRUE(tactic.rounds_f32);
    SCOPED_TRACE(tactic.name);
    // One result alone may be a small difference of large products.
    check_on_this_cpu(tactic, c, text.find(",1]! f32[") == std::string::npos ? 6e-5 : 1e-3);
  }
}

TEST(MatmulBlockScaled, AnyShape) {
  for (const char* type : {"i4", "u4", "i8", "u8"}) {
    for (const bool zeros : {false, true}) {
      for (const int m : {1, 2, 3, 5, 8, 11, 13, 30})
        for (const int k : {1, 15, 16, 33, 100})
          for (const int n : {1, 17, 40}) check(problem(m, k, n, type, k % 3 ? 16 : 32, zeros), "", {}, m);
      check(problem(1, 77, 16, type, 77, zeros));
      check(problem(7, 512, 100, type, 256, zeros), "", {}, 7);
      check(problem(300, 800, 33, type, 128, zeros), "", {}, 300);
    }
  }
  for (const char* text : {"f32[2,1,64] i4[64,96]! f32[4,96]! block_size=16", "f32[7] i8[7,40]! f32[1,40]! block_size=7",
                           "f32[0,8] i4[8,4]! f32[1,4]! block_size=8", "f32[3,8] i4[8,0]! f32[1,0]! block_size=8"})
    check(text);
}

// Where bf16 is permitted, tiles take one term; the vectors' kernels stay as they are.
TEST(MatmulBlockScaled, Bf16) {
  for (const char* type : {"i4", "u8"})
    for (const bool zeros : {false, true})
      for (const Tactic& tactic : rounding(40))
        check_on_this_cpu(tactic, {"MatMulBlockScaled", problem(40, 100, 70, type, 32, zeros) + " numerics={round_to=bf16}"},
                          tactic.name == "matmul_block_scaled_amx" ? 1e-2 : 6e-5);
}

TEST(MatmulBlockScaled, Epilogues) {
  const std::string relu = "(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%2,%3) %5=constant.f32(0) %6=max.f32(%4,%5) -> %6";
  const std::string swish = "(f32,f32) %2=add.f32(%0,%1) %3=sigmoid.f32(%2) %4=mul.f32(%2,%3) -> %4";
  for (const bool zeros : {false, true}) {
    for (const int m : {1, 3, 21, 130}) {
      check(problem(m, 70, 45, "u4", 32, zeros), relu, {"f32[45]!", cat("f32[", m, ",45]")}, m);
      check(problem(m, 70, 45, "i8", 32, zeros), swish, {"f32[45]!"}, m);
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

// Scales in 24 bits are off by at most 2^-16 of themselves, those of half precision by nothing; what cannot be rounded stays what it is.
TEST(MatmulBlockScaled, ScalesIn24Bits) {
  const float values[] = {0.1f, -3e-5f, 1.f / 3, 3.4028235e38f, -INFINITY, NAN, 1e-40f, 0.f, 0.099975586f};
  Tensor scales(DType::f32, {1, 9});
  std::copy(std::begin(values), std::end(values), scales.mutable_data<float>());
  const cpu::WeightsBlockScaled w(32, 9, 32, DType::i4, cpu::kF24Scales);
  std::vector<char> packed(static_cast<std::size_t>(w.scale_bytes()));
  w.pack_scales(scales, packed.data());
  const Tensor back = w.unpack_scales(packed.data());
  for (int i = 0; i < 9; ++i) {
    const float v = values[i], b = back.data<float>()[i];
    if (std::isfinite(v))
      EXPECT_LE(std::abs(b - v), std::max(std::ldexp(std::abs(v), v > 3e38f ? -15 : -16), 1e-43f)) << v;
    else
      EXPECT_TRUE(std::isnan(v) ? std::isnan(b) : b == v) << v;
  }
  EXPECT_EQ(back.data<float>()[8], values[8]);
}

// Rows of values that are no ordinary numbers come out as f32 has them, and change no other row.
TEST(MatmulBlockScaled, ValuesThatDoNotFit) {
  for (const char* row : {"inf,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "1,nan,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
                          "1e38,1,1,1,1,1,1,1,1,1,1,1,1,1,1,-1e38",
                          "1e-40,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1e-39"}) {
    const std::string text = cat("f32[2,16]{", row, ",1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7} i4[16,5]! f32[1,5](0.01,0.05)! block_size=16");
    const F32Problem p({"MatMulBlockScaled", text});
    for (const Tactic& tactic : rounding(2)) {
      TacticRun run(tactic, p.graph, cpu::this_cpu().features);
      Serial serial;
      check_special_values(run.run(tactic.configs(run.problem)[0], p.operands, serial)[0], p.truth());
    }
  }
}

// What a plan holds of 4 bits in blocks of 32: half a byte, a scale, half a byte of a zero point.
TEST(MatmulBlockScaled, StaysNarrow) {
  const cpu::WeightsBlockScaled w(4096, 4096, 32, DType::u4);
  EXPECT_EQ(w.word_bytes(), 4096 * 4096 / 2);
  EXPECT_EQ(w.scale_bytes(), 4096 * 128 * 4);
  EXPECT_EQ(w.zero_bytes(), 4096 * 128 / 2);
  const cpu::WeightsBlockScaled rounded(4096, 4096, 32, DType::i4, cpu::kF24Scales);
  EXPECT_LE(static_cast<double>(rounded.word_bytes() + rounded.scale_bytes()), 0.6 * 4096 * 4096);
}

TEST(MatmulBlockScaled, SaysWhyNot) {
  const auto reason = [](const char* text) {
    const F32Problem p({"MatMulBlockScaled", text});
    return cpu_matmul_block_scaled().supports(TacticRun(cpu_matmul_block_scaled(), p.graph, kAvx2).problem).reason;
  };
  const F32Problem p({"MatMulBlockScaled", "f32[1,32] i4[32,3]! f32[2,3]! block_size=16"});
  EXPECT_EQ(cpu_matmul_block_scaled_vnni().supports(TacticRun(cpu_matmul_block_scaled_vnni(), p.graph, kAvx2 | kAvx512).problem).reason,
            "this machine has no AVX512_VNNI");
  EXPECT_EQ(cpu_matmul_block_scaled_amx().supports(TacticRun(cpu_matmul_block_scaled_amx(), p.graph, 63).problem).reason,
            "too few rows for tiles");
  EXPECT_EQ(reason("f32[1,7] i4[7,3] f32[1,3]! block_size=7"), "the right operand is not a constant");
  EXPECT_EQ(reason("f32[1,7] i4[7,3]! f32[1,3] block_size=7"), "scales or zero points are not constant");
  EXPECT_EQ(reason("f32[1,27] i4[27,3]! f32[9,3]! block_size=3"), "blocks are no multiples of 16");
}

}  // namespace
}  // namespace tenfold::backends
