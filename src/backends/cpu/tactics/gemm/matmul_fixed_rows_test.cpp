// Rows that fixed point cannot hold: their values, beside a sum in f64, and their time. A client decides what is in a row: a NaN in it must
// not cost a server a hundred times the time of another.
#include <chrono>

#include "backends/cpu/tactics/f32_for_tests.h"
#include "base/threads/float_state.h"

namespace tenfold::backends {
Tactic cpu_matmul_amx_s24();
Tactic cpu_matmul_gemv_s16();
Tactic cpu_recurrent_s16();
Tactic cpu_recurrent_s8();
namespace {

using namespace testing;

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

struct Tried {
  Tactic tactic;
  double tolerance;   // beside the largest result of a row
  std::vector<int> rows;
};
std::vector<Tried> all_tried() {
  const std::uint32_t has = cpu::this_cpu().features, amx = kAmxInt8 | kAmxBf16;
  std::vector<Tried> all;
  if (has & kVnni) all.push_back({cpu_matmul_gemv_s16(), 1e-4, {1, 2, 3}});
  if ((has & amx) == amx) all.push_back({cpu_matmul_amx_s24(), 2e-6, {1, 16, 37}});
  return all;
}

// What makes a row one that fixed point cannot hold, in its first columns; all of them if there is one value.
const std::vector<std::vector<float>> kSpecial = {{kNaN, 1},    {kInfinity, 1}, {-kInfinity, 1},     {1, kInfinity, -kInfinity},
                                                 {1e38f, -1},  {-3e38f, 1e38f}, {1e-40f},            {1e-30f},
                                                 {kInfinity},  {kNaN},          {1e38f, kNaN, 1e-40f}, {-1e38f, kInfinity}};
void fill(float* row, std::int64_t count, const std::vector<float>& special) {
  if (special.size() == 1) std::fill_n(row, count, special[0]);
  else std::copy(special.begin(), special.end(), row);
}

void expect_row(const float* y, const float* row, const Tensor& weights, double tolerance) {
  const std::int64_t k = weights.shape()[0], n = weights.shape()[1];
  std::vector<double> sums;
  double largest = 0;
  for (std::int64_t c = 0; c < n; ++c) {
    double sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += double{row[i]} * double{weights.data<float>()[i * n + c]};
    sums.push_back(static_cast<double>(static_cast<float>(sum)));
    if (std::isfinite(sum)) largest = std::max(largest, std::abs(sum));
  }
  for (std::int64_t c = 0; c < n; ++c) {
    const double sum = sums[static_cast<std::size_t>(c)], got = double{y[c]};
    EXPECT_TRUE(std::isfinite(sum) ? std::abs(got - sum) <= tolerance * largest + 1e-44 : std::isnan(sum) ? std::isnan(got) : got == sum)
        << "column " << c << ": " << got << " for " << sum;
  }
}

TEST(MatmulFixedRows, AreWhatF64Gives) {
  if (all_tried().empty()) GTEST_SKIP() << "this CPU has neither AVX512_VNNI nor AMX";
  constexpr std::int64_t kDepth = 75, kColumns = 141;
  for (const Tried& t : all_tried())
    for (const int rows : t.rows)
      for (std::size_t first = 0; first < kSpecial.size(); ++first) {
        SCOPED_TRACE(cat(t.tactic.name, ", ", rows, " rows from case ", first));
        F32Problem problem({"MatMul", cat("f32[", rows, ",", kDepth, "] f32[", kDepth, ",", kColumns, "]!")}, first + 1);
        float* const a = problem.operands[0].mutable_data<float>();
        for (int r = 0; r < rows; ++r)   // every other one is as it was
          if (r % 2 == 0) fill(a + r * kDepth, kDepth, kSpecial[(first + static_cast<std::size_t>(r) / 2) % kSpecial.size()]);
        TacticRun run(t.tactic, problem.graph, cpu::this_cpu().features);
        Serial serial;
        const Tensor y = run.run(t.tactic.configs(run.problem)[0], problem.operands, serial)[0];
        for (int r = 0; r < rows; ++r) expect_row(y.data<float>() + r * kColumns, a + r * kDepth, problem.operands[1], t.tolerance);
      }
}

// The time of parts alone: a test's run packs weights, too.
class Timed final : public Parallel {
 public:
  void run(std::int64_t parts, Function function, void* context) noexcept override {
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t part = 0; part < parts; ++part) function(context, part, 0);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  int workers() const noexcept override { return 1; }
  double seconds = 0;
};

// The least of several runs: others use this machine.
double seconds_of(const Tactic& tactic, const F32Problem& problem) {
  TacticRun run(tactic, problem.graph, cpu::this_cpu().features);
  const Config config = tactic.configs(run.problem)[0];
  double least = 1e9;
  for (int i = 0; i < 7; ++i) {
    Timed timed;
    run.run(config, problem.operands, timed);
    least = std::min(least, timed.seconds);
  }
  return least;
}

// Decoding weight by weight took 180 times as long as the product of another row.
constexpr double kMaxTimes = 20;

// `all_rows`: else the first alone.
void expect_no_longer(const Tactic& tactic, const F32Case& c, bool all_rows = true) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer checks these loops, and kernels it does not";
#endif
  const FloatState flush_denormals;   // as plans run
  F32Problem problem(c);
  const double usual = seconds_of(tactic, problem);
  const std::int64_t size = problem.operands[0].size(), row = problem.operands[0].shape().back();
  const Tensor before = problem.operands[0].clone();
  for (const std::vector<float>& special : kSpecial) {
    problem.operands[0] = before.clone();
    float* const values = problem.operands[0].mutable_data<float>();
    for (std::int64_t at = 0; at < (all_rows ? size : row); at += row) fill(values + at, row, special);
    const double taken = seconds_of(tactic, problem);
    EXPECT_LT(taken, kMaxTimes * usual)
        << c.text << " with " << special[0] << ": " << taken * 1e6 << " us, usually " << usual * 1e6;
  }
}

TEST(MatmulFixedRows, TakeNotMuchLonger) {
  if (all_tried().empty()) GTEST_SKIP() << "this CPU has neither AVX512_VNNI nor AMX";
  for (const Tried& t : all_tried()) {
    expect_no_longer(t.tactic, {"MatMul", "f32[1,784] f32[784,512]!"});
    expect_no_longer(t.tactic, {"MatMul", "f32[3,784] f32[784,512]!"});
    if (t.rows.back() > 3) expect_no_longer(t.tactic, {"MatMul", "f32[16,784] f32[784,512]!"}, false);
  }
}

TEST(MatmulFixedRows, TakeNotMuchLongerInRecurrences) {
  if ((cpu::this_cpu().features & kVnni) == 0) GTEST_SKIP() << "this CPU has no AVX512_VNNI";
  const std::string floats = "f32[6,1,128] f32[1,512,128]! f32[1,512,128]! f32[1,1024]!", scales = "f32[512](0.001,0.02)! ";
  const std::string bytes = "f32[6,1,128] i8[1,512,128]! i8[1,512,128]! f32[1,1024] _ _ _ " + scales + scales;
  expect_no_longer(cpu_recurrent_s16(), {"LSTM", floats}, false);
  expect_no_longer(cpu_recurrent_s8(), {"RecurrentInt8", bytes}, false);
}

}  // namespace
}  // namespace tenfold::backends
