// The roofline against a machine whose rate is known, because a table says it.
#include "tune/timing/roofline.h"

#include <gtest/gtest.h>

#include "ir/op_def.h"

namespace tenfold::tune {
namespace {

// A thousand operations take a nanosecond, whatever is asked; so do a thousand bytes from a cache, and two from memory.
class TableTimer final : public Timer {
 public:
  double time(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config&, double) override {
    ++timings;
    const double bytes = 4.0 * static_cast<double>(ir::product(problem.in[0].dims).constant());
    if (tactic.ops[0].op == "ReduceSum") return bytes / (problem.in[0].constant ? 2 : 1000);
    return tactic.work ? tactic.work(problem) / 1000 : 1e9;
  }
  bool cold_weights() const override { return cold; }
  int timings = 0;
  bool cold = false;
};

backends::Problem product(const backends::Backend& backend, const ir::Attributes& none, std::int64_t m, DType dtype = DType::f32,
                          std::int64_t n = 256) {
  backends::Problem p{.op = &ir::Registry::builtin().get("MatMul"), .attributes = &none, .anchor_inputs = 2};
  p.in = {{.dtype = dtype, .dims = {m, 512}}, {.dtype = dtype, .dims = {512, n}, .constant = true}};
  p.out = {{.dtype = dtype, .dims = {m, n}}};
  p.device = &backend.info();
  return p;
}

const backends::Tactic& packed(const backends::Backend& backend) {
  for (const backends::Tactic& t : backend.tactics())
    if (t.name == "matmul_packed") return t;
  throw std::logic_error("matmul_packed is gone");
}

MinTime min_of(Roofline& roofline, const backends::Backend& backend, const backends::Problem& problem) {
  const backends::Tactic& tactic = packed(backend);
  return roofline.min_time(tactic, problem, tactic.configs(problem).at(0));
}

TEST(Roofline, WorkAtTheRateOfTheMachineWithAMargin) {
  const auto backend = backends::open_backend("cpu");
  TableTimer timer;
  Roofline roofline(*backend, timer);
  const ir::Attributes none{};
  const double work = 2.0 * 64 * 512 * 256, min_time = min_of(roofline, *backend, product(*backend, none, 64)).ns;
  EXPECT_GT(min_time, work / 1000 / 1.5);
  EXPECT_LT(min_time, work / 1000);
  const int timings = timer.timings;
  EXPECT_NEAR(min_of(roofline, *backend, product(*backend, none, 128)).ns, 2 * min_time, 1e-6 * min_time);
  EXPECT_EQ(timer.timings, timings) << "the rate is measured once";
}

TEST(Roofline, LearnsFromTimesThatBeatIt) {
  const auto backend = backends::open_backend("cpu");
  TableTimer timer;
  Roofline roofline(*backend, timer);
  const ir::Attributes none{};
  const backends::Problem p = product(*backend, none, 64);
  const backends::Config config = packed(*backend).configs(p).at(0);
  const double min_time = min_of(roofline, *backend, p).ns;
  roofline.learn(packed(*backend), p, config, 2 * min_time);
  EXPECT_EQ(min_of(roofline, *backend, p).ns, min_time);
  roofline.learn(packed(*backend), p, config, min_time / 5);
  EXPECT_NEAR(min_of(roofline, *backend, p).ns, min_time / 5, 1e-6 * min_time);
}

TEST(Roofline, KnowsNoWorkOfSmallOrNarrowProducts) {
  const auto backend = backends::open_backend("cpu");
  TableTimer timer;
  Roofline roofline(*backend, timer);
  const ir::Attributes attributes{};
  EXPECT_TRUE(min_of(roofline, *backend, product(*backend, attributes, 1)).bytes);
  EXPECT_TRUE(min_of(roofline, *backend, product(*backend, attributes, 64, DType::i8, 1024)).bytes);
  backends::Problem in_bf16 = product(*backend, attributes, 64);
  in_bf16.numerics.round_to = ir::Rounding::bf16;
  EXPECT_TRUE(min_of(roofline, *backend, in_bf16).bytes);
  EXPECT_EQ(timer.timings, 1) << "only the rate of bytes";
}

TEST(Roofline, WhatAPackingHoldsBeyondTheValuesIsNotRead) {
  const auto backend = backends::open_backend("cpu");
  TableTimer timer;
  Roofline roofline(*backend, timer);
  const ir::Attributes none{};
  backends::Tactic tactic = packed(*backend);
  const backends::Problem p = product(*backend, none, 1);
  const backends::Config config = tactic.configs(p).at(0);
  const double whole = roofline.min_time(tactic, p, config).ns;
  tactic.packed_bytes = [](const backends::Problem&, const backends::Config&, int) { return std::int64_t{512 * 256 * 6}; };
  EXPECT_EQ(roofline.min_time(tactic, p, config).ns, whole);
  tactic.packed_bytes = [](const backends::Problem&, const backends::Config&, int) { return std::int64_t{512 * 256 * 3}; };
  EXPECT_LT(roofline.min_time(tactic, p, config).ns, whole);
}

TEST(Roofline, BytesComeFromACacheOrFromMemory) {
  const auto backend = backends::open_backend("cpu");
  const ir::Attributes none{};
  const double weights = 512 * 256 * 4, all = weights + (512 + 256) * 4;   // of one row
  for (const bool cold : {false, true}) {
    TableTimer timer;
    timer.cold = cold;
    Roofline roofline(*backend, timer);
    const MinTime min_time = min_of(roofline, *backend, product(*backend, none, 1));
    const double ns = cold ? weights / 2 : all / 1000;
    EXPECT_TRUE(min_time.bytes);
    EXPECT_GT(min_time.ns, ns / 2.5) << cold;
    EXPECT_LT(min_time.ns, ns) << cold;
    const backends::Problem small = product(*backend, none, 1, DType::f32, 64);
    EXPECT_EQ(min_of(roofline, *backend, small).ns, 0) << "less is timed sooner than doubted";
  }
}

}  // namespace
}  // namespace tenfold::tune
