// What a caller can do wrong at run time ends in a status with words for it, and the context works on afterwards.
#include <gtest/gtest.h>

#include "base/checked.h"
#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"

namespace tenfold {
namespace {

ir::Graph parse(const char* text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

// y = x * w, batch 1 to 4; z must have x's batch.
class BadRuns : public testing::Test {
 protected:
  static Engine build() {
    BuildConfig config;
    config.optimization_level = 0, config.threads = 1;
    config.profiles = {{{"x", {{1, 6}, {2, 6}, {4, 6}}}, {"z", {{1, 4}, {2, 4}, {4, 4}}}}};
    return builder::build_graph(parse("(x f32[batch,6], z f32[batch,4], w f32[6,4]!)\n t = MatMul(x, w)\n y = Add(t, z)"), config);
  }
  void TearDown() override {
    const Tensor x = ops::random_tensor(DType::f32, {3, 6}, 1), z = ops::random_tensor(DType::f32, {3, 4}, 2);
    EXPECT_EQ(context->run({x, z}).at(0).shape(), (Shape{3, 4})) << "the context is of no use after a refusal";
  }
  void expect(Status status, Status::Code code, const std::string& words) {
    EXPECT_EQ(status.code, code);
    EXPECT_NE(context->describe(status).find(words), std::string::npos)
        << "wanted '" << words << "', got '" << context->describe(status) << "'";
  }
  void expect_thrown(const std::vector<Tensor>& inputs, const std::string& words) {
    try {
      context->run(inputs);
      ADD_FAILURE() << "wanted '" << words << "'";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << "wanted '" << words << "', got '" << e.what() << "'";
    }
  }
  Status set(int binding, const Shape& shape) { return context->set_input_shape(binding, shape); }
  void bind_all(std::int64_t batch) {
    ASSERT_TRUE(set(0, {batch, 6}) && set(1, {batch, 4}));
    for (int b = 0; b < 3; ++b) context->own_memory(b);
  }

  Engine engine = build();
  std::unique_ptr<ExecutionContext> context = engine.create_context();
};

TEST_F(BadRuns, MissingInputs) {
  expect(context->run(), Status::not_ready, "input 'x': ");
  bind_all(2);
  EXPECT_TRUE(context->run());
  expect_thrown({ops::random_tensor(DType::f32, {2, 6}, 1)}, "2 inputs, 1 given");
  EXPECT_THROW(engine.binding_index("v"), Error);
}

TEST_F(BadRuns, TypesAndShapes) {
  const Tensor z = ops::random_tensor(DType::f32, {2, 4}, 2);
  expect_thrown({ops::random_tensor(DType::f64, {2, 6}, 1), z}, "input 'x' is f32, f64 given");
  expect_thrown({ops::random_tensor(DType::f32, {2, 5}, 1), z}, "2x5");
  expect_thrown({ops::random_tensor(DType::f32, {2, 6, 1}, 1), z}, "2x6x1");
  expect_thrown({ops::random_tensor(DType::f32, {3, 6}, 1), z},
                "input 'z': invalid shape: 2x4 disagrees with the shapes of other inputs: 'z' axis 0 ('batch') is 2; "
                "'x' axis 0 ('batch') is 3");
  bind_all(2);
  EXPECT_TRUE(context->run());
  expect(set(0, {2, 5}), Status::invalid_shape, "declared as -1x6");
  expect(set(0, {2}), Status::invalid_shape, "declared as -1x6");
  expect(set(0, {-2, 6}), Status::invalid_shape, "declared as -1x6");
  expect(set(7, {2, 6}), Status::invalid_binding, "no binding 7");
  expect(set(2, {2, 4}), Status::invalid_binding, "output 'y'");
}

TEST_F(BadRuns, OutsideTheProfile) {
  bind_all(2);
  EXPECT_TRUE(context->run());
  for (const std::int64_t batch : {std::int64_t{0}, std::int64_t{5}, std::int64_t{1} << 40, INT64_MAX}) {
    EXPECT_TRUE(set(0, {batch, 6}) && set(1, {batch, 4}));
    expect(context->run(), Status::invalid_shape, cat("input 'x': invalid shape: ", batch, "x6 lies outside every profile: 1..4x6"));
  }
  EXPECT_TRUE(set(0, {2, 6}) && set(1, {5, 4}));   // the one that is outside is blamed, not the one that disagrees with it
  expect(context->run(), Status::invalid_shape, "input 'z': invalid shape: 5x4 lies outside every profile: 1..4x4");
  EXPECT_TRUE(set(0, {5, 6}) && set(1, {2, 4}));
  expect(context->run(), Status::invalid_shape, "input 'x': invalid shape: 5x6 lies outside every profile: 1..4x6");
  expect(context->set_profile(2), Status::invalid_shape, "no profile 2: the plan has 1, numbered from 0");
  expect(context->set_profile(-2), Status::invalid_shape, "no profile -2");
  EXPECT_TRUE(context->set_profile(0));
}

TEST(BadShapes, BlameTheInputThatEveryProfileRefuses) {
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  for (const std::int64_t first : {1, 20}) {
    OptimizationProfile& profile = config.profiles.emplace_back();
    profile["x"] = {{first}, {first}, {first + 7}}, profile["s"] = {{}, {}, {}}, profile["z"] = {{first}, {first}, {first + 3}};
  }
  const Engine engine = builder::build_graph(parse("(x f32[n], z f32[m], s f32[])\n y = Mul(x, s)\n w = Mul(z, s)"), config);
  const auto context = engine.create_context();
  const auto refusal = [&](std::int64_t x, std::int64_t z) {
    for (const auto& [input, shape] : {std::pair{"x", Shape{x}}, {"z", Shape{z}}, {"s", Shape{}}})
      EXPECT_TRUE(context->set_input_shape(engine.binding_index(input), shape));
    for (std::size_t b = 0; b < engine.bindings().size(); ++b) context->own_memory(static_cast<int>(b));
    const Status status = context->run();
    EXPECT_EQ(status.code, Status::invalid_shape);
    return context->describe(status);
  };
  EXPECT_EQ(refusal(16, 2), "input 'x': invalid shape: 16 lies outside every profile: 1..8, 20..27");
  EXPECT_EQ(refusal(21, 9), "input 'z': invalid shape: 9 lies outside every profile: 1..4, 20..23");
  EXPECT_EQ(refusal(21, 2),
            "input 'z': invalid shape: no profile covers 2 together with the shapes of the other inputs; it allows here 1..4, 20..23");
}

TEST_F(BadRuns, Memory) {
  std::vector<float> x(12), y(8);
  ASSERT_TRUE(set(0, {2, 6}) && set(1, {2, 4}));
  context->own_memory(1);
  expect(context->run(), Status::not_ready, "input 'x'");
  EXPECT_TRUE(context->bind(0, x.data(), 47));  // a byte short
  EXPECT_TRUE(context->bind(2, y.data(), 32));
  expect(context->run(), Status::invalid_binding, "input 'x': invalid binding: 47 bytes are bound, the shapes set need 48");
  EXPECT_TRUE(context->bind(0, x.data(), 48));
  EXPECT_TRUE(context->bind(2, y.data(), 31));
  expect(context->run(), Status::invalid_binding, "output 'y': invalid binding: 31 bytes are bound, the shapes set need 32");
  EXPECT_TRUE(context->bind(2, y.data(), 32));
  EXPECT_TRUE(context->run());
  expect(context->bind(-1, y.data(), 32), Status::invalid_binding, "binding");
  expect(context->bind(3, y.data(), 32), Status::invalid_binding, "no binding 3: the engine has 3, numbered from 0");
}

TEST(BadData, IndicesOutsideTheirTensor) {
  BuildConfig config;
  config.optimization_level = 0;
  for (const char* text : {"(x f32[3,4], i i64[2])\n y = Gather(x, i)", "(x f32[3,4], i i64[2])\n e = GatherND(x, i)\n y = Relu(e)"}) {
    const auto context = builder::build_graph(parse(text), config).create_context();
    for (const std::int64_t index : {std::int64_t{3}, std::int64_t{-4}, INT64_MAX, INT64_MIN}) {
      Tensor i(DType::i64, {2});
      i.mutable_data<std::int64_t>()[0] = index, i.mutable_data<std::int64_t>()[1] = 0;
      EXPECT_THROW(context->run({ops::random_tensor(DType::f32, {3, 4}, 1), i}), Error) << text << " with " << index;
    }
  }
}

TEST(BadOptions, ThreadsThatNoPoolHas) {
  BuildConfig config;
  config.optimization_level = 0;
  const Engine engine = builder::build_graph(parse("(x f32[2])\n y = Relu(x)"), config);
  const std::vector<std::byte> plan = engine.serialize();
  for (const int threads : {-1, 257, 100000, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    config.threads = threads;
    for (const bool load : {false, true}) try {
        if (load) Engine::load(std::span(plan), {.threads = threads});
        else builder::build_graph(parse("(x f32[2])\n y = Relu(x)"), config);
        ADD_FAILURE() << threads;
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
        EXPECT_NE(std::string(e.what()).find("to 256 were expected"), std::string::npos) << e.what();
      }
  }
}

// Extents that are symbols when a plan is built: where the run's values do not suit each other, no kernel may start.
struct Disagreement {
  const char *graph, *words;
  std::vector<Shape> good, bad;
};
class Disagreements : public testing::TestWithParam<Disagreement> {};

TEST_P(Disagreements, AreFoundBeforeAKernelRuns) {
  const auto& [text, words, good, bad] = GetParam();
  const ir::Graph graph = parse(text);
  for (const int level : {0, 1}) {
    BuildConfig config;
    config.optimization_level = level, config.threads = 1;
    OptimizationProfile& profile = config.profiles.emplace_back();
    for (std::size_t i = 0; i < good.size(); ++i) {
      Shape min = good[i], max = good[i];
      for (std::size_t d = 0; d < max.size(); ++d)
        if (!graph.inputs[i]->dims()[d].is_constant()) min[d] = 1, max[d] += 4;
      profile[graph.inputs[i]->name] = {min, good[i], max};
    }
    const auto context = builder::build_graph(graph, config).create_context();
    const auto run = [&](const std::vector<Shape>& shapes) {
      std::vector<Tensor> inputs;
      for (const Shape& s : shapes) inputs.push_back(ops::random_tensor(DType::f32, s, inputs.size() + 1));
      return context->run(inputs);
    };
    for (int again = 0; again < 2; ++again) {
      EXPECT_NO_THROW(run(good)) << text;
      try {
        run(bad);
        ADD_FAILURE() << text << ": wanted '" << words << "'";
      } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << text << ": wanted '" << words << "', got '" << e.what() << "'";
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(
    Symbols, Disagreements,
    testing::Values(Disagreement{"(x f32[n,k], w f32[6,4]!)\n y = MatMul(x, w)", "cannot multiply", {{2, 6}}, {{2, 3}}},
                    Disagreement{"(x f32[n,k], z f32[m,p])\n y = MatMul(x, z)", "cannot multiply", {{2, 6}, {6, 4}}, {{2, 6}, {5, 4}}},
                    Disagreement{"(x f32[n,k], w f32[6]!)\n y = Add(x, w)", "broadcast", {{2, 6}}, {{2, 3}}},
                    Disagreement{"(x f32[n,k], z f32[m,p])\n t = Add(x, z)\n y = Relu(t)", "broadcast", {{2, 6}, {2, 6}}, {{2, 6}, {2, 5}}},
                    Disagreement{
                        "(x f32[n,k,p,q], w f32[4,6,3,3]!)\n y = Conv(x, w) pads=[1,1,1,1]", "channels", {{1, 6, 8, 8}}, {{1, 3, 8, 8}}},
                    Disagreement{"(x f32[n,k], z f32[m,p])\n y = Concat(x, z) axis=0", "differ", {{2, 6}, {1, 6}}, {{2, 6}, {1, 5}}},
                    Disagreement{"(x f32[n,k])\n s = i64[2]{2,6}\n t = Relu(x)\n y = Reshape(t, s)", "reshape", {{2, 6}}, {{2, 5}}},
                    Disagreement{"(x f32[n,k])\n a = i64[1]{1}\n t = Squeeze(x, a)\n y = Relu(t)", "squeezed", {{3, 1}}, {{3, 2}}}));

INSTANTIATE_TEST_SUITE_P(
    MoreSymbols, Disagreements,
    testing::Values(Disagreement{"(x f32[n], z f32[m])\n y = Add(x, z)", "broadcast", {{4}, {4}}, {{2}, {3}}},
                    Disagreement{"(x f32[p,4,4], z f32[q,4,4])\n y = MatMul(x, z)", "broadcast", {{4, 4, 4}, {1, 4, 4}},
                                 {{2, 4, 4}, {3, 4, 4}}},
                    Disagreement{"(x f32[1,c,8,8], w f32[4,d,3,3])\n y = Conv(x, w)", "channels", {{1, 4, 8, 8}, {4, 4, 3, 3}},
                                 {{1, 3, 8, 8}, {4, 4, 3, 3}}},
                    Disagreement{"(x f32[2,n], s f32[m])\n y = LayerNormalization(x, s)", "broadcast", {{2, 4}, {4}}, {{2, 4}, {3}}},
                    Disagreement{"(x f32[2,n,3], s f32[m])\n y = BatchNormalization(x, s, s, s, s)", "channels", {{2, 4, 3}, {4}},
                                 {{2, 4, 3}, {3}}},
                    Disagreement{"(x f32[n,4], z f32[m])\n y = PRelu(x, z)", "broadcast", {{4, 4}, {4}}, {{4, 4}, {3}}},
                    Disagreement{"(x f32[a,4], z f32[4,b], v f32[c,4])\n s = MatMul(x, z)\n p = Softmax(s) axis=-1\n y = MatMul(p, v)",
                                 "cannot multiply", {{4, 4}, {4, 4}, {4, 4}}, {{4, 4}, {4, 3}, {2, 4}}}));

// An operand that is read as one number, and has none.
TEST(BadData, NoNumberWhereOneIsNeeded) {
  for (const char* text : {"(x f32[3,3], n i64[k])\n y = CumSum(x, n)", "(x f32[3,3], n i64[k])\n y = Trilu(x, n)",
                           "(x f32[3,3], n i64[k])\n y, i = TopK(x, n)", "(x f32[3], n i64[k])\n y = Range(n, n, n)",
                           "(x f32[3], n i64[k], v f32[2])\n i = Cast(x) to=\"i64\"\n y = OneHot(i, n, v)",
                           "(x i64[3], n i64[k])\n p = i64[2]{1,1}\n y = Pad(x, p, n) mode=\"constant\""}) {
    SCOPED_TRACE(text);
    BuildConfig config;
    config.optimization_level = 0;
    const ir::Graph graph = parse(text);
    OptimizationProfile& profile = config.profiles.emplace_back();
    for (const ir::Value* v : graph.inputs)
      profile[v->name] = v->name == "n" ? ShapeRange{{0}, {1}, {1}}
                                        : ShapeRange{ir::constants(v->dims()), ir::constants(v->dims()), ir::constants(v->dims())};
    const Engine engine = builder::build_graph(parse(text), config);
    std::vector<Tensor> inputs;
    for (const BindingInfo& b : engine.bindings())
      if (b.is_input) inputs.push_back(ops::random_tensor(b.dtype, b.name == "n" ? Shape{0} : b.shape, 1));
    EXPECT_THROW(engine.create_context()->run(inputs), Error);
  }
}

}  // namespace
}  // namespace tenfold
