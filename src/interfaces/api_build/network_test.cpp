// Every helper of Network, built and run on small tensors whose results were worked out by hand (or by torch 2, where noted).
#include <cmath>

#include "api_build/network_for_tests.h"

namespace tenfold {
namespace {

TEST(Network, Convolution) {
  const Tensor x = counting({1, 1, 3, 3});
  expect_values(
      run_layer(x,
                [](Network& n, NetworkTensor v) {
                  return n.convolution(v, n.constant(floats({2, 1, 2, 2}, {1, 1, 1, 1, 1, 0, 0, -1})), n.constant(floats({2}, {0, 10})));
                }),
      {1, 2, 2, 2}, {8, 12, 20, 24, 6, 6, 6, 6});
  expect_values(run_layer(counting({1, 1, 4}),
                          [](Network& n, NetworkTensor v) {
                            return n.convolution(v, n.constant(floats({1, 1, 3}, {1, 2, 3})), {}, {.strides = {2}, .padding = {1}});
                          }),
                {1, 1, 2}, {3, 14});
  expect_values(run_layer(counting({1, 2, 1, 1, 2}),
                          [](Network& n, NetworkTensor v) {
                            return n.convolution(v, n.constant(floats({2, 1, 1, 1, 1}, {2, 3})), {}, {.groups = 2});
                          }),
                {1, 2, 1, 1, 2}, {0, 2, 6, 9});
}

// At the usual effort, where kernels are timed: blocks of nothing must not be chosen.
TEST(Network, ConvolutionsWithoutResults) {
  for (const Shape& x : {Shape{0, 32, 5, 5}, {0, 32, 5, 5, 5}, {1, 32, 0, 5}, {1, 2, 0, 5}}) {
    Network net;
    Shape filters{96, x[1], 3, 1}, expected{x[0], 96, x[2], x[3]};
    if (x.size() == 5) filters = {96, 32, 3, 3, 3}, expected = {0, 96, 5, 5, 5};
    ConvolutionOptions options{.padding = {1, 0}};
    if (x.size() == 5) options.padding = {1, 1, 1};
    net.mark_output(net.convolution(net.input("x", DType::f32, std::vector<NetworkDim>(x.begin(), x.end())),
                                    net.constant(counting(filters, 1e-4)), {}, options), "y");
    EXPECT_EQ(build(net, {}).create_context()->run({Tensor(DType::f32, x)})[0].shape(), expected);
  }
}

TEST(Network, Deconvolution) {
  expect_values(run_layer(floats({1, 1, 3}, {1, 2, 3}),
                          [](Network& n, NetworkTensor v) {
                            return n.deconvolution(v, n.constant(floats({1, 1, 2}, {1, 10})), {}, {.strides = {2}, .output_padding = {1}});
                          }),
                {1, 1, 7}, {1, 10, 2, 20, 3, 30, 0});
}

TEST(Network, Pooling) {
  const Tensor x = counting({1, 1, 2, 4});
  expect_values(run_layer(x,
                          [](Network& n, NetworkTensor v) {
                            return n.pooling(Pooling::max, v, {2, 2}, {.strides = {2, 2}});
                          }),
                {1, 1, 1, 2}, {5, 7});
  expect_values(run_layer(x,
                          [](Network& n, NetworkTensor v) {
                            return n.pooling(Pooling::average, v, {2, 2}, {.strides = {2, 2}, .padding = {0, 1}, .count_padding = true});
                          }),
                {1, 1, 1, 3}, {1, 3.5, 2.5});
}

TEST(Network, MatrixMultiply) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto w = [](Network& n) { return n.constant(floats({2, 3}, {1, 0, 1, 0, 1, 0})); };
  expect_values(run_layer(x, [&](Network& n, NetworkTensor v) { return n.matrix_multiply(v, w(n), false, true); }), {2, 2}, {4, 2, 10, 5});
  expect_values(run_layer(x, [&](Network& n, NetworkTensor v) { return n.matrix_multiply(v, w(n), true, false); }), {3, 3},
                {1, 4, 1, 2, 5, 2, 3, 6, 3});
}

TEST(Network, Elementwise) {
  const Tensor x = floats({3}, {-4, 1, 6});
  const auto with = [&](Elementwise op, double other) {
    return run_layer(x, [&](Network& n, NetworkTensor v) { return n.elementwise(op, v, n.constant(floats({1}, {other}))); });
  };
  expect_values(with(Elementwise::sum, 2), {3}, {-2, 3, 8});
  expect_values(with(Elementwise::sub, 2), {3}, {-6, -1, 4});
  expect_values(with(Elementwise::prod, 2), {3}, {-8, 2, 12});
  expect_values(with(Elementwise::div, 2), {3}, {-2, 0.5, 3});
  expect_values(with(Elementwise::pow, 2), {3}, {16, 1, 36});
  expect_values(with(Elementwise::min, 2), {3}, {-4, 1, 2});
  expect_values(with(Elementwise::max, 2), {3}, {2, 2, 6});
  expect_values(with(Elementwise::mod, 4), {3}, {0, 1, 2});
  expect_values(with(Elementwise::equal, 1), {3}, {0, 1, 0});
  expect_values(with(Elementwise::less, 1), {3}, {1, 0, 0});
  expect_values(with(Elementwise::less_or_equal, 1), {3}, {1, 1, 0});
  expect_values(with(Elementwise::greater, 1), {3}, {0, 0, 1});
  expect_values(with(Elementwise::greater_or_equal, 1), {3}, {0, 1, 1});
  const auto logic = [&](Elementwise op) {
    return run_layer(numbers(DType::boolean, {4}, {0, 0, 1, 1}), [&](Network& n, NetworkTensor v) {
      return n.elementwise(op, v, n.constant(numbers(DType::boolean, {4}, {0, 1, 0, 1})));
    });
  };
  expect_values(logic(Elementwise::logical_and), {4}, {0, 0, 0, 1});
  expect_values(logic(Elementwise::logical_or), {4}, {0, 1, 1, 1});
  expect_values(logic(Elementwise::logical_xor), {4}, {0, 1, 1, 0});
}

TEST(Network, Unary) {
  const auto of = [](Unary op, double x) {
    return run_layer(floats({1}, {x}), [&](Network& n, NetworkTensor v) { return n.unary(op, v); }).as_double(0);
  };
  const std::vector<std::tuple<Unary, double, double>> cases{
      {Unary::exp, 0.5, 1.6487213},   {Unary::log, 0.5, -0.6931472}, {Unary::sqrt, 0.25, 0.5},       {Unary::reciprocal, 0.5, 2},
      {Unary::abs, -0.5, 0.5},        {Unary::neg, 0.5, -0.5},       {Unary::sin, 0.5, 0.4794255},   {Unary::cos, 0.5, 0.8775826},
      {Unary::tan, 0.5, 0.5463025},   {Unary::sinh, 0.5, 0.5210953}, {Unary::cosh, 0.5, 1.1276260},  {Unary::asin, 0.5, 0.5235988},
      {Unary::acos, 0.5, 1.0471976},  {Unary::atan, 0.5, 0.4636476}, {Unary::asinh, 0.5, 0.4812118}, {Unary::acosh, 1.5, 0.9624237},
      {Unary::atanh, 0.5, 0.5493061}, {Unary::ceil, 0.5, 1},         {Unary::floor, -0.5, -1},       {Unary::round, 2.5, 2},
      {Unary::erf, 0.5, 0.5204999},   {Unary::sign, -0.5, -1},       {Unary::is_inf, INFINITY, 1},   {Unary::is_nan, NAN, 1}};
  for (const auto& [op, x, expected] : cases) EXPECT_NEAR(of(op, x), expected, 2e-6) << static_cast<int>(op);
  expect_values(run_layer(numbers(DType::boolean, {2}, {0, 1}), [](Network& n, NetworkTensor v) { return n.unary(Unary::logical_not, v); }),
                {2}, {1, 0});
}

TEST(Network, Activation) {
  const auto of = [](Activation kind, std::optional<float> a = {}, std::optional<float> b = {}) {
    const Tensor y = run_layer(floats({2}, {-1.5, 0.75}), [&](Network& n, NetworkTensor v) { return n.activation(kind, v, a, b); });
    return std::vector<double>{y.as_double(0), y.as_double(1)};
  };
  using A = Activation;  // wanted values from torch.nn.functional
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> cases{{of(A::relu), {0, 0.75}},
                                                                               {of(A::sigmoid), {0.1824255, 0.6791787}},
                                                                               {of(A::tanh), {-0.9051483, 0.6351490}},
                                                                               {of(A::leaky_relu, 0.1f), {-0.15, 0.75}},
                                                                               {of(A::elu, 2.0f), {-1.5537397, 0.75}},
                                                                               {of(A::selu), {-1.3658144, 0.7880257}},
                                                                               {of(A::softsign), {-0.6, 0.4285714}},
                                                                               {of(A::softplus), {0.2014133, 1.1368710}},
                                                                               {of(A::clip, -1.0f, 0.5f), {-1, 0.5}},
                                                                               {of(A::hard_sigmoid, 0.2f, 0.5f), {0.2, 0.65}},
                                                                               {of(A::thresholded_relu, 0.5f), {0, 0.75}},
                                                                               {of(A::gelu_erf), {-0.1002108, 0.5800295}},
                                                                               {of(A::gelu_tanh), {-0.1004284, 0.5799606}},
                                                                               {of(A::hard_swish), {-0.375, 0.46875}},
                                                                               {of(A::swish), {-0.2736383, 0.5093840}}};
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (std::size_t e = 0; e < 2; ++e) EXPECT_NEAR(cases[i].first[e], cases[i].second[e], 3e-6) << "activation " << i;
}

TEST(Network, SoftmaxReduceTopKGather) {
  const Tensor x = floats({2, 3}, {1, 3, 2, 6, 4, 5});
  expect_values(run_layer(x, [](Network& n, NetworkTensor v) { return n.softmax(v, 1); }), {2, 3},
                {0.0900306, 0.6652410, 0.2447285, 0.6652410, 0.0900306, 0.2447285});
  const auto reduced = [&](Reduce op) { return run_layer(x, [&](Network& n, NetworkTensor v) { return n.reduce(op, v, {1}, false); }); };
  expect_values(reduced(Reduce::sum), {2}, {6, 15});
  expect_values(reduced(Reduce::prod), {2}, {6, 120});
  expect_values(reduced(Reduce::max), {2}, {3, 6});
  expect_values(reduced(Reduce::min), {2}, {1, 4});
  expect_values(reduced(Reduce::mean), {2}, {2, 5});
  expect_values(reduced(Reduce::l1), {2}, {6, 15});
  expect_values(reduced(Reduce::l2), {2}, {3.7416574, 8.7749644});
  expect_values(run_layer(x, [](Network& n, NetworkTensor v) { return n.reduce(Reduce::sum, v, {}); }), {1, 1}, {21});
  expect_values(run_layer(x, [](Network& n, NetworkTensor v) { return n.top_k(v, 2).values; }), {2, 2}, {3, 2, 6, 5});
  expect_values(run_layer(x, [](Network& n, NetworkTensor v) { return n.top_k(v, 2, 1, false).indices; }), {2, 2}, {0, 2, 1, 2});
  expect_values(run_layer(x,
                          [](Network& n, NetworkTensor v) {
                            return n.gather(v, n.constant(numbers(DType::i64, {2}, {2, 0})), 1);
                          }),
                {2, 2}, {2, 1, 5, 6});
}

TEST(Network, Movement) {
  const Tensor x = counting({2, 3});
  expect_values(run_layer(x,
                          [](Network& n, NetworkTensor v) {
                            return n.shuffle(v, {1, 0}, Shape{2, -1}, {1, 0});
                          }),
                {3, 2}, {0, 4, 3, 2, 1, 5});
  expect_values(run_layer(x, [](Network& n, NetworkTensor v) { return n.slice(v, {0, 1}, {-1, 2}); }), {2, 2}, {1, 2, 4, 5});
  expect_values(run_layer(x, [](Network& n, NetworkTensor v) { return n.slice(v, {1, 2}, {1, 3}, {1, -1}); }), {1, 3}, {5, 4, 3});
  expect_values(run_layer(x,
                          [](Network& n, NetworkTensor v) {
                            return n.concatenation({v, n.constant(floats({2, 1}, {8, 9}))}, 1);
                          }),
                {2, 4}, {0, 1, 2, 8, 3, 4, 5, 9});
  const Tensor image = counting({1, 1, 2, 2});
  expect_values(run_layer(image,
                          [](Network& n, NetworkTensor v) {
                            return n.resize(v, {1, 1, 4, 2}, {.mode = "linear"});
                          }),
                {1, 1, 4, 2}, {0, 1, 0.5, 1.5, 1.5, 2.5, 2, 3});
  expect_values(run_layer(image,
                          [](Network& n, NetworkTensor v) {
                            return n.resize_by(v, {1, 1, 1, 2}, {.coordinates = "asymmetric", .nearest = "floor"});
                          }),
                {1, 1, 2, 4}, {0, 0, 1, 1, 2, 2, 3, 3});
}

TEST(Network, Normalization) {
  const auto ones = [](Network& n, std::int64_t c) { return n.constant(floats({c}, std::vector<double>(static_cast<std::size_t>(c), 1))); };
  expect_values(run_layer(floats({2, 2}, {1, 3, 10, 2}),
                          [&](Network& n, NetworkTensor v) {
                            return n.normalization(v, ones(n, 2), n.constant(floats({2}, {0, 5})), {.epsilon = 0});
                          }),
                {2, 2}, {-1, 6, 1, 4});
  expect_values(run_layer(floats({1, 2, 2}, {1, 3, 10, 2}),
                          [&](Network& n, NetworkTensor v) {
                            return n.normalization(v, ones(n, 2), n.constant(floats({2}, {0, 5})), {.groups = 2, .epsilon = 0});
                          }),
                {1, 2, 2}, {-1, 1, 6, 4});
}

TEST(Network, SelectShapeCast) {
  const Tensor x = floats({2, 2}, {-1.5, 2.5, 0, 4});
  expect_values(run_layer(x,
                          [](Network& n, NetworkTensor v) {
                            return n.select(n.elementwise(Elementwise::greater, v, n.constant(floats({}, {0}))), v,
                                            n.constant(floats({1}, {7})));
                          }),
                {2, 2}, {7, 2.5, 7, 4});
  expect_values(run_layer(x, [](Network& n, NetworkTensor v) { return n.shape(v); }), {2}, {2, 2});
  const Tensor y = run_layer(x, [](Network& n, NetworkTensor v) { return n.cast(v, DType::i32); });
  EXPECT_EQ(y.dtype(), DType::i32);
  expect_values(y, {2, 2}, {-1, 2, 0, 4});
}

TEST(Network, QuantizeDequantize) {
  const Tensor x = floats({1, 4}, {-1, 0.26, 0.5, 1000});
  const auto scale = [](Network& n) { return n.constant(floats({}, {0.5})); };
  const auto zero = [](Network& n) { return n.constant(numbers(DType::i8, {}, {-3})); };
  const Tensor q = run_layer(x, [&](Network& n, NetworkTensor v) { return n.quantize(v, scale(n), zero(n)); });
  EXPECT_EQ(q.dtype(), DType::i8);
  expect_values(q, {1, 4}, {-5, -2, -2, 127});
  expect_values(
      run_layer(x, [&](Network& n, NetworkTensor v) { return n.dequantize(n.quantize(v, scale(n), zero(n)), scale(n), zero(n)); }), {1, 4},
      {-1, 0.5, 0.5, 65});
}

TEST(Network, DynamicDimsAndInputsAsOutputs) {
  Network net("sum of two");
  const NetworkTensor a = net.input("a", DType::f32, {"batch", 2}), b = net.input("b", DType::f32, {"batch", 2});
  const NetworkTensor sum = net.elementwise(Elementwise::sum, a, b);
  EXPECT_EQ(net.describe(sum), "f32[batch,2]");
  EXPECT_EQ(net.dims(sum)[0].name, "batch");
  EXPECT_EQ(net.dims(sum)[1].extent, 2);
  net.mark_output(sum, "sum");
  net.mark_output(sum, "again");
  net.mark_output(a, "copy");
  BuildConfig config;
  const ShapeRange range{{1, 2}, {2, 2}, {4, 2}};
  config.profiles = {{{"a", range}, {"b", range}}};
  const auto results = build_and_run(net, {counting({3, 2}), counting({3, 2}, 10)}, config);
  ASSERT_EQ(results.size(), 3u);
  expect_values(results[0], {3, 2}, {0, 11, 22, 33, 44, 55});
  expect_values(results[1], {3, 2}, {0, 11, 22, 33, 44, 55});
  expect_values(results[2], {3, 2}, {0, 1, 2, 3, 4, 5});
}

TEST(Network, GenericNode) {
  expect_values(run_layer(counting({2, 3}),
                          [](Network& n, NetworkTensor v) {
                            return n.add_node("CumSum", {v, n.constant(numbers(DType::i64, {}, {1}))}, {{"reverse", 1}})[0];
                          }),
                {2, 3}, {3, 3, 2, 12, 9, 5});
}

}  // namespace
}  // namespace tenfold
