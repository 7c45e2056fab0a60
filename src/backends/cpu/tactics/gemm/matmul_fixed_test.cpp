// Products with weights in fixed point against the reference: shapes around panels and tiles, epilogues, inputs in different units, and
// values that fixed point cannot hold. They need AVX512_VNNI, or AMX.
#include <bit>

#include "backends/cpu/gemm/weights/weights_fixed.h"
#include "backends/cpu/tactics/f32_for_tests.h"
#include "base/threads/thread_pool.h"

namespace tenfold::backends {
Tactic cpu_matmul_amx_s24();
Tactic cpu_matmul_gemv_s16();
namespace {

using namespace testing;

bool has(std::uint32_t features) { return (cpu::this_cpu().features & features) == features; }

// Tactics that this CPU runs, with the tolerance of each and the most rows it takes.
struct Tried {
  Tactic tactic;
  double tolerance;
  int rows;
};
std::vector<Tried> all_tried() {
  std::vector<Tried> all;
  if (has(kVnni)) all.push_back({cpu_matmul_gemv_s16(), 5e-5, 3});
  if (has(kAmxInt8 | kAmxBf16)) all.push_back({cpu_matmul_amx_s24(), 2e-6, 1000});
  return all;
}
void check(const Tried& t, const F32Case& c) { check_on_this_cpu(t.tactic, c, t.tolerance); }

TEST(MatmulFixed, AnyShape) {
  if (all_tried().empty()) GTEST_SKIP() << "this CPU has neither AVX512_VNNI nor AMX";
  for (const Tried& t : all_tried()) {
    EXPECT_TRUE(t.tactic.rounds_f32);
    for (const int m : {1, 2, 3, 16, 17, 40, 130})
      for (const int k : {1, 31, 32, 33, 64, 130, 300})
        for (const int n : {1, 16, 31, 33, 100, 128, 129, 260})
          if (m <= t.rows && (m < 16 || n % 2 == 0)) check(t, {"MatMul", cat("f32[", m, ",", k, "] f32[", k, ",", n, "]!")});
    for (const char* text : {"f32[1,2048] f32[2048,520]!", "f32[2,1,64] f32[64,96]!", "f32[7] f32[7,40]!", "f32[0,8] f32[8,4]!",
                             "f32[2,0] f32[0,4]!", "f32[2,3] f32[3,0]!"})
      check(t, {"MatMul", text});
    if (t.rows > 40) check(t, {"MatMul", "f32[2,40,96] f32[96,48]!"});
  }
}

// Several workers get smaller pieces of columns, also where these are no whole panels or fewer than the workers.
TEST(MatmulFixed, AnyNumberOfThreads) {
  if (!has(kAmxInt8 | kAmxBf16)) GTEST_SKIP() << "this CPU has no AMX";
  const Tactic tactic = cpu_matmul_amx_s24();
  for (const char* text : {"f32[128,512] f32[512,1570]!", "f32[300,64] f32[64,96]!", "f32[16,256] f32[256,33]!"}) {
    F32Problem problem({"MatMul", text});
    TacticRun run(tactic, problem.graph, cpu::this_cpu().features);
    for (const Config& config : tactic.configs(run.problem)) {
      Serial serial;
      const Tensor y = run.run(config, problem.operands, serial)[0];
      EXPECT_LE(relative_difference(y, problem.truth()), 2e-6) << text;
      for (const int threads : {2, 3, 7}) {
        ThreadPool pool({.threads = threads});
        const Tensor again = run.run(config, problem.operands, pool)[0];
        EXPECT_EQ(0, std::memcmp(y.raw(), again.raw(), static_cast<std::size_t>(y.bytes()))) << text << ", " << threads << " threads";
      }
    }
  }
}

TEST(MatmulFixed, Epilogues) {
  if (all_tried().empty()) GTEST_SKIP() << "this CPU has neither AVX512_VNNI nor AMX";
  const std::string relu = "(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%2,%3) %5=constant.f32(0) %6=max.f32(%4,%5) -> %6";
  const std::string swish = "(f32,f32) %2=add.f32(%0,%1) %3=sigmoid.f32(%2) %4=mul.f32(%2,%3) -> %4";
  for (const Tried& t : all_tried()) {
    for (const int m : {1, 3, 21, 70}) {
      if (m > t.rows) continue;
      const std::string text = cat("f32[", m, ",70] f32[70,45]!"), row = cat("f32[", m, ",45]");
      check(t, {"MatMul", text, relu, {"f32[45]!", row}});
      check(t, {"MatMul", text, swish, {"f32[45]!"}});
      check(t, {"MatMul", text, "(f32,f32) %2=mul.f32(%0,%1) -> %2", {row}});
    }
  }
}

Tensor result(const Tactic& tactic, const F32Problem& problem, std::size_t config = 0) {
  TacticRun run(tactic, problem.graph, cpu::this_cpu().features);
  Serial serial;
  return run.run(tactic.configs(run.problem)[config], problem.operands, serial)[0];
}

// Element by element, for an infinite one would hide all others.
void expect_same_kind(const Tensor& y, const Tensor& truth, double tolerance) {
  for (std::int64_t i = 0; i < truth.size(); ++i) {
    const double a = y.as_double(i), b = truth.as_double(i);
    if (std::isfinite(b))
      EXPECT_NEAR(a, b, tolerance * std::max(std::abs(b), 1.0)) << i;
    else
      EXPECT_TRUE(std::isnan(b) ? std::isnan(a) : a == b) << i << ": " << a << " for " << b;
  }
}

TEST(MatmulFixed, ValuesThatDoNotFit) {
  if (all_tried().empty()) GTEST_SKIP() << "this CPU has neither AVX512_VNNI nor AMX";
  for (const Tried& t : all_tried()) {
    for (const char* text : {"f32[2,4]{1,inf,2,3, 1,2,3,4} f32[4,3]{1,2,3, 4,5,0, 7,8,9, 1,1,1}",
                             "f32[2,4]{1,nan,2,3, 1,2,3,4} f32[4,3]{1,2,3, 4,5,6, 7,8,9, 1,1,1}",
                             "f32[2,4]{1,inf,-inf,3, 1,2,3,4} f32[4,3]{1,2,3, 4,5,6, 7,8,9, 1,1,1}",
                             "f32[1,4]{1,1,1,1} f32[4,4]{inf,0,3.4028235e38,0, 1,nan,0,.2, 1,1,0,.3, 1,1,0,.4}",
                             "f32[1,4]{1,1,1,1} f32[4,4]{0,-inf,1e-40,.1, 0,1,0,.2, 0,1,0,.3, 0,1,0,.4}",
                             "f32[1,4]{1e-40,1e-40,0,0} f32[4,2]{1e38,0, 1e38,0, 1,1, 1,1}",
                             "f32[1,4]{3e38,3e38,0,0} f32[4,2]{1,1e-30, 1,1e-30, 1,0, 1,0}",
                             "f32[1,4]{1e30,1e30,0,0} f32[4,2]{1e-40,0, 1e-40,0, 1,1, 1,1}",
                             "f32[2,4]{1,2,3,4, 5,6,7,8} f32[4,3]{1e25,1e24,0, 1e-25,-1e-25,1e-25, 1,2,inf, 1e-40,0,0}",
                             "f32[2,3]{0,0,0, 1,2,3} f32[3,3]{0,1,2, 0,3,4, 0,5,6}"}) {
      SCOPED_TRACE(t.tactic.name + " " + text);
      const F32Problem problem({"MatMul", text});
      expect_same_kind(result(t.tactic, problem), problem.truth(), t.tolerance);
    }
  }
}

// An input in large units has small weights. Each contributes alike; without balance the small one would be lost in the large one's step.
TEST(MatmulFixed, InputsInDifferentUnits) {
  if (all_tried().empty()) GTEST_SKIP() << "this CPU has neither AVX512_VNNI nor AMX";
  constexpr std::int64_t kDepth = 64, kColumns = 40;
  for (const Tried& t : all_tried()) {
    F32Problem problem({"MatMul", cat("f32[1,", kDepth, "] f32[", kDepth, ",", kColumns, "]!")});
    Tensor a = problem.operands[0], b = problem.operands[1];
    for (std::int64_t k = 0; k < kDepth; ++k) {
      const float unit = k % 2 == 0 ? 1e6f : 1e-3f;
      a.mutable_data<float>()[k] *= unit;
      for (std::int64_t n = 0; n < kColumns; ++n) b.mutable_data<float>()[k * kColumns + n] /= unit;
    }
    ir::Graph graph(ir::Registry::builtin());
    ir::Node node;
    node.def = &ir::Registry::builtin().get("MatMul");
    const ir::ValueType type{.tensor = {a.dtype(), ir::to_dims(a.shape())}};
    node.inputs = {graph.add_input("a", type), graph.add_constant(b, "b")};
    graph.outputs = {graph.add(std::move(node), 1)->out()};
    TacticRun run(t.tactic, graph, cpu::this_cpu().features);
    Serial serial;
    const Tensor y = run.run(t.tactic.configs(run.problem)[0], {a, b}, serial)[0];
    EXPECT_LE(relative_difference(y, problem.truth()), t.tolerance) << t.tactic.name;
  }
}

TEST(MatmulFixed, SaysWhyNot) {
  const auto reason = [](const Tactic& tactic, const char* text, std::uint32_t features) {
    const F32Problem problem({"MatMul", text});
    return tactic.supports(TacticRun(tactic, problem.graph, features).problem).reason;
  };
  EXPECT_EQ(reason(cpu_matmul_gemv_s16(), "f32[1,7] f32[7,3]!", kAvx2 | kAvx512), "this machine has no AVX512_VNNI");
  EXPECT_EQ(reason(cpu_matmul_gemv_s16(), "f32[9,7] f32[7,3]!", 63), "too many rows to be bound by reading weights");
  EXPECT_EQ(reason(cpu_matmul_amx_s24(), "f32[1,7] f32[7,3]!", kAvx2 | kAvx512 | kVnni), "this machine has no AMX");
  EXPECT_EQ(reason(cpu_matmul_amx_s24(), "f32[1,33000] f32[33000,1]!", 63), "sums over K this large overflow");
  EXPECT_EQ(reason(cpu_matmul_amx_s24(), "f32[1,7] f32[7,3]", 63), "the right operand is not a constant");
}

// One row of a batch that fixed point cannot hold changes no other, and comes out as f32 does, with either kind of epilogue.
TEST(MatmulFixed, RowsThatDoNotFitAmongOthers) {
  if (all_tried().empty()) GTEST_SKIP() << "this CPU has neither AVX512_VNNI nor AMX";
  for (const Tried& t : all_tried()) {
    for (const std::string body : {"(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%2,%3) -> %4",
                                   "(f32,f32,f32) %3=add.f32(%0,%1) %4=tanh.f32(%3) %5=add.f32(%2,%4) -> %5"}) {
      const int m = std::min(t.rows, 70);
      const F32Case one{"MatMul", cat("f32[", m, ",70] f32[70,45]!"), body, {"f32[45]!", cat("f32[", m, ",45]")}};
      const F32Problem problem(one);
      const Tensor before = result(t.tactic, problem);
      for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf(""), 1e-30f}) {
        SCOPED_TRACE(cat(t.tactic.name, " ", body, " ", bad));
        F32Problem changed(one);
        const std::int64_t row = m / 2;
        for (int k = 0; k < 70; ++k) changed.operands[0].mutable_data<float>()[row * 70 + k] = bad < 1 ? bad : k == 7 ? bad : 1.f;
        const Tensor after = result(t.tactic, changed), truth = changed.truth();
        for (std::int64_t i = 0; i < after.size(); ++i) {
          EXPECT_TRUE(m <= 3 || i / 45 == row || after.data<float>()[i] == before.data<float>()[i]) << i;
          const double a = after.as_double(i), b = truth.as_double(i);
          EXPECT_TRUE(std::isfinite(b) ? std::abs(a - b) <= 1e-3 : std::isnan(b) ? std::isnan(a) : a == b) << i << ": " << a << ", " << b;
        }
      }
    }
  }
}

