// The model's names through every pass: none is lost, nodes stand for what they compute, and a value that has a name has its numbers.
#include <gtest/gtest.h>

#include "graph_grower.h"
#include "names_check.h"
#include "passes/pipeline.h"
#include "pictures.h"

namespace tenfold {
namespace {

std::vector<Tensor> random_inputs(const ir::Graph& graph) {
  std::vector<Tensor> inputs;
  for (const ir::Value* v : graph.inputs) {
    Shape shape;
    for (const ir::Dim& d : v->dims()) shape.push_back(d.is_constant() ? d.constant() : 3);
    inputs.push_back(ops::random_tensor(v->dtype(), shape, 10 + inputs.size()));
  }
  return inputs;
}

struct Sum {
  int nodes = 0, exact = 0, values = 0;
  void add(const tests::NameCounts& found) { nodes += found.nodes, exact += found.exact, values += found.values; }
};

void check_pass(const passes::Pass& pass, Sum& sum, double tolerance = 1e-5) {
  const std::filesystem::path folder = std::filesystem::path(TENFOLD_SOURCE_DIR) / "src/compiler/passes/rules";
  for (const tests::Picture& picture : tests::pictures_of(folder / (pass.name + ".cpp"))) {
    ir::Graph graph = tests::parse_picture(picture.before);
    ir::start_names(graph, "edit");
    const ir::Graph original = graph.clone();
    passes::run(graph, {pass});
    const tests::NameCounts found = tests::check_names(original, graph, random_inputs(original), tolerance, false);
    EXPECT_EQ(found.fault, "") << pass.name << "\n" << ir::print(original) << ir::print(graph, {.names = true, .model_names = true});
    sum.add(found);
  }
}

TEST(Names, SurviveEveryPass) {
  Sum sum;
  ASSERT_GE(passes::all_passes().size(), 10u);
  for (const passes::Pass& pass : passes::all_passes())
    if (pass.name == "remove_qdq" || pass.name == "fuse_float8_attention" || pass.name.starts_with("quantize_rows") ||
        pass.name.ends_with("_to_float8"))
      check_pass(pass, sum, 0.1);   // steps of up to 0.05
    else check_pass(pass, sum);
  std::printf("%d nodes stand for some of the model's, %d of them for exactly what lies between their values; %d values compared\n",
              sum.nodes, sum.exact, sum.values);
  EXPECT_GT(sum.exact, sum.nodes / 2);   // the rest have an operand or a result that the model does not have
}

// One pass after the other, on graphs that nobody wrote for them.
TEST(Names, SurviveAllPassesOfADevice) {
  const backends::DeviceInfo a_gpu{.kind = "cuda", .arch = 90}, a_cpu{.kind = "cpu", .features = backends::kAvx2};
  BuildConfig fp16;
  fp16.fp16 = true;
  using Passes = std::vector<passes::Pass>;
  const Passes cpu = passes::pipeline_for(a_cpu, {}).in_order(), half = passes::pipeline_for(a_gpu, fp16).in_order();
  Passes gpu = passes::pipeline_for(a_gpu, {}).in_order();
  gpu.push_back(passes::find_pass("defer_norms"));
  Sum sum;
  for (std::uint64_t seed = 0; seed < 150 && !HasFailure(); ++seed) {
    Grower grower(seed);
    const std::string text = grower.grow();
    ir::Graph original = tests::parse_picture(text);
    ir::start_names(original, "edit");
    for (const Passes* list : std::initializer_list<const Passes*>{&gpu, &cpu, &half}) {
      ir::Graph graph = original.clone();
      passes::run(graph, *list);
      const double tolerance = list == &half ? HUGE_VAL : seed % 8 == 7 ? 0.1 : 2e-3;   // 16 bits overflow; quantized ones differ by steps
      const tests::NameCounts found = tests::check_names(original, graph, random_inputs(original), tolerance, true);
      EXPECT_EQ(found.fault, "") << "seed " << seed << (list == &gpu ? ", GPU" : list == &cpu ? ", CPU" : ", f16") << "\n"
                                 << text << ir::print(graph, {.names = true, .model_names = true});
      sum.add(found);
    }
  }
  std::printf("%d nodes, %d exact; %d values compared\n", sum.nodes, sum.exact, sum.values);
  EXPECT_GT(sum.exact, sum.nodes / 2);
}

ir::Graph named(const std::string& text) {
  ir::Graph graph = tests::parse_picture(text);
  ir::start_names(graph, "edit");
  return graph;
}
std::string removed_by(const ir::Graph& graph, const std::string& node) {
  for (const ir::Removed& r : graph.removed)
    if (graph.model_names->nodes[static_cast<std::size_t>(r.node)].name == node) return r.by;
  return "";
}

// A tensor whose numbers are nowhere any more loses its name, and what made it tells which rule took it.
TEST(Names, OfRoundingThatIsLeftOutAreToldWithTheRule) {
  ir::Graph graph = named(R"((x f32[2,3,4], w f32[2,4,5])
  s = f32[]{0.05}
  z = u8[]{128}
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  y = MatMul(d, w)
  return y
)");
  passes::run(graph, {passes::find_pass("remove_qdq")});
  EXPECT_EQ(removed_by(graph, "q"), "remove_qdq");
  EXPECT_EQ(removed_by(graph, "d"), "remove_qdq");
  EXPECT_EQ(removed_by(graph, "y"), "");
  for (const auto& v : graph.values())
    for (const std::int32_t name : v->names)
      EXPECT_NE(graph.model_names->tensors[static_cast<std::size_t>(name)], "d") << "it is not x";
}

TEST(Names, TellWhatWasRemovedAndWhy) {
  ir::Graph graph = named(R"((x f32[2,3])
  a = f32[3]{1.0,2.0,3.0}
  c = Exp(a)
  i = Identity(x)
  nobody = Sin(x)
  y = Mul(i, c)
  z = Mul(i, c)
  w = Add(y, z)
  return w
)");
  passes::run(graph, passes::pipeline_for({}, {}).rewrite);
  EXPECT_EQ(removed_by(graph, "c"), "fold_constants");
  EXPECT_EQ(removed_by(graph, "i"), "remove_identity");
  EXPECT_EQ(removed_by(graph, "nobody"), "unused");
  EXPECT_EQ(removed_by(graph, "z"), "");   // computed with y, whose node stands for both
  for (const auto& n : graph.nodes())
    if (n->op() == "Mul") {
      EXPECT_EQ(n->sources.all().size(), 2u);
    }
}

// The portable form carries them.
TEST(Names, SurviveTheTextForm) {
  ir::Graph graph = named(R"((x f32[4,8], w f32[8,6]!)
  p = MatMul(x, w)
  q = Relu(p)
  y = Softmax(q)
  return y
)");
  passes::run(graph, passes::pipeline_for({}, {}).fuse);
  std::vector<std::shared_ptr<const ir::Constant>> constants;
  const std::string text = ir::print(graph, {.names = true, .model_names = true, .constants = &constants});
  const ir::Graph read = ir::parse_graph(text, ir::Registry::builtin(), {.constants = &constants});
  std::vector<std::shared_ptr<const ir::Constant>> again;
  EXPECT_EQ(ir::print(read, {.names = true, .model_names = true, .constants = &again}), text);
  EXPECT_NE(text.find("model={0;1}"), std::string::npos) << text;   // the product, and behind it the Relu
}

}  // namespace
}  // namespace tenfold
