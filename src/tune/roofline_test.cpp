// The roofline against a machine whose rate is known, because a table says it.
#include "tune/roofline.h"

#include <gtest/gtest.h>

#include "ir/op_def.h"

namespace tenfold::tune {
namespace {

// A thousand operations take a nanosecond, whatever is asked.
class TableTimer final : public Timer {
 public:
  double time(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config&, double) override {
    ++asked;
    return tactic.work ? tactic.work(problem) / 1000 : 1e9;
  }
  int asked = 0;
};

backends::Problem product(const backends::Backend& backend, const ir::Attributes& none, std::int64_t m, DType dtype = DType::f32) {
  backends::Problem p{.op = &ir::Registry::builtin().get("MatMul"), .attributes = &none, .anchor_inputs = 2};
  p.in = {{.dtype = dtype, .dims = {m, 512}}, {.dtype = dtype, .dims = {512, 256}, .constant = true}};
  p.out = {{.dtype = dtype, .dims = {m, 256}}};
  p.device = &backend.info();
  return p;
}

const backends::Tactic& packed(const backends::Backend& backend) {
  for (const backends::Tactic& t : backend.tactics())
    if (t.name == "matmul_packed") return t;
  throw std::logic_error("matmul_packed is gone");
}

TEST(Roofline, WorkAtTheRateOfTheMachineWithAMargin) {
  const auto backend = backends::open_backend("cpu");
  TableTimer timer;
  Roofline roofline(*backend, timer);
  const ir::Attributes none{};
  const double work = 2.0 * 64 * 512 * 256, least = roofline.least_ns(packed(*backend), product(*backend, none, 64));
  EXPECT_GT(least, work / 1000 / 1.5);
  EXPECT_LT(least, work / 1000);
  const int asked = timer.asked;
  EXPECT_NEAR(roofline.least_ns(packed(*backend), product(*backend, none, 128)), 2 * least, 1e-6 * least);
  EXPECT_EQ(timer.asked, asked) << "the rate is measured once";
}

TEST(Roofline, KnowsNothingOfSmallOrNarrowProducts) {
  const auto backend = backends::open_backend("cpu");
  TableTimer timer;
  Roofline roofline(*backend, timer);
  ir::Attributes attributes{};
  EXPECT_EQ(roofline.least_ns(packed(*backend), product(*backend, attributes, 1)), 0);
  EXPECT_EQ(roofline.least_ns(packed(*backend), product(*backend, attributes, 64, DType::i8)), 0);
  attributes.set("precision", std::string("bf16"));
  EXPECT_EQ(roofline.least_ns(packed(*backend), product(*backend, attributes, 64)), 0);
  EXPECT_EQ(timer.asked, 0);
}

}  // namespace
}  // namespace tenfold::tune
