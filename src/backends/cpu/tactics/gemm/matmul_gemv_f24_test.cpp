// matmul_gemv_f24 against the reference: widths and depths around the panels, epilogues, and weights that rounding must not hurt.
#include <bit>

#include "backends/cpu/gemm/weights/weights_f24.h"
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_matmul_gemv_f24();
namespace {

using namespace testing;

const std::vector<Config> kParts = {{0, 1}, {0, 3}, {1, 1}, {1, 5}};

TEST(MatmulGemvF24, AnyWidthAndDepth) {
  for (const int n : {1, 7, 8, 9, 16, 17, 63, 64, 65, 130})
    for (const int m : {1, 2, 3, 5, 8, 16, 21})
      for (const int k : {1, 3, 4, 33})
        check_f32(cpu_matmul_gemv_f24(), {"MatMul", cat("f32[", m, ",", k, "] f32[", k, ",", n, "]!")}, 2e-5, kParts);
  check_f32(cpu_matmul_gemv_f24(), {"MatMul", "f32[1,2048] f32[2048,520]!"}, 2e-5);
  check_f32(cpu_matmul_gemv_f24(), {"MatMul", "f32[2,1,64] f32[64,96]!"}, 2e-5, kParts);
  check_f32(cpu_matmul_gemv_f24(), {"MatMul", "f32[0,8] f32[8,4]!"});
  check_f32(cpu_matmul_gemv_f24(), {"MatMul", "f32[2,0] f32[0,4]!"});
}

TEST(MatmulGemvF24, Epilogues) {
  const std::string bias = "(f32,f32) %2=add.f32(%0,%1)";
  for (const int m : {1, 3, 13}) {
    const std::string text = cat("f32[", m, ",70] f32[70,45]!");
    check_f32(cpu_matmul_gemv_f24(), {"MatMul", text, bias + " %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[1,45]!"}}, 2e-5, kParts);
    check_f32(cpu_matmul_gemv_f24(), {"MatMul", text, bias + " %3=sigmoid.f32(%2) %4=mul.f32(%2,%3) -> %4", {"f32[45]!"}}, 2e-5, kParts);
  }
}

TEST(MatmulGemvF24, WeightsThatCannotBeRounded) {
  for (const std::string head : {"f32[1,5]{1,1,1,1,1} f32[5,4]", "f32[3,5]{1,1,1,1,1,1,1,1,1,1,1,1,1,1,1} f32[5,4]"}) {
    // Columns: Inf; NaN; the largest number alone; ordinary ones, which must stay near.
    check_f32(cpu_matmul_gemv_f24(), {"MatMul", head + "{inf,0,3.4028235e38,.1, 1,nan,0,.2, 1,1,0,.3, 1,1,0,.4, 1,1,0,.5}"}, 4e-5, kParts);
    check_f32(cpu_matmul_gemv_f24(), {"MatMul", head + "{0,-inf,1e-40,.1, 0,1,0,.2, 0,1,0,.3, 0,1,0,.4, 0,1,0,.5}"}, 4e-5, kParts);
    // Zeros stay zeros beside neighbors whose bits stand below them.
    check_f32(cpu_matmul_gemv_f24(), {"MatMul", head + "{0,0,0,0, 0,0,0,0, 0,0,0,0, .1,.2,.3,.7, 0,0,0,0}"}, 2e-5, kParts);
  }
}

TEST(MatmulGemvF24, RefusesManyRows) {
  F32Problem problem({"MatMul", "f32[33,8] f32[8,4]!"});
  EXPECT_FALSE(cpu_matmul_gemv_f24().supports(TacticRun(cpu_matmul_gemv_f24(), problem.graph, kAvx2).problem).yes);
}

// All of a weight but its lower bits, and those of extremes too.
TEST(WeightsF24, GiveBackWhatIsMultiplied) {
  constexpr std::int64_t kDepth = 37, kColumns = 21;
  for (const bool extreme : {false, true}) {
    std::vector<float> values(kDepth * kColumns), back(values.size());
    std::uint32_t state = 1;
    for (float& v : values) {
      state = state * 1664525u + 1013904223u;
      const std::uint32_t exponent = state >> 8 & 255;
      v = std::bit_cast<float>((state & 0x807fffffu) | (extreme ? exponent : std::clamp(exponent, 1u, 253u)) << 23);
      if (std::isnan(v)) v = std::nanf("");
      if (state % 7 == 0) v = state % 2 ? 0.f : -0.f;
    }
    for (const int panel : {8, 16}) {
      const cpu::WeightsF24 weights(kDepth, kColumns, panel);
      std::vector<char> packed(static_cast<std::size_t>(weights.bytes()) + 64);
      weights.pack(values.data(), packed.data());
      EXPECT_EQ(cpu::WeightsF24::masked(packed.data()), extreme);
      weights.unpack(packed.data(), back.data());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float v = values[i];
        if (!std::isfinite(v) || v == 0)
          EXPECT_TRUE(std::isnan(v) ? std::isnan(back[i]) : back[i] == v && std::signbit(back[i]) == std::signbit(v)) << v;
        else
          EXPECT_LE(std::abs(back[i] - v), std::max(std::ldexp(std::abs(v), extreme ? -15 : -16), extreme ? 1e-42f : 0.f)) << v;
      }
    }
  }
}

}  // namespace
}  // namespace tenfold::backends
