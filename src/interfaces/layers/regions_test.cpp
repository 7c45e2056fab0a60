// Loops and branches by layers: bodies are taken out, stay mutable, may be long. What they compute is tested beside NumPy, by
// python/tests/tensorrt_loops_test.py.
#include <gtest/gtest.h>

#include "tenfold/build.h"
#include "tenfold/layers.h"

namespace tenfold {
namespace {

Tensor scalar(std::int64_t value) {
  Tensor t(DType::i64, {});
  *t.mutable_data<std::int64_t>() = value;
  return t;
}

// x doubled in each round, by as many layers as are asked for that leave it as it is.
struct Doubling {
  explicit Doubling(int idle = 0) {
    layers.add("trip_limit", {{.tensor = net->constant(scalar(3))}}, {{"region", std::int64_t{7}}});
    value = layers.add("recurrence", {{.tensor = x}}, {{"region", std::int64_t{7}}}, "value");
    LayerOperand last{.layer = value};
    for (int i = 0; i < idle; ++i) last = {.layer = layers.add("identity", {last})};
    step = layers.add("elementwise", {last, {.layer = value}}, {{"op", std::string("SUM")}}, "step");
    layers.set_operand(value, 1, {.layer = step});
    out = layers.add("loop_output", {{.layer = value}}, {{"region", std::int64_t{7}}}, "out");
    layers.mark_output({.layer = out}, "y");
  }
  float run() {
    layers.finalize();
    Engine engine = build(*net, {.optimization_level = 0});
    const auto context = engine.create_context();
    Tensor in(DType::f32, {2}), y(DType::f32, {2});
    in.mutable_data<float>()[0] = in.mutable_data<float>()[1] = 2;
    EXPECT_EQ(context->bind(0, in.mutable_raw(), in.bytes()).code, Status::ok);
    EXPECT_EQ(context->bind(1, y.mutable_raw(), y.bytes()).code, Status::ok);
    EXPECT_EQ(context->run().code, Status::ok);
    return y.data<float>()[1];
  }
  std::shared_ptr<Network> net = std::make_shared<Network>();
  NetworkTensor x = net->input("x", DType::f32, {2});
  Layers layers{net};
  std::int32_t value = 0, step = 0, out = 0;
};

TEST(Regions, AreLoopsWhoseLayersMayChange) {
  Doubling d;
  EXPECT_EQ(d.net->describe(d.layers.result(d.out, 0)), "f32[2]");
  EXPECT_EQ(d.run(), 16);
  d.layers.set(d.step, "op", std::string("PROD"));
  EXPECT_EQ(d.run(), 256);
}

TEST(Regions, MayBeLong) { EXPECT_EQ(Doubling(3000).run(), 16); }

TEST(Regions, AreNotMadeOfTheirOwnResults) {
  Doubling d;
  try {
    d.layers.set_operand(d.value, 1, {.layer = d.out});
    d.layers.finalize();
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("reads its own result"), std::string::npos) << e.what();
  }
  d.layers.set_operand(d.value, 1, {.layer = d.step});
  EXPECT_EQ(d.run(), 16);
}

}  // namespace
}  // namespace tenfold
