// What a build tells of its progress: done never passes total, and every walk ends at its total, whatever is taken apart meanwhile.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "tune/timing/timer.h"
#include "tune/tuner.h"

namespace tenfold::tune {
namespace {

// A merged product takes much longer than its parts.
class PartsAreFast final : public Timer {
 public:
  double time(const backends::Tactic&, const backends::Problem& problem, const backends::Config&, double) override {
    return problem.line().find("[64,192]") == std::string::npos ? 1e4 : 1e7;
  }
};

struct Reported { std::string phase; int done, total; };

std::vector<Reported> reported_by(bool twice, int& nodes) {
  ir::Graph graph = ir::parse_graph(R"((x f32[96,64], w f32[64,192]!, v f32[48,48]!)
    qkv = MatMul(x, w)
    q, k, l, m = Split(qkv) axis=-1 num_outputs=4
    a = MatMul(q, v)
    b = MatMul(k, v)
    c = MatMul(l, v)
    d = MatMul(m, v)
    y = Concat(a, b, c, d) axis=0)",
                                    ir::Registry::builtin(),
                                    {.random_constant = [](DType t, const Shape& shape, std::uint64_t) { return Tensor(t, shape); }});
  const auto backend = backends::open_backend("cpu");
  BuildConfig config;
  std::vector<Reported> reported;
  config.progress = [&](const Progress& p) {
    reported.push_back({std::string(p.phase), p.done, p.total});
    return true;
  };
  TimingCache cache;
  BuildReport report;
  PartsAreFast timer;
  const TuneOptions options{.config = &config, .cache = &cache, .report = &report};
  if (twice) choose_twice(graph, *backend, *backend, options, timer, false);
  else choose_once(graph, *backend, *backend, options, timer, false);
  nodes = static_cast<int>(graph.nodes().size());
  return reported;
}

TEST(Progress, CountsWhatIsTakenApart) {
  int nodes = 0;
  const std::vector<Reported> reported = reported_by(false, nodes);
  EXPECT_EQ(nodes, 9);   // four parts in place of a product and its Split, and five others
  ASSERT_EQ(reported.size(), 9u);
  for (std::size_t i = 0; i < reported.size(); ++i) {
    EXPECT_EQ(reported[i].done, static_cast<int>(i) + 1);
    EXPECT_EQ(reported[i].total, 9);
  }
}

TEST(Progress, EveryWalkEndsAtItsTotal) {
  int nodes = 0;
  const std::vector<Reported> reported = reported_by(true, nodes);
  ASSERT_FALSE(reported.empty());
  EXPECT_EQ(reported.front().phase, "tune");
  EXPECT_EQ(reported.back().phase, "confirm");
  for (std::size_t i = 0; i < reported.size(); ++i) {
    EXPECT_GE(reported[i].done, 1);
    EXPECT_LE(reported[i].done, reported[i].total) << reported[i].phase;
    const bool last = i + 1 == reported.size() || reported[i + 1].done <= reported[i].done;
    EXPECT_EQ(last, reported[i].done == reported[i].total) << reported[i].phase << " " << i;
  }
}

}  // namespace
}  // namespace tenfold::tune
