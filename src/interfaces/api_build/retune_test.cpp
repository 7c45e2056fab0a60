// Re-tuning: a plan's portable graphs give back the model, constants included, whatever packing the first choice used.
#include <unistd.h>

#include "api_build/network_for_tests.h"
#include "plan/read.h"
#include "runtime/engine/opened.h"

namespace tenfold {
namespace {

Tensor wave(Shape shape, double phase) {
  Tensor t(DType::f32, std::move(shape));
  for (std::int64_t i = 0; i < t.size(); ++i)
    t.mutable_data<float>()[i] = static_cast<float>(std::sin(phase + 0.7 * static_cast<double>(i)));
  return t;
}

// Convolution, product, normalization, a quantized convolution, a branch and a reshape: packed, stored and literal constants.
Network model() {
  Network n("mixed");
  NetworkTensor x = n.input("x", DType::f32, {"batch", 8, 6, 6});
  const NetworkTensor flag = n.input("flag", DType::boolean, {});
  x = n.activation(Activation::relu,
                   n.convolution(x, n.constant(wave({16, 8, 3, 3}, 1), "w1"), n.constant(wave({16}, 2), "b1"), {.padding = {1, 1}}));
  const NetworkTensor scale = n.constant(floats({}, {0.1})), zero = n.constant(numbers(DType::u8, {}, {0}));
  Tensor weights(DType::i8, {16, 16, 1, 1});
  for (int i = 0; i < 256; ++i) weights.mutable_data<std::int8_t>()[i] = static_cast<std::int8_t>(i * 37 % 200 - 100);
  const NetworkTensor q = n.dequantize(n.quantize(x, scale, zero), scale, zero);
  x = n.convolution(q, n.dequantize(n.constant(weights), n.constant(floats({}, {0.01})), n.constant(numbers(DType::i8, {}, {0})), 0));
  x = n.shuffle(x, {}, Shape{0, -1});
  x = n.matrix_multiply(x, n.constant(wave({576, 24}, 3), "w2"));
  x = n.normalization(x, n.constant(wave({24}, 4)), n.constant(wave({24}, 5)));
  const NetworkTensor shift = n.constant(wave({24}, 6));
  x = n.if_conditional(
      flag, {x, shift},
      [](Network& b, const Network::Tensors& in) { return Network::Tensors{b.elementwise(Elementwise::sum, in[0], in[1])}; },
      [](Network& b, const Network::Tensors& in) { return Network::Tensors{b.activation(Activation::tanh, in[0])}; })[0];
  n.mark_output(x, "y");
  return n;
}

BuildConfig two_profiles() {
  BuildConfig config;
  config.optimization_level = 1;
  config.profiles = {{{"x", {{1, 8, 6, 6}, {1, 8, 6, 6}, {1, 8, 6, 6}}}}, {{"x", {{2, 8, 6, 6}, {3, 8, 6, 6}, {4, 8, 6, 6}}}}};
  return config;
}

// 1e-3, because weights of 24 bits may be chosen on one side: w2's waves nearly cancel out in the sums, which enlarges their rounding.
void expect_same_answers(const Engine& a, const Engine& b) {
  for (const std::int64_t batch : {1, 3})
    for (const double flag : {0, 1}) {
      const std::vector<Tensor> inputs{wave({batch, 8, 6, 6}, 9), numbers(DType::boolean, {}, {flag})};
      const Tensor expected = a.create_context()->run(inputs)[0], got = b.create_context()->run(inputs)[0];
      std::vector<double> values;
      for (std::int64_t i = 0; i < expected.size(); ++i) values.push_back(expected.as_double(i));
      expect_values(got, expected.shape(), values, 1e-3);
    }
}

TEST(Retune, GivesTheSameModel) {
  const Engine first = build(model(), two_profiles());
  ASSERT_FALSE(runtime::state_of(first)->plan.portable.empty());
  EXPECT_NE(runtime::state_of(first)->plan.portable.find("\npacked "), std::string::npos) << runtime::state_of(first)->plan.portable;
  const Engine second = retune(first, {.optimization_level = 1});
  EXPECT_EQ(second.info().profiles, 2);
  EXPECT_EQ(second.bindings()[0].names, first.bindings()[0].names);
  expect_same_answers(first, second);
}

// Tactics, layouts and cuts at random, so that many packings are undone; then from a file, and twice in a row.
TEST(Retune, WhateverWasChosen) {
  const Engine truth = build(model(), two_profiles());
  const std::string path = testing::TempDir() + "retune_test.plan";
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    BuildConfig config = two_profiles();
    config.random_choices = seed;
    build(model(), config).save(path);
    BuildConfig again{.optimization_level = 1};
    again.random_choices = seed + 100;
    const Engine second = retune_file(path, again);
    expect_same_answers(truth, second);
    expect_same_answers(truth, retune(second, {.optimization_level = 1}));
  }
  std::remove(path.c_str());
}

TEST(Retune, Refusals) {
  BuildConfig config = two_profiles();
  config.keep_portable_graph = false;
  const Engine bare = build(model(), config);
  const auto refused = [](const Engine& engine, const BuildConfig& with, const char* part) {
    try {
      retune(engine, with);
      ADD_FAILURE() << "nothing was refused";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused(bare, {}, "no portable graph");
  const Engine whole = build(model(), two_profiles());
  refused(whole, two_profiles(), "keeps the plan's profiles");
  refused(whole, {.device = "null"}, "built for 'cpu'");
}

void refuses_no_tf32(const Engine& engine) {
  BuildConfig exact{.optimization_level = 0};
  exact.tf32 = false;
  try {
    retune(engine, exact);
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--noTF32"), std::string::npos) << error.what();
  }
}

// A plan has the weights that it multiplies: where these were rounded, tuning again needs permission for that, too.
TEST(Retune, RoundedWeights) {
  Network n("rounded");
  const NetworkTensor x = n.input("x", DType::f32, {2, 300});
  n.mark_output(n.matrix_multiply(x, n.constant(wave({300, 400}, 1), "w")), "y");
  const std::vector<Tensor> inputs{wave({2, 300}, 9)};
  const auto outcome = [&](const Engine& engine) { return engine.create_context()->run(inputs)[0]; };
  BuildConfig exact{.optimization_level = 0}, rounding = exact;
  exact.tf32 = false, rounding.forced_tactics = {{"MatMul", "matmul_gemv_f24"}};
  const Engine whole = build(n, exact), rounded = build(n, rounding);
  ASSERT_NE(rounded.inspect().find("matmul_gemv_f24"), std::string::npos) << rounded.inspect();
  const Tensor expected = outcome(whole);
  const auto expect_near = [&](const Tensor& got) {
    for (std::int64_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(got.as_double(i), expected.as_double(i), 1e-3);
  };
  expect_near(outcome(retune(whole, exact)));
  EXPECT_LT(rounded.info().weight_bytes, 300 * 400 * 4);
  std::string warnings;
  const LogCallback log = [&](Severity severity, std::string_view text) { warnings += severity == Severity::warning ? text : ""; };
  const Engine again = retune(rounded, {.optimization_level = 0, .log = log});
  EXPECT_NE(warnings.find("rounded"), std::string::npos) << warnings;
  expect_near(outcome(again));
  refuses_no_tf32(rounded);
  refuses_no_tf32(again);   // whatever it holds its weights in now, they were rounded before
  warnings.clear();
  retune(whole, {.optimization_level = 0, .log = log});
  EXPECT_EQ(warnings, "");
}

// Weights that the packing holds exactly may become others that it does not.
TEST(Retune, RefittedWeightsMayBeRounded) {
  Network n("refitted");
  const NetworkTensor x = n.input("x", DType::f32, {2, 300});
  n.mark_output(n.matrix_multiply(x, n.constant(counting({300, 400}, 0), "w")), "y");   // zeros
  BuildConfig config{.optimization_level = 0};
  config.refittable = true, config.forced_tactics = {{"MatMul", "matmul_gemv_f24"}};
  const Engine engine = build(n, config);
  refuses_no_tf32(engine.refit({{"w", wave({300, 400}, 1)}}));
}

// Two products that read one weight, rounded in two ways: the nearer one is the model. Fixed point beside a column's largest element
// leaves little of the others.
TEST(Retune, TheNearerOfTwoRoundings) {
  Network n("two roundings");
  Tensor w = wave({300, 400}, 1);
  for (int i = 0; i < 400; ++i) w.mutable_data<float>()[i] = 1e4f;
  const NetworkTensor weights = n.constant(w, "w");
  n.mark_output(n.matrix_multiply(n.input("a", DType::f32, {2, 300}), weights), "c");
  n.mark_output(n.matrix_multiply(n.input("b", DType::f32, {3, 300}), weights), "d");
  for (const bool first : {true, false}) {
    BuildConfig config{.optimization_level = 0};
    config.forced_tactics = {{"MatMul f32[2,300]", first ? "matmul_gemv_s16" : "matmul_gemv_f24"},
                             {"MatMul f32[3,300]", first ? "matmul_gemv_f24" : "matmul_gemv_s16"}};
    const Engine engine = build(n, config);
    const std::string steps = engine.inspect();
    for (const char* tactic : {"matmul_gemv_s16", "matmul_gemv_f24"})
      if (steps.find(tactic) == std::string::npos) GTEST_SKIP() << "this CPU has no " << tactic << "\n" << steps;
    BuildConfig plain{.optimization_level = 0};
    plain.tactic_sources = static_cast<std::uint32_t>(TacticSource::reference);
    Tensor row = counting({2, 300}, 0), none = counting({3, 300}, 0);
    row.mutable_data<float>()[7] = 1;
    const Tensor got = retune(engine, plain).create_context()->run({row, none})[0];
    for (int i = 0; i < 400; ++i) ASSERT_NEAR(got.as_double(i), w.as_double(7 * 400 + i), 1e-4) << i;
  }
}

// The same bytes as matrices of two shapes, packed apart.
TEST(Retune, EqualBytesOfOtherShapes) {
  Network n("twice");
  const NetworkTensor x = n.matrix_multiply(n.input("x", DType::f32, {2, 300}), n.constant(wave({300, 400}, 1), "w"));
  n.mark_output(n.matrix_multiply(x, n.constant(wave({400, 300}, 1), "v")), "y");
  const BuildConfig config{.optimization_level = 0};
  EXPECT_NO_THROW(retune(build(n, config), config));
}

// Weights of products that the graph itself permits to round to bf16 need no other leave.
TEST(Retune, RoundedByTheGraphItself) {
  Network n("half quantized");
  const NetworkTensor scale = n.constant(floats({}, {0.02})), zero = n.constant(numbers(DType::i8, {}, {0}));
  Tensor bytes(DType::i8, {512, 512});
  for (int i = 0; i < 512 * 512; ++i) bytes.mutable_data<std::int8_t>()[i] = static_cast<std::int8_t>(i * 37 % 200 - 100);
  NetworkTensor x = n.matrix_multiply(n.input("x", DType::f32, {64, 512}), n.constant(wave({512, 512}, 1), "w"));
  x = n.dequantize(n.quantize(n.activation(Activation::relu, x), scale, zero), scale, zero);
  n.mark_output(n.matrix_multiply(x, n.dequantize(n.constant(bytes), scale, zero)), "y");
  BuildConfig config{.optimization_level = 0};
  config.tf32 = false, config.bf16 = config.int8 = true;
  config.forced_tactics = {{"MatMul", "matmul_amx_bf16"}};
  const Engine engine = build(n, config);
  if (engine.inspect().find("matmul_amx_bf16") == std::string::npos) GTEST_SKIP() << "this CPU has no AMX";
  EXPECT_NO_THROW(retune(engine, config));
}

// A plan of a larger machine, as this one sees it: refused with what each has, and tuned again where that is asked for.
TEST(Retune, APlanOfAnotherMachine) {
  constexpr const char* kAll = "avx2 avx512 vnni avx512bf16 amxint8 amxbf16";
  const Engine engine = build(model(), two_profiles());
  plan::Plan& plan = const_cast<plan::Plan&>(runtime::state_of(engine)->plan);  // this test's own engine
  plan.device.name = "a larger machine", plan.needs = plan.device.features = backends::parse_features(kAll);
  const std::string path = testing::TempDir() + "foreign_" + std::to_string(getpid()) + ".plan";
  engine.save(path);
  try {
    Engine::load(path, {.cpu_features = backends::kAvx2});
    ADD_FAILURE() << "it was loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::plan_refused);
    const std::string uses = cat("built for a larger machine and uses ", kAll, ";");
    for (const std::string& part : {uses, std::string(") has avx2:"), std::string("--retune")})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
  expect_same_answers(build(model(), two_profiles()), retune_file(path, {.optimization_level = 1}));
  std::remove(path.c_str());
}

// A portable section that lies: every line dropped, and constants exchanged. Refused or nonsense, never a crash.
TEST(Retune, DamagedSection) {
  const Engine engine = build(model(), two_profiles());
  plan::Plan& plan = const_cast<plan::Plan&>(runtime::state_of(engine)->plan);  // this test's own engine
  const std::string good = plan.portable;
  int refused = 0;
  for (std::size_t at = 0; at < good.size(); at = good.find('\n', at) + 1) {
    const std::size_t end = good.find('\n', at);
    if (end == std::string::npos) break;
    plan.portable = good.substr(0, at) + good.substr(end + 1);
    try {
      retune(engine, {.optimization_level = 0});
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace tenfold
