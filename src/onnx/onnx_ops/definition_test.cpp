// Definitions: the text form of what an operator means as nodes of others.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

constexpr const char* kText = R"((x, scale, bias?) alpha=0.5 axes=ints? shape=ints!
  d = Reshape(x, @shape)
  c = Cast(d) to=@type(scale)
  s = Add(c, bias) if bias else c
  u = Unsqueeze(s, @axes)
  y = LeakyRelu(u) alpha=@alpha
  return y, _, s)";

Graph with_inputs() {
  Graph graph(Registry::builtin());
  graph.add_input("x", {.tensor = {DType::f32, {Dim(6)}}});
  graph.add_input("scale", {.tensor = {DType::f64, {}}});
  graph.add_input("bias", {.tensor = {DType::f64, {Dim(3)}}});
  return graph;
}

TEST(Definition, ItsFirstLineTellsOperandsAndAttributes) {
  const Definition d = read_definition(kText);
  ASSERT_EQ(d.operands.size(), 3u);
  EXPECT_EQ(d.operands[2].name, "bias");
  EXPECT_TRUE(d.operands[2].optional && !d.operands[1].optional);
  EXPECT_EQ(text(d.attributes), "alpha=0.5");
  ASSERT_TRUE(d.other_attributes.find("axes") && d.other_attributes.find("shape"));
  EXPECT_EQ(name_of(*d.other_attributes.find("shape")), "ints");
  EXPECT_EQ(d.needed_attributes, std::vector<std::string>{"shape"});
}

TEST(Definition, AttributesAndTypesOfTheNodeAreItsParameters) {
  Graph graph = with_inputs();
  const std::vector<Value*> results =
      add_definition(graph, kText, graph.inputs, {{"alpha", 0.25f}, {"axes", Ints{0}}, {"shape", Ints{2, 3}}}, "layer");
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[1], nullptr);
  EXPECT_EQ(text(results[0]->type), "f64[1,2,3]");
  EXPECT_EQ(results[0]->producer->attributes.number("alpha"), 0.25f);
  EXPECT_EQ(results[2]->producer->op(), "Add");
  EXPECT_EQ(results[2]->producer->name.substr(0, 5), "layer");
}

TEST(Definition, WhatIsLeftOutIsNotAdded) {
  Graph graph = with_inputs();
  const std::vector<Value*> results =
      add_definition(graph, "(x, scale, bias?) axes=ints?\n s = Add(x, bias) if bias else x\n y = Squeeze(s, @axes)\n return y",
                     {graph.inputs[0], graph.inputs[1]}, {}, "layer");
  EXPECT_EQ(graph.nodes().size(), 1u);
  EXPECT_EQ(results[0]->producer->inputs.size(), 1u);
}

TEST(Definition, AMissingOperandIsNamed) {
  Graph graph = with_inputs();
  try {
    add_definition(graph, kText, {graph.inputs[0]}, {{"shape", Ints{2, 3}}}, "layer");
    ADD_FAILURE() << "is not refused";
  } catch (const Fault& e) {
    EXPECT_NE(std::string(e.what()).find("input 1 (scale) is missing"), std::string::npos) << e.what();
  }
}

TEST(Definition, WhatIsNoneIsRefusedWithItsPlace) {
  for (const char* wrong : {"x", "(x\n return x", "(x) y = Relu(z)\n return y", "(x) y = Nothing(x)\n return y", "(x) y = Relu(x)",
                            "(x) y = Relu(x) if x otherwise x\n return y", "(x) y = Relu(x)\n y = Relu(x)\n return y"}) {
    Graph graph = with_inputs();
    EXPECT_THROW(add_definition(graph, wrong, {graph.inputs[0]}, {}, "layer"), Error) << wrong;
  }
}

}  // namespace
}  // namespace tenfold::ir
