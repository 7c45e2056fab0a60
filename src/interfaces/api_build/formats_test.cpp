// Types and orders of inputs and outputs other than the model's: the same answers as in the model's own, element by element.
#include <algorithm>
#include <cmath>

#include "api_build/network_for_tests.h"

namespace tenfold {
namespace {

BuildConfig plain() {
  BuildConfig config;
  config.optimization_level = 0, config.threads = 2, config.tf32 = false;   // whole numbers stay what they are
  return config;
}

// Channels go behind the last `places` dims: [N,C,H,W] to [N,H,W,C] for 2.
Shape to_caller(Shape shape, int places) {
  std::rotate(shape.end() - places - 1, shape.end() - places, shape.end());
  return shape;
}

// What the caller has, element by element, by a way of its own: the index is taken apart along the caller's shape.
Tensor reordered(const Tensor& t, const Shape& to, int places, DType dtype) {
  Tensor out(dtype, to);
  const Shape& from = t.shape();
  const std::size_t rank = from.size();
  for (std::int64_t i = 0; i < out.size(); ++i) {
    Shape at(rank);
    std::int64_t rest = i;
    for (std::size_t d = rank; d-- > 0; rest /= to[d]) at[d] = rest % to[d];
    std::rotate(at.end() - places - 1, at.end() - 1, at.end());
    std::int64_t source = 0;
    for (std::size_t d = 0; d < rank; ++d) source = source * from[d] + at[d];
    if (is_float(dtype)) store_double(dtype, out.mutable_raw(), i, t.as_double(source));
    else store_int(dtype, out.mutable_raw(), i, static_cast<std::int64_t>(std::trunc(t.as_double(source))));
  }
  return out;
}

void expect_equal(const Tensor& got, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(got.dtype(), expected.dtype()) << what;
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  for (std::int64_t i = 0; i < got.size(); ++i) ASSERT_EQ(got.as_double(i), expected.as_double(i)) << what << ", element " << i;
}

Tensor whole_numbers(Shape shape, std::int64_t min, std::int64_t max) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(min + static_cast<std::int64_t>(i * 7 % 31) % (max - min + 1));
  return floats(std::move(shape), values);
}

// y = relu of a convolution (rank 3 and up: [N,C,places...]), or for a single image [C,H,W] of a product with one number per channel.
Network image_network(const Shape& shape, bool dynamic) {
  Network net;
  std::vector<NetworkDim> dims(shape.begin(), shape.end());
  if (dynamic) dims[0] = NetworkDim("batch"), dims[2] = NetworkDim("height");
  NetworkTensor x = net.input("x", DType::f32, dims);
  if (shape.size() == 3) {
    x = net.elementwise(Elementwise::prod, x, net.constant(whole_numbers({shape[0], 1, 1}, -2, 3), "w"));
  } else {
    Shape kernel(shape.size(), 3), pads((shape.size() - 2) * 2, 1);
    kernel[0] = 4, kernel[1] = shape[1];
    x = net.convolution(x, net.constant(whole_numbers(kernel, -1, 1), "w"), {}, {.padding = pads});
  }
  net.mark_output(net.activation(Activation::relu, x), "y");
  return net;
}

struct Case {
  Shape shape;
  BindingOrder order;
  int places;
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {{{3, 5, 7}, BindingOrder::hwc, 2},
                                        {{2, 3, 5, 7}, BindingOrder::hwc, 2},
                                        {{1, 8, 4, 4}, BindingOrder::hwc, 2},
                                        {{2, 3, 4, 5, 3}, BindingOrder::dhwc, 3}};
  return all;
}

TEST(Formats, AnswersAreThoseOfTheModelsOwnFormat) {
  for (const Case& c : cases()) {
    const Network net = image_network(c.shape, false);
    const Tensor x = whole_numbers(c.shape, 0, 2);
    const Tensor y = build(net, plain()).create_context()->run({x})[0];
    for (const DType in : {DType::f32, DType::f16, DType::bf16, DType::i8, DType::u8, DType::i32})
      for (const DType out : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
        BuildConfig config = plain();
        config.input_formats["x"] = {in, c.order}, config.output_formats["y"] = {out, c.order};
        const Engine engine = build(net, config);
        const BindingInfo &bx = engine.bindings()[0], &by = engine.bindings()[1];
        EXPECT_EQ(bx.dtype, in);
        EXPECT_EQ(by.dtype, out);
        EXPECT_EQ(bx.name, "x");
        EXPECT_EQ(by.name, "y");
        EXPECT_EQ(bx.shape, to_caller(c.shape, c.places));
        const Tensor mine = reordered(x, bx.shape, c.places, in);
        expect_equal(engine.create_context()->run({mine})[0], reordered(y, to_caller(y.shape(), c.places), c.places, out),
                     std::string(name(in)) + " to " + std::string(name(out)) + " at " + text(c.shape));
      }
  }
}

TEST(Formats, OneSideAlone) {
  const Shape shape{2, 3, 5, 7};
  const Network net = image_network(shape, false);
  const Tensor x = whole_numbers(shape, 0, 2), y = build(net, plain()).create_context()->run({x})[0];
  BuildConfig config = plain();
  config.output_formats["y"] = {{}, BindingOrder::hwc};
  expect_equal(build(net, config).create_context()->run({x})[0], reordered(y, to_caller(y.shape(), 2), 2, DType::f32), "order");
  config.output_formats.clear(), config.input_formats["x"] = {DType::u8, BindingOrder::as_model};
  expect_equal(build(net, config).create_context()->run({reordered(x, shape, 0, DType::u8)})[0], y, "type");
}

// What is rounded is rounded once, to the nearest.
TEST(Formats, FloatsAreRoundedToTheNearest) {
  Network net;
  net.mark_output(net.activation(Activation::relu, net.input("x", DType::f32, {4})), "y");
  BuildConfig config = plain();
  config.output_formats["y"].dtype = DType::f16;
  const Tensor y = build(net, config).create_context()->run({floats({4}, {1.0 / 3, 2049, 2051, 1e-7})})[0];
  expect_values(y, {4}, {0.333251953125, 2048, 2052, 1.1920928955078125e-07}, 0);
  config.output_formats["y"].dtype = DType::i8;
  const Tensor z = build(net, config).create_context()->run({floats({4}, {0.9, 2.5, 127.9, 3})})[0];
  expect_values(z, {4}, {0, 2, 127, 3}, 0);
}

// Profiles and shapes are those of the caller's memory.
TEST(Formats, DynamicDims) {
  const Network net = image_network({2, 3, 5, 7}, true);
  BuildConfig own = plain(), config = plain();
  own.profiles = {{{"x", {{1, 3, 3, 7}, {2, 3, 5, 7}, {4, 3, 9, 7}}}}};
  config.profiles = {{{"x", {{1, 3, 7, 3}, {2, 5, 7, 3}, {4, 9, 7, 3}}}}};
  config.input_formats["x"] = {DType::f16, BindingOrder::hwc}, config.output_formats["y"] = {DType::bf16, BindingOrder::hwc};
  const Engine mine = build(net, config), models = build(net, own);
  EXPECT_EQ(mine.bindings()[0].names, (std::vector<std::string>{"batch", "height", "", ""}));
  EXPECT_EQ(mine.profile_shapes(0, "x").opt, (Shape{2, 5, 7, 3}));
  const Engine loaded = Engine::load(mine.serialize());
  for (const Shape& shape : {Shape{1, 3, 3, 7}, Shape{3, 3, 8, 7}, Shape{4, 3, 9, 7}}) {
    const Tensor x = whole_numbers(shape, 0, 2), y = models.create_context()->run({x})[0];
    const Tensor given = reordered(x, to_caller(shape, 2), 2, DType::f16);
    const Tensor expected = reordered(y, to_caller(y.shape(), 2), 2, DType::bf16);
    expect_equal(mine.create_context()->run({given})[0], expected, text(shape));
    expect_equal(loaded.create_context()->run({given})[0], expected, "loaded, " + text(shape));
  }
}

// At the border casts and transposes meet their neighbors: none is left by itself.
TEST(Formats, FuseWithTheirNeighbors) {
  Network net;
  NetworkTensor x = net.input("x", DType::f32, {64, 64});
  net.mark_output(net.activation(Activation::relu, net.unary(Unary::neg, x)), "y");
  BuildConfig config = plain();
  config.input_formats["x"].dtype = DType::f16, config.output_formats["y"].dtype = DType::bf16;
  EXPECT_EQ(build(net, config).info().steps, 1);
  const Network images = image_network({1, 16, 8, 8}, false);
  config = plain();
  const int steps = build(images, config).info().steps;
  config.input_formats["x"].order = config.output_formats["y"].order = BindingOrder::hwc;
  const Engine engine = build(images, config);
  EXPECT_LE(engine.info().steps, steps + 2) << engine.inspect(1);
}

std::string refusal(const Network& net, const BuildConfig& config) {
  try {
    build(net, config);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_argument) << e.what();
    return e.what();
  }
  return "nothing was refused";
}

