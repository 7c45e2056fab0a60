// Fused operators: their reference kernels, which follow from their expansions, against NumPy; and the expansions themselves.
#include "ops/expect_case_for_tests.h"

namespace tenfold::ops {
namespace {

// Expected values are NumPy's, computed in f64.
const ExpectedCase kCases[] = {
    {"ProductNorm", R"(f32[2,3]{2,0.5,0.75,1.75,0.25,1.25} f32[3,4]{1.5,-1.25,-2,-0.75,-1,1.5,1.75,-2,0,1.25,-1.5,1.25}
        f32[4]{-1.5,-0.25,1.25,-0.75} f32[4]{-0.75,-1,1,-1} epsilon=0.125)",
     R"(f32[2,4]{-2.927915,-1.022486,-0.6543159,-0.8361745,-2.52111,-1.048463,-0.9605575,-1.14539})", 1e-6},
    {"ProductNorm", R"(f32[2,3]{2,0.5,0.75,1.75,0.25,1.25} f32[3,4]{1.5,-1.25,-2,-0.75,-1,1.5,1.75,-2,0,1.25,-1.5,1.25}
        f32[4]{-1.5,-0.25,1.25,-0.75} f32[4]{-0.75,-1,1,-1} f32[4]{2,-0.25,0,0} f32[2,4]{0.25,0.25,0,2,1.25,1.25,0.75,0.5}
        outputs=2 epsilon=0.125)",
     R"(f32[2,4]{-2.935068,-0.9348821,-0.6520659,-1.094059,-2.903613,-1.010064,-0.7164053,-0.9228456} f32[2,4]{4.75,-0.8125,-4.25,
        0.4375,5.625,0.75,-4.1875,0.25})", 1e-6},
    {"ProductNorm", R"(f32[2,3]{2,0.5,0.75,1.75,0.25,1.25} f32[3,4]{1.5,-1.25,-2,-0.75,-1,1.5,1.75,-2,0,1.25,-1.5,1.25}
        f32[4]{-1.5,-0.25,1.25,-0.75} f32[4]{-0.75,-1,1,-1} _ f32[2,4]{0.25,0.25,0,2,1.25,1.25,0.75,0.5} epsilon=0.125)",
     R"(f32[2,4]{-2.607952,-0.9846704,-0.8855452,-1.24834,-2.577869,-1.07306,-0.922984,-1.020677})", 1e-6},
    {"ProductMoments", R"(f32[2,3]{2,0.5,0.75,1.75,0.25,1.25} f32[3,4]{1.5,-1.25,-2,-0.75,-1,1.5,1.75,-2,0,1.25,-1.5,1.25}
        f32[4]{2,-0.25,0,0} f32[2,4]{0.25,0.25,0,2,1.25,1.25,0.75,0.5} f32[2,1]{-0.75,2} f32[2,1]{-0.25,-1.25} f32[4]{1.5,-1.5,
        1.5,0.5} epsilon=0.125)",
     R"(f32[2,4]{4.59375,-1.15625,-3.875,-2.1875,10,-6.125,-0.8125,0.875} f32[2,1]{0.3122806,0.1717732} f32[2,1]{-0.2049341,
        0.1690893})", 1e-6},
    {"SumNorm", R"(f32[4]{-1.5,-0.25,1.25,-0.75} f32[4]{-0.75,-1,1,-1} f32[3,4]{-1.75,-2,-0.25,-2,-1.5,0,2,-0.25,1.25,1.75,1.25,
        0.5} i64[2,2]{0,2,-1,1} f32[1,2,4]{-0.25,0,-1,0,-0.5,-1,2,-2} _ outputs=2 quantised="u8" scale=0.05 zero=100.0 epsilon=0.125)",
     R"(f32[2,2,4]{-0.1641499,-0.9023583,2.464625,-0.707075,-0.6954094,-0.9909016,2.774194,0.009925904,-1.028543,-1.324967,
        -0.1605959,-0.5821855,0.2395725,-0.9328068,3.107423,-0.4319121} u8[2,2,4]{97,82,149,86,86,80,155,100,79,74,97,88,105,81,
        162,91})", 1e-6},
    {"ExpandDepthwise", R"(f32[1,2,3,3]{-1.75,-1.25,2,0.75,1.5,-1.25,1,-0.5,0,-2,0.5,1.5,0.75,-1.5,0.25,-1,2,1.5}
        f32[3,2,1,1]{-1.25,0,1.75,1.5,1,0.5} f32[3,1,1]{-2,1,0} f32[3,1,3,3]{-1.75,-1,0.25,1,0,0.5,1.5,0.75,-0.5,0.5,0.5,-1.75,-1.75,0.75,
        -0.5,0.5,-0.75,-1.25,-1.5,-0.5,1.25,-0.5,-0.5,0.25,2,-0.5,0.5} pads=[1,1,1,1] strides=[2,2] low=-1.0 high=1.5)",
     R"(f32[1,3,2,2]{-0.46875,-2.265625,0.25,1.1875,-3.375,3.1875,-1.46875,-1.21875,0.0625,1.75,0.25,-1.25})", 1e-6},
    {"ConvMaxPool", R"(f32[1,2,5,4]{-0.25,0.5,-0.25,0.5,0.25,0.75,2,-1.5,0.25,-0.25,-0.5,-1,-2,-0.5,1.5,-1.75,-0.5,2,2,-1.25,-2,
        0.75,-2,-0.75,0,1.5,-1.75,0.75,0.25,-1.5,1.5,1.5,0,2,0.5,1.75,2,0.25,-1,-1.5} f32[2,2,3,3]{0.25,-1.25,1,1.75,-1,0.25,-2,
        -1.25,-0.5,1.75,2,0.5,0.25,0.25,-1.75,-0.5,2,-0.5,-1.25,-1,1,-2,2,1.5,0.25,-0.25,1,0.25,0,-0.75,-0.25,1,-2,-2,1,-0.5}
        f32[2]{1.25,-2} pads=[1,1,1,1])",
     R"(f32[1,2,2,2]{4.875,4.8125,9.75,8,8.625,4.375,0.75,-1.75})", 1e-6},
    {"MatMulFloat8", R"(f8e4m3fn[2,3]{1.75,-1.5,-0.25,2,-1.75,0.75} f8e4m3fn[3,2]{1,-0.25,-1.75,0,-0.25,1.5})",
     R"(f32[2,2]{4.4375,-0.8125,4.875,0.625})", 1e-6},
};

