// If and Loop written as functions, and what a Network refuses.
#include "api_build/network_for_tests.h"

namespace tenfold {
namespace {

TEST(NetworkBodies, IfConditional) {
  Network net;
  const NetworkTensor flag = net.input("flag", DType::boolean, {}), x = net.input("x", DType::f32, {2});
  const NetworkTensor ten = net.constant(floats({2}, {10, 20}));
  const auto y = net.if_conditional(
      flag, {x, ten},
      [](Network& b, const Network::Tensors& in) { return Network::Tensors{b.elementwise(Elementwise::sum, in[0], in[1])}; },
      [](Network& b, const Network::Tensors& in) { return Network::Tensors{b.unary(Unary::neg, in[0])}; });
  ASSERT_EQ(y.size(), 1u);
  net.mark_output(y[0], "y");
  const Engine engine = build(net, {.optimization_level = 0});
  const auto context = engine.create_context();
  expect_values(context->run({numbers(DType::boolean, {}, {1}), counting({2})})[0], {2}, {10, 21});
  expect_values(context->run({numbers(DType::boolean, {}, {0}), counting({2})})[0], {2}, {0, -1});
}

TEST(NetworkBodies, Loop) {
  Network net;
  const NetworkTensor x = net.input("x", DType::f32, {2});
  const NetworkTensor trips = net.constant(numbers(DType::i64, {}, {3}));
  // total += x, and each total is collected.
  const auto results = net.loop(trips, {}, {net.constant(floats({2}, {100, 0}))}, {x}, [](Network& b, const Network::Tensors& in) {
    const NetworkTensor total = b.elementwise(Elementwise::sum, in[2], in[3]);
    return Network::Tensors{in[1], total, total};
  });
  ASSERT_EQ(results.size(), 2u);
  net.mark_output(results[0], "total");
  net.mark_output(results[1], "all");
  const auto got = build_and_run(net, {floats({2}, {1, 2})});
  expect_values(got[0], {2}, {103, 6});
  expect_values(got[1], {3, 2}, {101, 2, 102, 4, 103, 6});
}

template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument) << error.what();
    return error.what();
  }
  return "nothing was refused";
}

TEST(NetworkBodies, Refusals) {
  Network net, other;
  const NetworkTensor x = net.input("x", DType::f32, {"n", 3}), stranger = other.input("x", DType::f32, {3});
  const auto says = [](const std::string& text, const char* part) { EXPECT_NE(text.find(part), std::string::npos) << text; };
  says(refusal([&] { net.unary(Unary::exp, stranger); }), "another network");
  says(refusal([&] { net.unary(Unary::exp, {}); }), "is missing");
  says(refusal([&] { net.matrix_multiply(x, net.constant(floats({2, 2}, {1, 2, 3, 4}))); }), "MatMul");
  says(refusal([&] { net.convolution(x, x); }), "spatial");
  says(refusal([&] { net.input("x", DType::f32, {1}); }), "two inputs");
  says(refusal([&] { net.input("z", DType::f32, {-1}); }), "give a dynamic dimension a name");
  says(refusal([&] { net.input("z", DType::f32, {"a b"}); }), "no name for a dimension");
  says(refusal([&] { net.softmax(x, 5); }), "Softmax");
  says(refusal([&] { net.add_node("Relu", {x}, {{"axis", 1}}); }), "no attribute 'axis'");
  says(refusal([&] { net.activation(Activation::relu, x, 1.0f); }), "no alpha");
  says(refusal([&] { net.slice(x, {0}, {1}); }), "need 2 entries");
  says(refusal([&] {
         net.if_conditional(
             x, {}, [](Network&, const auto&) { return Network::Tensors{}; }, nullptr);
       }),
       "two bodies");
  says(refusal([&] { net.loop({}, {}, {}, {}, [](Network&, const auto&) { return Network::Tensors{}; }); }), "never end");
  says(refusal([&] { net.mark_output(x, "x"); }), "name of an input");
  says(refusal([&] { build(net, {}); }), "no outputs");
  net.mark_output(net.unary(Unary::exp, x), "y");
  says(refusal([&] { net.mark_output(x, "y"); }), "two outputs");
  EXPECT_THROW(net.add_node("NoSuchOperator", {x}), Error);
  build(net, {.optimization_level = 0});  // what was refused has left nothing behind
}

}  // namespace
}  // namespace tenfold
