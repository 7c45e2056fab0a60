// If, Loop and Scan written as functions, what bodies use from outside, and what a Network refuses.
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

TEST(NetworkBodies, Scan) {
  Network net;
  const NetworkTensor x = net.input("x", DType::f32, {2, 3}), zero = net.constant(floats({2}, {0, 0}));
  const auto results = net.scan(
      {zero}, {x}, {},
      [](Network& b, const Network::Tensors& in) {
        const NetworkTensor sum = b.elementwise(Elementwise::sum, in[0], in[1]);
        return Network::Tensors{sum, sum};
      },
      {{"scan_input_axes", Shape{1}}, {"scan_output_axes", Shape{1}}});
  ASSERT_EQ(results.size(), 2u);
  net.mark_output(results[0], "sum");
  net.mark_output(results[1], "sums");
  const auto got = build_and_run(net, {floats({2, 3}, {1, 2, 3, 10, 20, 30})});
  expect_values(got[0], {2}, {6, 60});
  expect_values(got[1], {2, 3}, {1, 3, 6, 10, 30, 60});
}

// Each body uses other values of the network around it, in another order, an input, a constant and a computed one among them.
TEST(NetworkBodies, UseWhatIsAroundThem) {
  Network net;
  const NetworkTensor flag = net.input("flag", DType::boolean, {}), x = net.input("x", DType::f32, {2});
  const NetworkTensor z = net.input("z", DType::f32, {2});
  const NetworkTensor ten = net.constant(floats({2}, {10, 20}), "ten"), twice = net.elementwise(Elementwise::sum, x, x);
  const auto y = net.if_conditional(
      flag, {x},
      [&](Network& b, const Network::Tensors& in) {
        return Network::Tensors{b.elementwise(Elementwise::sub, b.elementwise(Elementwise::sum, z, ten), in[0]), z};
      },
      [&](Network& b, const Network::Tensors&) {
        return Network::Tensors{twice, b.elementwise(Elementwise::prod, x, b.elementwise(Elementwise::sum, twice, z))};
      });
  ASSERT_EQ(y.size(), 2u);
  net.mark_output(y[0], "a");
  net.mark_output(y[1], "b");
  const Engine engine = build(net, {.optimization_level = 0});
  const auto run = [&](double yes) {
    return engine.create_context()->run({numbers(DType::boolean, {}, {yes}), floats({2}, {1, 2}), floats({2}, {5, 7})});
  };
  const auto then = run(1), otherwise = run(0);
  expect_values(then[0], {2}, {14, 25});
  expect_values(then[1], {2}, {5, 7});
  expect_values(otherwise[0], {2}, {2, 4});
  expect_values(otherwise[1], {2}, {7, 22});
}

// A branch in a loop uses values of both networks around it.
TEST(NetworkBodies, NestedBodiesUseAllAroundThem) {
  Network net;
  const NetworkTensor x = net.input("x", DType::f32, {2}), one = net.constant(numbers(DType::i64, {}, {1}));
  const NetworkTensor trips = net.constant(numbers(DType::i64, {}, {4}));
  const auto body = [&](Network& b, const Network::Tensors& in) {
    const NetworkTensor doubled = b.elementwise(Elementwise::sum, in[2], in[2]);
    const auto next = b.if_conditional(
        b.elementwise(Elementwise::greater, in[0], one), {},
        [&](Network& c, const Network::Tensors&) { return Network::Tensors{c.elementwise(Elementwise::sum, doubled, x)}; },
        [&](Network&, const Network::Tensors&) { return Network::Tensors{doubled}; });
    return Network::Tensors{in[1], next[0]};
  };
  net.mark_output(net.loop(trips, {}, {x}, {}, body)[0], "y");
  // Rounds 0 and 1 double; rounds 2 and 3 double and add x: 2, 4, 9, 19 times x.
  expect_values(build_and_run(net, {floats({2}, {1, -3})})[0], {2}, {19, -57});
}