TEST(Formats, WhatMakesNoSenseIsRefused) {
  Network net;
  net.mark_output(net.unary(Unary::neg, net.input("x", DType::f32, {2, 3})), "y");
  BuildConfig config = plain();
  config.input_formats["x"].order = BindingOrder::hwc;
  EXPECT_NE(refusal(net, config).find("input 'x' is f32[2,3]: hwc is an order of [...,C,H,W], of 3 dims at least"), std::string::npos)
      << refusal(net, config);
  config = plain(), config.output_formats["y"].order = BindingOrder::dhwc;
  EXPECT_NE(refusal(net, config).find("output 'y' is f32[2,3]: dhwc"), std::string::npos) << refusal(net, config);
  config = plain(), config.input_formats["y"].dtype = DType::f16;
  EXPECT_NE(refusal(net, config).find("a format is given for the input 'y'; the model has 'x'"), std::string::npos) << refusal(net, config);
  config = plain(), config.input_formats["x"].dtype = DType::string;
  EXPECT_NE(refusal(net, config).find("strings"), std::string::npos) << refusal(net, config);
  config = plain();
  const Engine engine = build(net, config);
  config.input_formats["x"].dtype = DType::f16;
  EXPECT_THROW(retune(engine, config), Error);
}

TEST(Formats, AreInTheBindingsOfAModelThatIsNotBuilt) {
  BuildConfig config = plain();
  config.input_formats["x"].dtype = DType::f16, config.output_formats["y"].dtype = DType::i8;
  const std::vector<BindingInfo> bindings = model_bindings(TENFOLD_SOURCE_DIR "/tests/install/relu.onnx", config);
  ASSERT_EQ(bindings.size(), 2u);
  EXPECT_EQ(bindings[0].dtype, DType::f16);
        EXPECT_EQ(bindings[1].dtype, DType::i8);
}

// An output that is an input stays one where only one of both has another form.
TEST(Formats, AnOutputThatIsAnInput) {
  Network net;
  net.mark_output(net.input("x", DType::f32, {3}), "y");
  BuildConfig config = plain();
  config.input_formats["x"].dtype = DType::i32;
  expect_values(build(net, config).create_context()->run({numbers(DType::i32, {3}, {1, -2, 3})})[0], {3}, {1, -2, 3}, 0);
}

}  // namespace
}  // namespace tenfold