// What a plan gives back: off by half a step at most, with zeros, infinities and no numbers where they were.
TEST(FixedWeights, GiveBackWhatIsMultiplied) {
  constexpr std::int64_t kDepth = 37, kColumns = 141;
  for (const bool extreme : {false, true}) {
    std::vector<float> values(kDepth * kColumns), back(values.size());
    std::uint32_t state = 1;
    for (float& v : values) {
      state = state * 1664525u + 1013904223u;
      v = extreme ? std::bit_cast<float>(state) : static_cast<float>(static_cast<std::int32_t>(state)) * 1e-10f;
      if (state % 11 == 0) v = 0;
    }
    for (const auto order : {cpu::FixedWeights::Order::pairs, cpu::FixedWeights::Order::tiles}) {
      const cpu::FixedWeights weights(kDepth, kColumns, order);
      std::vector<char> packed(static_cast<std::size_t>(weights.bytes()), 0x55);
      weights.pack(values.data(), packed.data());
      EXPECT_EQ(weights.ordinary(packed.data()), !extreme);
      weights.unpack(packed.data(), back.data());
      const int bits = order == cpu::FixedWeights::Order::pairs ? 15 : 23;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double v = values[i], b = back[i], balance = weights.balance(packed.data())[i / kColumns];
        if (!std::isfinite(v) || v == 0) {
          EXPECT_TRUE(std::isnan(v) ? std::isnan(b) : b == v) << v;
          continue;
        }
        double largest = 0;   // of the column, beside its rows
        for (std::size_t k = 0; k < kDepth; ++k) {
          const double other = values[k * kColumns + i % kColumns];
          if (std::isfinite(other)) largest = std::max(largest, std::abs(other) / weights.balance(packed.data())[k]);
        }
        const double step = std::max(std::ldexp(largest, -bits - 1), std::ldexp(1., -127));
        EXPECT_LE(std::abs(b - v), step * 1.01 * balance + std::ldexp(std::abs(v), -24) + 1e-45) << i << ": " << v;
      }
    }
  }
}

}  // namespace
}  // namespace tenfold::backends
