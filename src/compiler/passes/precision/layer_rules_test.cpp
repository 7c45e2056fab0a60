// Which nodes an entry of LayerTypes is about.
#include "passes/precision/layer_rules.h"

#include <gtest/gtest.h>

namespace tenfold::passes {
namespace {

TEST(LayerRules, AStarStandsForAnything) {
  EXPECT_TRUE(fits("conv1", "conv1"));
  EXPECT_FALSE(fits("conv1", "conv10"));
  EXPECT_TRUE(fits("conv*", "conv10"));
  EXPECT_TRUE(fits("*/MatMul", "/layer.0/MatMul"));
  EXPECT_TRUE(fits("a*b", "ab"));
  EXPECT_FALSE(fits("aba*aba", "ababa"));   // the two ends may not overlap
  EXPECT_TRUE(fits("*", ""));
  EXPECT_TRUE(fits("a\\*b", "a*b"));   // a star itself
  EXPECT_FALSE(fits("a\\*b", "axb"));
  EXPECT_TRUE(fits("a\\*b*", "a*bc"));
  EXPECT_FALSE(is_pattern("a\\*b"));
}

TEST(LayerRules, NamesGoBeforePatternsAndLaterEntriesBeforeEarlierOnes) {
  ir::NameTable table;
  for (const char* name : {"a1", "a2", "b"}) table.nodes.push_back({name, {}, {}});
  const LayerTypes types{.constraints = LayerConstraints::prefer,
                         .precisions = {{"a1", DType::f32}, {"a*", DType::f16}, {"*", DType::bf16}, {"b", DType::i8}, {"b", DType::f16}},
                         .output_types = {{"a*", {DType::f16, DType::f32}}}};
  const LayerRules rules = precision_rules(table, types);
  EXPECT_EQ(rules.at(0).types, std::vector<DType>{DType::f32});   // by name, whatever comes later
  EXPECT_FALSE(rules.at(0).by_pattern);
  EXPECT_EQ(rules.at(1).types, std::vector<DType>{DType::bf16});  // the later of two patterns
  EXPECT_TRUE(rules.at(1).by_pattern);
  EXPECT_EQ(rules.at(2).types, std::vector<DType>{DType::f16});   // the later of two names
  EXPECT_EQ(output_rules(table, types).size(), 2u);
}

}  // namespace
}  // namespace tenfold::passes
