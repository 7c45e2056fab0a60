// What a node may round is printed, parsed and copied with the node, and is no attribute.
#include <gtest/gtest.h>

#include "ir/op_def.h"
#include "ir/text.h"

namespace tenfold::ir {
namespace {

TEST(Numerics, BelongToTheNodeAndNotToItsAttributes) {
  const char* kText = R"((x f32[2,3], w f32[3,4])
    y = MatMul(x, w) numerics={round_to=bf16,strassen=1}
    z = Softmax(y) numerics={fast_exp=1})";
  const Graph graph = parse_graph(kText, Registry::builtin());
  const Node& product = *graph.nodes().front();
  EXPECT_EQ(product.numerics, (Numerics{.round_to = Rounding::bf16, .strassen = true}));
  EXPECT_TRUE(product.attributes.empty()) << text(product.attributes);
  const Graph copy = graph.clone(), again = parse_graph(print(graph, PrintOptions{}), Registry::builtin());
  for (const Graph* g : {&copy, &again}) EXPECT_EQ(g->nodes().front()->numerics, product.numerics);
  EXPECT_NE(print(graph).find(" numerics={fast_exp=1}"), std::string::npos) << print(graph);
}

}  // namespace
}  // namespace tenfold::ir
