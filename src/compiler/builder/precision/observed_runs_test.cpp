// Runs that go on side by side: what they answer, in which order values are looked at, and which sample is blamed.
#include "builder/precision/observed_runs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "ir/text.h"
#include "ops/cases.h"
#include "tenfold/error.h"

namespace tenfold::builder {
namespace {

constexpr const char* kModel = R"((x f32[1,19,13,11])
  w = constant f32[37,19,3,3]
  c = Conv(x, w) kernel_shape=[3,3]
  r = Relu(c)
  v = constant f32[5,37,1,1]
  y = Conv(r, v) kernel_shape=[1,1])";

ir::Graph model() {
  return ir::parse_graph(kModel, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

Batch batch_of(int count) {
  Batch batch{6};
  for (int i = 0; i < count; ++i)
    batch.samples.push_back({{"x", ops::random_tensor(DType::f32, {1, 19, 13, 11}, static_cast<std::uint64_t>(i) + 1)}});
  return batch;
}

bool equal(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.bytes())) == 0;
}

TEST(ObservedRuns, SideBySideEachValueIsSeenInTheOrderOfTheSamples) {
  constexpr int kCount = 23;
  const Batch batch = batch_of(kCount);
  ObservedRuns one_by_one(model(), {}, {}), side_by_side(model(), {}, {}, ObservedRuns::Processors::side_by_side);
  using Seen = std::map<std::string, std::vector<Tensor>, std::less<>>;
  Seen expected{{"x", {}}, {"r", {}}, {"y", {}}}, seen = expected;
  const std::set<std::string, std::less<>> values{"x", "r", "y"};
  const auto into = [](Seen& to) {
    return [&to](std::string_view value, const Tensor& t) { to.find(value)->second.push_back(t.clone()); };
  };
  const auto answers = side_by_side.run_all(batch, into(seen), values);
  ASSERT_EQ(answers.size(), batch.samples.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::vector<RuntimeValue> reference = one_by_one.run(batch.samples[i], into(expected), values);
    EXPECT_TRUE(equal(answers[i].at(0).tensor(), reference.at(0).tensor())) << i;
    EXPECT_TRUE(equal(expected["y"][i], reference[0].tensor())) << "however its elements lie in memory";
  }
  for (const auto& [name, tensors] : expected) {
    ASSERT_EQ(seen[name].size(), tensors.size()) << name;
    for (std::size_t i = 0; i < tensors.size(); ++i) EXPECT_TRUE(equal(seen[name][i], tensors[i])) << name << " " << i;
  }
}

TEST(ObservedRuns, TheFirstSampleThatFailsIsNamed) {
  Batch batch = batch_of(9);
  batch.samples[4] = {}, batch.samples[7] = {};
  ObservedRuns runs(model(), {}, {}, ObservedRuns::Processors::side_by_side);
  try {
    runs.run_all(batch);
    FAIL() << "a sample without its input ran";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("sample 14 of the calibration"), std::string::npos) << e.what();
  }
  batch.samples[4] = batch.samples[7] = batch.samples[0];
  EXPECT_EQ(runs.run_all(batch).size(), 9U);
}

}  // namespace
}  // namespace tenfold::builder
