// Layers on a Network: kinds, options that change late, what does not fit. What each kind computes is tested beside NumPy, by
// python/tests/tensorrt_*layers_test.py.
#include "tenfold/layers.h"

#include <gtest/gtest.h>

#include "layers/layer.h"
#include "tenfold/build.h"
#include "tenfold/c/layers.h"

namespace tenfold {
namespace {

Tensor ones(const Shape& shape) {
  Tensor t(DType::f32, shape);
  for (std::int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] = 1;
  return t;
}

struct Small {
  std::shared_ptr<Network> net = std::make_shared<Network>();
  NetworkTensor x = net->input("x", DType::f32, {1, 1, 4, 4});
  Layers layers{net};
  std::int32_t conv = layers.add("convolution", {{.tensor = x}},
                                 {{"num_output_maps", std::int64_t{1}}, {"kernel_size_nd", Shape{3, 3}}, {"kernel", ones({9})}}, "conv");
  std::int32_t relu = layers.add("activation", {{.layer = conv}}, {{"type", std::string("RELU")}}, "relu");
};

std::string message(const std::function<void()>& act, ErrorKind kind) {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Layers, AreNodesWhoseOptionsMayChange) {
  Small s;
  s.layers.mark_output({.layer = s.relu}, "y");
  EXPECT_EQ(s.net->describe(s.layers.result(s.relu, 0)), "f32[1,1,2,2]");
  s.layers.set(s.conv, "pre_padding", Shape{1, 1});
  s.layers.set(s.conv, "post_padding", Shape{1, 1});
  s.layers.finalize();
  EXPECT_EQ(s.net->nodes().size(), 2u);
  ASSERT_EQ(s.net->outputs().size(), 1u);
  EXPECT_EQ(s.net->describe(s.net->outputs()[0]), "f32[1,1,4,4]");
  Engine engine = build(*s.net, {.optimization_level = 0});
  const auto context = engine.create_context();
  Tensor x = ones({1, 1, 4, 4});
  ASSERT_EQ(context->bind(0, x.mutable_raw(), x.bytes()).code, Status::ok);
  Tensor y(DType::f32, {1, 1, 4, 4});
  ASSERT_EQ(context->bind(1, y.mutable_raw(), y.bytes()).code, Status::ok);
  ASSERT_EQ(context->run().code, Status::ok);
  EXPECT_EQ(y.data<float>()[0], 4);
  EXPECT_EQ(y.data<float>()[5], 9);
}

TEST(Layers, KeepTheirWeightsNames) {
  Small s;
  for (std::int64_t stride = 1; stride < 4; ++stride) {
    s.layers.set(s.conv, "stride_nd", Shape{stride, stride});
    s.layers.finalize();
    const NetworkTensor kernel = s.net->node(s.net->nodes()[0]).inputs[1];
    EXPECT_EQ(s.net->name(kernel), "conv.kernel");
  }
}

TEST(Layers, TellWhatDoesNotFit) {
  Small s;
  EXPECT_EQ(message(
                [&] {
                  s.layers.set(s.conv, "stride", Shape{1, 1});
                },
                ErrorKind::invalid_argument),
            "layer 'conv' (convolution) has no option 'stride'");
  EXPECT_EQ(message([&] { s.layers.set(s.conv, "stride_nd", 1.0f); }, ErrorKind::invalid_argument),
            "layer 'conv' (convolution): option 'stride_nd' has another type");
  s.layers.set(s.conv, "stride_nd", Shape{1});
  EXPECT_EQ(message([&] { s.layers.finalize(); }, ErrorKind::invalid_argument),
            "layer 'conv' (convolution): stride_nd has 1 numbers for 2 spatial dimensions");
  s.layers.set(s.conv, "stride_nd", Shape{});
  s.layers.set_operand(s.conv, 0, {.layer = s.relu});
  EXPECT_EQ(message([&] { s.layers.finalize(); }, ErrorKind::invalid_argument), "layer 'conv' reads its own result, by way of others");
  EXPECT_EQ(message([&] { s.layers.add("no such", {}); }, ErrorKind::invalid_argument), "there is no kind of layer 'no such'");
  EXPECT_EQ(message([&] { s.layers.add("unary", {}); }, ErrorKind::invalid_argument), "layer 'unary_2' (unary) has 0 operands");
  EXPECT_EQ(message([&] { s.layers.add("unary", {{.layer = 7}}); }, ErrorKind::invalid_argument),
            "layer 'unary_2': there is no layer 7 to read from");
}

// The call that comes late: nothing is made before the last layer is asked, and then an option of the first changes.
TEST(Layers, AreMadeInALongChain) {
  const auto net = std::make_shared<Network>();
  Layers layers(net);
  LayerOperand at{.tensor = net->input("x", DType::f32, {4})};
  constexpr std::int32_t kMany = 20000;
  for (std::int32_t i = 0; i < kMany; ++i) at = {.layer = layers.add("activation", {at})};
  EXPECT_EQ(net->describe(layers.result(kMany - 1, 0)), "f32[4]");
  layers.set(0, "type", std::string("TANH"));
  layers.mark_output(at, "y");
  layers.finalize();
  EXPECT_EQ(net->nodes().size(), static_cast<std::size_t>(kMany));
}

TEST(Layers, RefuseWindowsWithoutSpatialDims) {
  for (const char* kind : {"convolution", "deconvolution", "pooling"}) {
    const auto net = std::make_shared<Network>();
    Layers layers(net);
    layers.add(kind, {{.tensor = net->input("x", DType::f32, {4})}}, {}, "l");
    EXPECT_EQ(message([&] { layers.finalize(); }, ErrorKind::invalid_argument),
              "layer 'l' (" + std::string(kind) + "): the input needs N, C and spatial dimensions, it has 1 in all");
  }
}

TEST(Layers, AssertionsEndRuns) {
  const auto net = std::make_shared<Network>();
  Layers layers(net);
  const NetworkTensor x = net->input("x", DType::f32, {2});
  const std::int32_t positive = layers.add("elementwise", {{.tensor = x}, {.tensor = net->constant(Tensor(DType::f32, {2}))}},
                                           {{"op", std::string("GREATER")}});
  const std::int32_t assertion = layers.add("assertion", {{.layer = positive}}, {{"message", std::string("x > 0")}});
  EXPECT_EQ(layers.results(assertion), 0);
  layers.mark_output({.layer = layers.add("unary", {{.tensor = x}}, {{"op", std::string("NEG")}})}, "y");
  layers.finalize();
  EXPECT_EQ(net->remove_unused(), 0) << "nobody reads the assertion's node";
  const Engine engine = build(*net, {.optimization_level = 0});
  const auto context = engine.create_context();
  EXPECT_EQ(context->run({ones({2})})[0].as_double(0), -1);
  const std::string text = message([&] { context->run({Tensor(DType::f32, {2})}); }, ErrorKind::invalid_argument);
  EXPECT_NE(text.find("the assertion does not hold: x > 0"), std::string::npos) << text;
  EXPECT_EQ(context->run({ones({2})})[0].as_double(1), -1) << "the next run is one of its own";
}

TEST(Layers, AssertionsInBodiesAreRefused) {
  const auto net = std::make_shared<Network>();
  Layers layers(net);
  const NetworkTensor start = net->input("x", DType::f32, {1});
  const std::int32_t state = layers.add("recurrence", {{.tensor = start}}, {{"region", std::int64_t{0}}});
  const std::int32_t positive =
      layers.add("elementwise", {{.layer = state}, {.tensor = net->constant(Tensor(DType::f32, {1}))}}, {{"op", std::string("GREATER")}});
  layers.add("assertion", {{.layer = positive}}, {}, "inside");
  EXPECT_NE(message([&] { layers.finalize(); }, ErrorKind::unsupported).find("layer 'inside' (assertion) lies in a loop or branch"),
            std::string::npos);
}

TEST(Layers, AssertionsOfWhatIsKnownAreSettledAtOnce) {
  const auto net = std::make_shared<Network>();
  Layers layers(net);
  Tensor holds(DType::boolean, {2});
  for (int i = 0; i < 2; ++i) static_cast<std::uint8_t*>(holds.mutable_raw())[i] = 1;
  const std::int32_t first = layers.add("assertion", {{.tensor = net->constant(std::move(holds))}});
  layers.finalize();
  EXPECT_TRUE(net->nodes().empty());
  layers.set_operand(first, 0, {.tensor = net->constant(Tensor(DType::boolean, {1}))});
  layers.set(first, "message", std::string("never"));
  EXPECT_EQ(message([&] { layers.finalize(); }, ErrorKind::invalid_argument),
            "layer 'assertion_0' (assertion): the assertion does not hold: never");
}

TEST(Layers, EveryKindIsNamedAsItsFile) {
  EXPECT_GE(Layers::kinds().size(), 39u);
  for (const layers::LayerKind& kind : layers::all_kinds()) EXPECT_EQ(Layers::options_of(kind.name).size(), kind.options.size());
}

TEST(Layers, InC) {
  tenfold_network* net = nullptr;
  ASSERT_EQ(tenfold_network_create("c", &net), TENFOLD_OK);
  const std::int64_t dims[] = {2, 3};
  tenfold_layer_operand x{-1, 0, -1};
  ASSERT_EQ(tenfold_network_input(net, "x", "f32", dims, nullptr, 2, &x.value), TENFOLD_OK);
  tenfold_layers* layers = nullptr;
  ASSERT_EQ(tenfold_layers_create(net, &layers), TENFOLD_OK);
  const char* op = "MAX";
  tenfold_attribute option{};
  option.struct_size = sizeof option, option.name = "op", option.kind = TENFOLD_ATTRIBUTE_STRING, option.strings = &op, option.count = 1;
  std::int32_t reduce = -1, count = 0;
  ASSERT_EQ(tenfold_layers_add(layers, "reduce", "least", &x, 1, &option, 1, &reduce), TENFOLD_OK) << tenfold_last_error();
  tenfold_value y = -1;
  EXPECT_EQ(tenfold_layers_result(layers, reduce, 0, &y, &count), TENFOLD_INVALID_ARGUMENT);
  EXPECT_STREQ(tenfold_last_error(), "layer 'least' (reduce): axes names no dimension");
  const std::int64_t axes = 2;
  option = {}, option.struct_size = sizeof option, option.name = "axes", option.kind = TENFOLD_ATTRIBUTE_INT, option.ints = &axes;
  ASSERT_EQ(tenfold_layers_set(layers, reduce, &option), TENFOLD_OK);
  ASSERT_EQ(tenfold_layers_mark_output(layers, {reduce, 0, -1}, "y"), TENFOLD_OK) << tenfold_last_error();
  EXPECT_EQ(tenfold_layers_is_output(layers, reduce, 0), 1);
  ASSERT_EQ(tenfold_layers_result(layers, reduce, 0, &y, &count), TENFOLD_OK);
  tenfold_value_info value{};
  value.struct_size = sizeof value;
  ASSERT_EQ(tenfold_network_value(net, y, &value), TENFOLD_OK);
  EXPECT_STREQ(value.type, "f32[2]");
  EXPECT_EQ(count, 1);
  tenfold_layer_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(tenfold_layers_info(layers, reduce, &info), TENFOLD_OK);
  EXPECT_STREQ(info.kind, "reduce");
  EXPECT_EQ(info.operand_count, 1);
  EXPECT_EQ(info.operands[0].value, x.value);
  EXPECT_EQ(tenfold_layers_info(layers, 1, &info), TENFOLD_INVALID_ARGUMENT);
  tenfold_data* tensor = nullptr;
  ASSERT_EQ(tenfold_layers_option(layers, reduce, "op", &option, &tensor), TENFOLD_OK);
  EXPECT_STREQ(option.strings[0], "MAX");
  ASSERT_EQ(tenfold_layers_rename(layers, reduce, "most"), TENFOLD_OK);
  ASSERT_EQ(tenfold_layers_rename_result(layers, reduce, 0, "z"), TENFOLD_OK);
  ASSERT_EQ(tenfold_layers_set_operand(layers, reduce, 0, x), TENFOLD_OK);
  ASSERT_EQ(tenfold_layers_finalize(layers), TENFOLD_OK);
  ASSERT_EQ(tenfold_layers_unmark_output(layers, "z"), TENFOLD_OK) << tenfold_last_error();
  EXPECT_STREQ(tenfold_layers_kind(0), "activation");
  EXPECT_EQ(tenfold_layers_kind(1000), nullptr);
  EXPECT_EQ(tenfold_layers_finalize(nullptr), TENFOLD_INVALID_ARGUMENT);
  tenfold_layers_free(layers);
  tenfold_network_free(net);
}

}  // namespace
}  // namespace tenfold
