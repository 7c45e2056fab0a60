// Movements that need no step: what is transposed lies as it is wanted already.
#include "builder/storage.h"

#include <gtest/gtest.h>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold::builder {
namespace {

// Steps of the plan; its results are compared with the interpreter's on the way.
int steps_of(const char* text) {
  const ir::Graph graph =
      ir::parse_graph(text, ir::Registry::builtin(),
                      {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
  const Tensor x = ops::random_tensor(DType::f32, ir::constants(graph.inputs[0]->dims()), 7);
  BuildConfig config;
  config.optimization_level = 0;  // layouts by what reformats cost, not by a time that may be off
  const Engine engine = build_graph(graph, config);
  const std::vector<Tensor> got = engine.create_context()->run({x});
  const std::vector<ops::RuntimeValue> want = ops::run_graph(graph, {x});
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto& truth = std::get<Tensor>(want[i]);
    for (std::int64_t at = 0; at < truth.size(); ++at) EXPECT_NEAR(got[i].as_double(at), truth.as_double(at), 1e-4) << engine.inspect();
  }
  return engine.info().steps;
}

// Images whose channels lie last, between transposes, as other frameworks' models have them.
TEST(Storage, TransposesAroundAConvolutionAreViews) {
  EXPECT_EQ(1, steps_of(R"((x f32[2,9,8,5], w f32[7,5,3,3]!)
    a = Transpose(x) perm=[0,3,1,2]
    b = Conv(a, w) pads=[1,1,1,1]
    y = Transpose(b) perm=[0,2,3,1])"));
  EXPECT_EQ(1, steps_of(R"((x f32[2,11,20], w f32[9,20,4]!)
    a = Transpose(x) perm=[0,2,1]
    b = Conv(a, w)
    y = Transpose(b) perm=[0,2,1])"));
  EXPECT_EQ(2, steps_of(R"((x f32[2,9,8,5], w f32[7,5,3,3]!, v f32[6,7,1,1]!)
    a = Transpose(x) perm=[0,3,1,2]
    b = Conv(a, w)
    c = Conv(b, v)
    y = Transpose(c) perm=[0,2,3,1])"));
}

// Other permutations move elements: results are checked above all.
TEST(Storage, OtherTransposesAreSteps) {
  EXPECT_LT(1, steps_of(R"((x f32[2,9,8,5], w f32[7,5,3,3]!)
    a = Transpose(x) perm=[0,3,2,1]
    b = Conv(a, w) pads=[1,1,1,1]
    y = Transpose(b) perm=[0,3,2,1])"));
}

}  // namespace
}  // namespace tenfold::builder