TEST(Fused, SameResults) {
  for (const ExpectedCase& e : kCases) expect_case(e);
}

TEST(Fused, CasesRun) {
  for (const char* op : {"ProductNorm", "ProductMoments", "SumNorm", "ExpandDepthwise", "ConvMaxPool", "MatMulFloat8"})
    expect_cases_run(op);
}

// In the types that a graph has, in which the tuner sees them; the reference kernel may run them in wider ones.
TEST(Fused, ExpansionsGiveTheTypesOfTheirOperators) {
  int expanded = 0;
  for (const ir::OpDef* def : ir::Registry::builtin().all()) {
    EXPECT_TRUE(def->expand || !def->traits.weighed) << def->name;
    if (!def->expand) continue;
    for (const std::string& line : def->cases) {
      SCOPED_TRACE(def->name + " " + line);
      ir::Graph graph = case_graph(ir::Registry::builtin(), *def, parse_case(*def, line));
      ir::Node& node = *graph.nodes().front();
      const std::vector<ir::Value*> results = def->expand(graph, node);
      ASSERT_EQ(results.size(), node.outputs.size());
      for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(ir::text(results[i]->type), ir::text(node.outputs[i]->type));
      EXPECT_EQ(graph.nodes().back().get(), &node) << "nodes of an expansion stand in front of the node";
      ++expanded;
    }
  }
  EXPECT_GT(expanded, 20);
}

}  // namespace
}  // namespace tenfold::ops
