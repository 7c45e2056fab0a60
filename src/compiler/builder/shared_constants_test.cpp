// Graphs of several profiles hold equal weights once.
#include "builder/shared_constants.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"

namespace tenfold::builder {
namespace {

ir::Graph parsed(const std::string& text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

const ir::Constant* weight_of(const ir::Graph& graph, int node = 0) {
  return (*std::next(graph.nodes().begin(), node))->in(1)->constant.get();
}

TEST(SharedConstants, EqualOnesBecomeOne) {
  const char* const text = "(x f32[2,64], w f32[64,64]!, v f32[64,64]!)\n a = MatMul(x, w)\n y = MatMul(a, v)\n";
  ir::Graph first = parsed(text), second = parsed(text);
  ASSERT_NE(weight_of(first), weight_of(second));
  SharedConstants shared;
  shared.share(first), shared.share(second);
  for (const int node : {0, 1}) EXPECT_EQ(weight_of(first, node), weight_of(second, node));
  EXPECT_NE(weight_of(first, 0), weight_of(first, 1));
  ir::verify(second);
}

TEST(SharedConstants, OthersStay) {
  ir::Graph first = parsed("(x f32[2,64], w f32[64,64]!)\n y = MatMul(x, w)\n"),
            small = parsed("(x f32[2,4], w f32[4,4]!)\n y = MatMul(x, w)\n");
  ir::Graph shape = parsed("(x f32[2,32], w f32[32,128]!)\n y = MatMul(x, w)\n"), source = first.clone();
  SharedConstants shared;
  shared.know(source);
  ir::Graph changed = parsed("(x f32[2,64], w f32[64,64]!)\n y = MatMul(x, w)\n");
  const ir::Constant* const own = weight_of(changed);
  shared.share(first), shared.share(small), shared.share(shape), shared.share(changed);
  EXPECT_EQ(weight_of(first), weight_of(source));
  EXPECT_EQ(weight_of(changed), own) << "the first that is not the source's stays";
}

std::int64_t kib_of(const char* key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::int64_t kib = 0; word == key && status >> kib) return kib;
  return -1;
}

// Weights are folded for each profile, and a plan's portable graphs hold them to the end: once, whatever the number of profiles.
TEST(SharedConstants, ABuildOfManyProfilesHoldsWeightsOnce) {
  std::string text = "(x f32[batch,1024]";
  for (int i = 0; i < 8; ++i) text += cat(", w", i, " f32[1024,1024]!");
  text += ")\n";
  for (int i = 0; i < 8; ++i)
    text += cat(" t", i, " = Transpose(w", i, ") perm=[1,0]\n ", i == 7 ? "y" : cat("h", i), " = MatMul(", i ? cat("h", i - 1) : "x", ", t",
                i, ")\n");
  const pid_t child = ::fork();   // whose memory nobody else has enlarged
  if (child == 0) {
    const ir::Graph graph = parsed(text);
    BuildConfig config;
    config.optimization_level = 0, config.threads = 1;
    for (const std::int64_t max : {1, 8, 32, 64, 128}) config.profiles.push_back({{"x", {{1, 1024}, {max, 1024}, {max, 1024}}}});
    const std::int64_t before = kib_of("VmRSS:");
    const Engine engine = build_graph(graph, config);
    const std::int64_t grown = kib_of("VmHWM:") - before, weights = 8 << 12;
    const bool sound = engine.info().profiles == 5 && before > weights;
    ::_exit(!sound ? 100 : static_cast<int>(std::min<std::int64_t>(10 * grown / weights, 99)));
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_LE(WEXITSTATUS(status), 35) << "tenths of the weights' bytes beside the model's own: packed and folded once";
}

}  // namespace
}  // namespace tenfold::builder