TEST(NetworkBodies, CanBeWalked) {
  Network net;
  const NetworkTensor flag = net.input("flag", DType::boolean, {}), x = net.input("x", DType::f32, {2});
  const auto y = net.if_conditional(
      flag, {}, [&](Network& b, const Network::Tensors&) { return Network::Tensors{b.unary(Unary::exp, x)}; },
      [&](Network& b, const Network::Tensors&) { return Network::Tensors{b.unary(Unary::neg, x)}; });
  net.mark_output(y[0], "y");
  const NetworkNodeRef node = net.producer(y[0]);
  ASSERT_EQ(net.node(node).bodies, 2);
  const Network then = net.body(node, 0), otherwise = net.body(node, 1);
  ASSERT_EQ(then.nodes().size(), 1u);
  EXPECT_EQ(then.node(then.nodes()[0]).op, "Exp");
  EXPECT_EQ(otherwise.node(otherwise.nodes()[0]).op, "Neg");
  EXPECT_EQ(then.inputs().size(), 1u);   // x, which it captures
  EXPECT_EQ(then.describe(then.outputs()[0]), "f32[2]");
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

TEST(NetworkBodies, RefuseWhatIsNoBody) {
  using Tensors = Network::Tensors;
  Network net, other;
  const NetworkTensor flag = net.input("flag", DType::boolean, {}), x = net.input("x", DType::f32, {2});
  const NetworkTensor stranger = other.input("x", DType::f32, {2}), trips = net.constant(numbers(DType::i64, {}, {3}));
  const NetworkTensor unused = net.unary(Unary::exp, x);
  const auto says = [](const std::string& text, const char* part) { EXPECT_NE(text.find(part), std::string::npos) << text; };
  const Network::Body one = [&](Network& b, const Tensors&) { return Tensors{b.unary(Unary::neg, x)}; };
  const auto branch = [&](const Network::Body& body) { return refusal([&] { net.if_conditional(flag, {}, one, body); }); };
  says(branch([&](Network&, const Tensors&) { return Tensors{x, x}; }), "return 1 and 2 results");
  says(branch([&](Network& b, const Tensors&) { return Tensors{b.cast(x, DType::f16)}; }), "f32[2] on one path and f16[2]");
  says(branch([&](Network& b, const Tensors&) { return Tensors{b.unary(Unary::exp, stranger)}; }), "another network");
  says(branch([&](Network&, const Tensors&) { return Tensors{{}}; }), "a result of the body is missing");
  says(branch([&](Network&, const Tensors&) { return net.remove(net.producer(unused)), Tensors{x}; }), "a body is being made");
  NetworkTensor kept;
  net.if_conditional(flag, {}, one, [&](Network& b, const Tensors&) { return Tensors{kept = b.unary(Unary::exp, x)}; });
  says(refusal([&] { net.unary(Unary::exp, kept); }), "gives its own to nobody");
  says(refusal([&] { net.loop(trips, {}, {x}, {}, [&](Network&, const Tensors& in) { return Tensors{in[1]}; }); }), "1 values are carried");
  says(refusal([&] { net.scan({x}, {}, {}, one); }), "needs a sequence");
  says(refusal([&] { net.scan({}, {x}, {}, one, {{"axes", 1}}); }), "no attribute 'axes'");
  says(refusal([&] { net.scan({}, {x}, {}, one, {{"scan_axes", 1}}); }), "no attribute 'scan_axes'");
  says(refusal([&] { net.scan({}, {x}, {}, one, {{"scan_input_axes", Shape{1}}}); }), "scan axis 1 is out of range");
  Network walked = net.body(net.nodes().back(), 0);
  says(refusal([&] { walked.unary(Unary::exp, walked.inputs()[0]); }), "a copy of a node's body");
  says(refusal([&] { walked.remove_unused(); }), "a copy of a node's body");
  says(refusal([&] { build(walked, {}); }), "a copy of a node's body");
  says(refusal([&] { net.body(net.nodes().back(), 2); }), "there is no body 2");
  net.remove(net.producer(unused));   // what failed has left no body open
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
