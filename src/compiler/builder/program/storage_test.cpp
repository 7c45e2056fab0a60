// Movements that need no step: what is transposed lies as it is wanted already.
#include "builder/program/storage.h"

#include <gtest/gtest.h>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "tenfold/inspect.h"

namespace tenfold::builder {
namespace {

// Results are compared with the interpreter's.
Engine engine_of(const std::string& text) {
  const ir::Graph graph =
      ir::parse_graph(text, ir::Registry::builtin(),
                      {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
  const Tensor x = ops::random_tensor(DType::f32, ir::constants(graph.inputs[0]->dims()), 7);
  BuildConfig config;
  config.optimization_level = 0;  // layouts by what reformats cost, not by a time that may be off
  Engine engine = build_graph(graph, config);
  const std::vector<Tensor> got = engine.create_context()->run({x});
  const std::vector<ops::RuntimeValue> expected = ops::run_graph(graph, {x});
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto& truth = std::get<Tensor>(expected[i]);
    for (std::int64_t at = 0; at < truth.size(); ++at) EXPECT_NEAR(got[i].as_double(at), truth.as_double(at), 1e-4) << engine.inspect();
  }
  return engine;
}
int steps_of(const char* text) { return engine_of(text).info().steps; }

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

// Blocks of ConvNeXt. A kernel from plain tensors to plain ones may run the convolution alone faster: the transposes, which are steps
// beside it, count for the others.
TEST(Storage, TransposesAroundADepthwiseConvolutionAreViews) {
  std::string text = R"((x f32[1,14,14,32], w f32[32,1,7,7]!, v f32[32,64]!, u f32[64,32]!, s f32[32]!, t f32[32]!)
    x0 = Transpose(x) perm=[0,3,1,2]
)";
  for (int i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i);
    text += cat("a", n, " = Conv(x", n, ", w) group=32 pads=[3,3,3,3]\n b", n, " = Transpose(a", n, ") perm=[0,2,3,1]\n l", n,
                " = LayerNormalization(b", n, ", s, t)\n m", n, " = MatMul(l", n, ", v)\n g", n, " = Gelu(m", n, ")\n p", n,
                " = MatMul(g", n, ", u)\n q", n, " = Transpose(p", n, ") perm=[0,3,1,2]\n x", i + 1, " = Add(x", n, ", q", n, ")\n");
  }
  const Engine engine = engine_of(text + "y = Transpose(x2) perm=[0,2,3,1]");
  const PlanInspection inspection = engine.inspection();
  for (const PlanStep& step : inspection.programs[0].steps) EXPECT_NE("Transpose", step.op) << engine.inspect();
}

// Other permutations move elements: results are checked above all.
TEST(Storage, OtherTransposesAreSteps) {
  EXPECT_LT(1, steps_of(R"((x f32[2,9,8,5], w f32[7,5,3,3]!)
    a = Transpose(x) perm=[0,3,2,1]
    b = Conv(a, w) pads=[1,1,1,1]
    y = Transpose(b) perm=[0,3,2,1])"));
}

// An output that lies channels-last: one step brings it to plain order where the caller wants it, also where others read it.
TEST(Storage, OutputsInOtherLayoutsAreNotCopied) {
  for (const char* rest : {"", "z = Relu(y)\n t = Conv(z, v)\n return y, z, t"}) {
    const Engine engine = engine_of(
        cat("(x f32[2,5,9,8], w f32[7,5,3,3]!, v f32[6,7,1,1]!)\n y = Conv(x, w) pads=[1,1,1,1]\n", rest));
    int reformats = 0;
    const PlanInspection inspection = engine.inspection();
    for (const PlanStep& step : inspection.programs[0].steps) {
      reformats += step.op == "Reformat";
      EXPECT_NE("copy", step.kind) << engine.inspect();
    }
    EXPECT_LT(0, reformats);
  }
}

// A tactic is asked whether it takes misaligned addresses, however dense what lies there is: kernels that describe
// their operands to a library load and then fail every run.
TEST(Storage, MisalignedAddressesAreAskedFor) {
  const auto viewed = [](int length, bool takes) {
    const ir::Graph graph = ir::parse_graph(cat("(x f16[2,1,", length, R"(], w f16[4,1,3])
    r = Relu(x)
    a, b = Split(r) axis=0
    y = Conv(a, w)
    z = Conv(b, w)
    return y, z)"),
                                            ir::Registry::builtin());
    const auto never = [](const backends::Problem& p) {
      return backends::Verdict::only_if(!p.may_be_misaligned(), "misaligned addresses");
    };
    const backends::Tactic tactic{.name = "aligned", .ops = {"Conv"}, .supports = never};
    const auto always = [](const backends::Problem&) { return backends::Verdict::ok(); };
    const backends::Tactic any{.name = "any", .ops = {"Conv"}, .supports = always};
    tune::Choice choice;
    const ir::Node* split = nullptr;
    for (const auto& n : graph.nodes()) {
      if (n->op() == "Split") split = n.get();
      tune::NodeChoice& c = choice[n.get()];
      c.formats = {std::vector<backends::Layout>(n->inputs.size()), std::vector<backends::Layout>(n->outputs.size())};
      if (n->op() == "Conv") c.tactic = takes ? &any : &tactic;
    }
    const ir::SymbolBounds box;
    const backends::DeviceInfo device;
    return !Storage(graph, choice, box, device).needs_step(*split);
  };
  EXPECT_FALSE(viewed(16001, false));
  EXPECT_TRUE(viewed(16001, true));
  EXPECT_TRUE(viewed(16000, false));
}

// The first rows of a constant table, as many as an input has: they lie in the table, and nothing counts them at run time.
TEST(Storage, PartsOfConstantsUpToALengthOfTheRunNeedNoStep) {
  const ir::Graph graph = ir::parse_graph(
      R"((x f32[n,3], table f32[8,3]!)
    zero = i64[1]{0}
    shape = Shape(x)
    length = Gather(shape, zero) axis=0
    places = Slice(table, zero, length)
    y = Add(x, places)
    return y)",
      ir::Registry::builtin(), {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
  const ir::SymbolBounds box{{"n", {1, 8}}};
  const tune::Choice choice;
  const backends::DeviceInfo device;
  const Storage storage(graph, choice, box, device);
  for (const auto& node : graph.nodes()) EXPECT_EQ(storage.needs_step(*node), node->op() == "Add") << node->op();
  const ir::Node& slice = *graph.outputs[0]->producer->in(1)->producer;
  ASSERT_NE(storage.view(slice.out()), nullptr);
  EXPECT_EQ(storage.view(slice.out())->root, slice.in(0));
  EXPECT_TRUE(storage.needs_memory(slice));
  EXPECT_FALSE(storage.needs_memory(*slice.in(2)->producer));
}

}  // namespace
}  // namespace tenfold::builder
