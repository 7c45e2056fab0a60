// An operator against its decomposition: the faster is taken, on a CPU clearly faster where much lies between the parts.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "tune/timing/timer.h"
#include "tune/tuner.h"

namespace tenfold::tune {
namespace {

// Each of the two convolutions of an decomposition takes 100 us; a region apart never pays.
class GivenTimer final : public Timer {
 public:
  explicit GivenTimer(double fused) : fused_(fused) {}
  double time(const backends::Tactic&, const backends::Problem& problem, const backends::Config&, double) override {
    return problem.op->traits.autotuned ? fused_ : problem.op->traits.region ? 1e9 : 1e5;
  }

 private:
  double fused_;
};

// The operators that are left, in order.
std::string chosen(int extent, double fused) {
  ir::Graph graph = ir::parse_graph(
      cat("(x f32[1,4,", extent, ",", extent, R"(], w f32[64,4,1,1]!, b f32[64,1,1]!, f f32[64,1,3,3]!, c f32[64,1,1]!)
    y = ExpandDepthwise(x, w, b, f, c) kernel_shape=[3,3] pads=[1,1,1,1] low=0.0 high=6.0 anchor_inputs=4 name="layer"
    body={(f32,f32) %2=add.f32(%0,%1) -> %2})"),
      ir::Registry::builtin(), {.random_constant = [](DType t, const Shape& shape, std::uint64_t) { return Tensor(t, shape); }});
  const std::string type = ir::text(graph.outputs[0]->type);
  const auto backend = backends::open_backend("cpu");
  BuildConfig config;
  TimingCache cache;
  GivenTimer timer(fused);
  choose_once(graph, *backend, *backend, {.config = &config, .cache = &cache}, timer, false);
  EXPECT_EQ(ir::text(graph.outputs[0]->type), type);
  std::string operators;
  for (const auto& n : graph.nodes()) operators += cat(n->op(), n->body ? "+body " : " ");
  return operators;
}

constexpr int kSmall = 14, kLarge = 112;   // 50 kB and 3 MB between the convolutions

TEST(Cuts, AnOperatorStaysWhereItsDecompositionIsNotFaster) {
  EXPECT_EQ(chosen(kSmall, 1.9e5), "ExpandDepthwise+body ");
  EXPECT_EQ(chosen(kSmall, 2.0e5), "ExpandDepthwise+body ");
}

TEST(Cuts, AnOperatorIsTakenApartWithItsEpilogue) { EXPECT_EQ(chosen(kSmall, 2.1e5), "Conv+body Conv+body "); }

TEST(Cuts, MuchBetweenThePartsWantsAClearGain) {
  EXPECT_EQ(chosen(kLarge, 2.1e5), "ExpandDepthwise+body ");
  EXPECT_EQ(chosen(kLarge, 2.5e5), "Conv+body Conv+body ");
}

}  // namespace
}  // namespace tenfold::tune
