// Narrowing: what becomes f16, what stays f32, and that the result is near the f32 graph's.
#include "passes/precision/narrow_floats.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "passes/pipeline.h"

namespace tenfold::passes {
namespace {

ir::Graph parse(const char* text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}
std::map<std::string, int> types_of(const ir::Graph& graph, std::string_view op) {
  std::map<std::string, int> count;
  for (const auto& n : graph.nodes())
    if (n->op() == op) ++count[std::string(name(n->in(0)->dtype()))];
  return count;
}
void expect_near(const ir::Graph& a, const ir::Graph& b, const Tensor& x, double allowed) {
  const Tensor expected = std::get<Tensor>(ops::run_graph(a, {x}).at(0)), got = std::get<Tensor>(ops::run_graph(b, {x}).at(0));
  ASSERT_EQ(got.dtype(), expected.dtype());
  ASSERT_EQ(got.shape(), expected.shape());
  for (std::int64_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got.as_double(i), expected.as_double(i), allowed);
}

TEST(NarrowFloats, ProductsTakeHalvesAndOutputsStayFloat) {
  const ir::Graph wide = parse(R"((x f32[9,8], w f32[8,5]!, b f32[5]!)
    m = MatMul(x, w)
    a = Add(m, b)
    y = Softmax(a) axis=-1)");
  ir::Graph narrow = wide.clone();
  run(narrow, {pass_narrow_floats(DType::f16)});
  EXPECT_EQ(types_of(narrow, "MatMul"), (std::map<std::string, int>{{"f16", 1}}));
  EXPECT_EQ(types_of(narrow, "Add"), (std::map<std::string, int>{{"f16", 1}}));
  EXPECT_EQ(types_of(narrow, "Softmax"), (std::map<std::string, int>{{"f32", 1}}));           // the last step
  EXPECT_EQ(types_of(narrow, "Cast"), (std::map<std::string, int>{{"f16", 1}, {"f32", 1}}));  // one way in, one way out
  EXPECT_EQ(narrow.outputs[0]->dtype(), DType::f32);
  expect_near(wide, narrow, ops::random_tensor(DType::f32, {9, 8}, 7), 2e-3);
}

TEST(NarrowFloats, AFirstProductOfFewRowsStaysWide) {
  const ir::Graph wide = parse(R"((x f32[3,8], w f32[8,5]!, b f32[5]!, u f32[5,4]!)
    m = MatMul(x, w)
    a = Add(m, b)
    y = MatMul(a, u))");
  ir::Graph narrow = wide.clone();
  run(narrow, {pass_narrow_floats(DType::f16)});
  EXPECT_EQ(types_of(narrow, "MatMul"), (std::map<std::string, int>{{"f32", 1}, {"f16", 1}}));
  EXPECT_EQ(types_of(narrow, "Add"), (std::map<std::string, int>{{"f16", 1}}));
  expect_near(wide, narrow, ops::random_tensor(DType::f32, {3, 8}, 7), 2e-2);
}

TEST(NarrowFloats, ConstantsThatDoNotFitKeepTheirNodeWide) {
  const ir::Graph wide = parse(R"((x f32[3,8])
    e = f32[]{1e-12}
    h = f32[]{-3e38}
    a = Max(x, e)
    b = Mul(a, h)
    c = Exp(b)
    d = Add(c, x)
    y = Neg(d))");
  ir::Graph narrow = wide.clone();
  run(narrow, {pass_narrow_floats(DType::f16)});
  EXPECT_EQ(types_of(narrow, "Max"), (std::map<std::string, int>{{"f32", 1}}));
  EXPECT_EQ(types_of(narrow, "Mul"), (std::map<std::string, int>{{"f32", 1}}));
  EXPECT_EQ(types_of(narrow, "Add"), (std::map<std::string, int>{{"f16", 1}}));
  expect_near(wide, narrow, ops::random_tensor(DType::f32, {3, 8}, 7), 2e-3);
}

TEST(NarrowFloats, MasksOfTheLowestFloatStayFiniteInBf16) {
  const ir::Graph wide = parse(R"((x f32[2,3])
    one = f32[]{1}
    low = f32[]{-3.4028235e38}
    mask = f32[2,3]{0,-3.4028235e38,0,3.4028235e38,-3.4028235e38,-1}
    h = Sub(one, x)
    m = Mul(h, low)
    a = Softmax(m) axis=-1
    b = Max(a, mask)
    y = Neg(b))");
  ir::Graph narrow = wide.clone();
  run(narrow, {pass_narrow_floats(DType::bf16)});
  for (const char* op : {"Mul", "Softmax", "Max"}) EXPECT_EQ(types_of(narrow, op), (std::map<std::string, int>{{"bf16", 1}})) << op;
  Tensor x(DType::f32, {2, 3});   // a row that is masked whole, and one of which one value is left
  const float values[] = {0, 0, 0, 0, 1, 0};
  std::copy_n(values, 6, x.mutable_data<float>());
  const Tensor got = std::get<Tensor>(ops::run_graph(narrow, {x})[0]), expected = std::get<Tensor>(ops::run_graph(wide, {x})[0]);
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(std::isfinite(expected.as_double(i)));
    EXPECT_NEAR(got.as_double(i), expected.as_double(i), 4e-3 * std::max(1.0, std::abs(expected.as_double(i))));
  }
}

TEST(NarrowFloats, TheCallersMasksOfTheLowestFloatStayFinite) {
  const ir::Graph wide = parse(R"((x f32[3,2], mask f32[6])
    shape = i64[2]{3,2}
    m = Reshape(mask, shape)
    a = Add(x, m)
    p = Softmax(a) axis=-1
    n = Neg(p)
    y = Neg(n))");
  Tensor x(DType::f32, {3, 2}), mask(DType::f32, {6});
  const float lowest = std::numeric_limits<float>::lowest(), hidden = -std::numeric_limits<float>::infinity();
  const float values[] = {lowest, lowest, lowest, 0, hidden, 0};   // the first row is masked whole
  std::copy_n(values, 6, mask.mutable_data<float>());
  std::fill_n(x.mutable_data<float>(), 6, -20.f);
  for (const DType to : {DType::bf16, DType::f16}) {
    ir::Graph narrow = wide.clone();
    run(narrow, {pass_narrow_floats(to)});
    EXPECT_EQ(types_of(narrow, "Softmax"), (std::map<std::string, int>{{std::string(name(to)), 1}}));
    const Tensor got = std::get<Tensor>(ops::run_graph(narrow, {x, mask})[0]);
    const double expected[] = {0.5, 0.5, 0, 1, 0, 1};
    for (int i = 0; i < 6; ++i) EXPECT_EQ(got.as_double(i), expected[i]) << i << " " << name(to);
  }
}

TEST(NarrowFloats, InfiniteConstantsStayInfinite) {
  const ir::Graph wide = parse(R"((x f32[3])
    limits = f32[3]{-inf,3.4028235e38,1}
    b = Max(x, limits)
    y = Neg(b))");
  ir::Graph narrow = wide.clone();
  run(narrow, {pass_narrow_floats(DType::bf16)});
  EXPECT_EQ(types_of(narrow, "Max"), (std::map<std::string, int>{{"f32", 1}}));
}

TEST(NarrowFloats, ScaleAndBiasOfIntegerSumsStayWide) {  // 16 products of 100 and 100 are beyond f16
  ir::Graph graph = parse(R"((x i8[4,16], w i8[16,32]!, s f32[32]!, b f32[32]!)
    m = MatMulInteger(x, w)
    c = Cast(m) to="f32"
    d = Mul(c, s)
    a = Add(b, d)
    r = Relu(a)
    y = Neg(r))");
  run(graph, {pass_narrow_floats(DType::f16)});
  EXPECT_EQ(types_of(graph, "Mul"), (std::map<std::string, int>{{"f32", 1}}));
  EXPECT_EQ(types_of(graph, "Add"), (std::map<std::string, int>{{"f32", 1}}));
  EXPECT_EQ(types_of(graph, "Relu"), (std::map<std::string, int>{{"f16", 1}}));
}

TEST(NarrowFloats, TablesOfWeightsAreNarrowed) {
  const ir::Graph wide = parse(R"((i i64[3], t f32[10,4]!)
    y = Gather(t, i) axis=0)");
  ir::Graph narrow = wide.clone();
  run(narrow, {pass_narrow_floats(DType::f16)});
  EXPECT_EQ(types_of(narrow, "Gather"), (std::map<std::string, int>{{"f16", 1}}));
  Tensor indices(DType::i64, {3});
  for (std::int64_t k = 0; k < 3; ++k) indices.mutable_data<std::int64_t>()[k] = 4 * k;
  expect_near(wide, narrow, indices, 2e-3);
}

TEST(NarrowFloats, IntegersAndIndicesAreLeftAlone) {
  const ir::Graph wide = parse(R"((x f32[10,4])
    i = i64[3]{1,9,0}
    g = Gather(x, i)
    s = Shape(g)
    y = Relu(g))");
  ir::Graph narrow = wide.clone();
  run(narrow, {pass_narrow_floats(DType::bf16)});
  EXPECT_EQ(types_of(narrow, "Gather"), (std::map<std::string, int>{{"bf16", 1}}));
  expect_near(wide, narrow, ops::random_tensor(DType::f32, {10, 4}, 7), 1e-2);
}

TEST(NarrowFloats, ScalesOfAResizeStay) {
  const ir::Graph wide = parse(R"((x f32[1,2,3,5])
    s = f32[4]{1,1,2.001,2.001}
    r = Resize(x, _, s) mode="linear"
    y = Neg(r))");
  ir::Graph narrow = wide.clone();
  run(narrow, {pass_narrow_floats(DType::bf16)});
  EXPECT_EQ(types_of(narrow, "Resize"), (std::map<std::string, int>{{"bf16", 1}}));
  for (const auto& n : narrow.nodes())
    EXPECT_TRUE(n->op() != "Resize" || n->in(2)->dtype() == DType::f32);
  expect_near(wide, narrow, ops::random_tensor(DType::f32, {1, 2, 3, 5}, 7), 1e-2);
}

// What stands before an output in a graph of 16 bits: the type that it was computed in, where the node gives f32 of what it computed.
// A cast behind it alone would make f32 of what was rounded.
std::string last_step(const ir::Value* v) {
  while (v->producer && v->producer->def->traits.movement != ir::Movement::none) v = v->producer->in(0);
  const ir::Node* n = v->producer;
  if (n->op() == "Cast" && bits(n->in(0)->dtype()) == 16) return "a cast of what was rounded";
  if (n->def->traits.region)   // casts and movement alone
    for (const ir::Instr& i : n->body->code)
      if (i.prim != ir::Prim::cast) return n->op();
  return n->def->traits.region ? "a cast of what was rounded" : n->op();
}

TEST(NarrowFloats, TheLastStepWritesF32ThatIsNotRounded) {
  BuildConfig fp16, bf16;
  fp16.fp16 = true, bf16.bf16 = true;
  const std::vector<std::pair<const char*, const char*>> graphs{
      {"(x f32[64,32], w f32[32,48]!, v f32[48,40]!)\n h = MatMul(x, w)\n r = Relu(h)\n p = MatMul(r, v)\n y = Softmax(p)", "Softmax"},
      {"(x f32[64,32], w f32[32,48]!, v f32[48,40]!)\n h = MatMul(x, w)\n r = Relu(h)\n y = MatMul(r, v)", "MatMul"},
      {"(x f32[64,32], w f32[32,48]!, b f32[48]!)\n h = MatMul(x, w)\n a = Add(h, b)\n y = Sigmoid(a)", "MatMul"},
      {"(x f32[2,8,9,9], w f32[16,8,3,3]!)\n to = i64[2]{2,-1}\n c = Conv(x, w)\n r = Relu(c)\n y = Reshape(r, to)", "Conv"},
      {"(x f32[64,32], w f32[32,48]!, g f32[48]!, b f32[48]!)\n h = MatMul(x, w)\n y = LayerNormalization(h, g, b)", "LayerNormalization"}};
  for (const auto& [text, step] : graphs)
    for (const auto& [device, config] : {std::pair<backends::DeviceInfo, BuildConfig*>{{.kind = "cpu", .features = ~0u}, &bf16},
                                         {{.kind = "cuda", .arch = 90}, &bf16},
                                         {{.kind = "cuda", .arch = 90}, &fp16}}) {
      ir::Graph graph = parse(text);
      run(graph, pipeline_for(device, *config).in_order());
      EXPECT_EQ(graph.outputs[0]->dtype(), DType::f32);
      const std::string found = last_step(graph.outputs[0]);
      EXPECT_TRUE(found == step || (found == "Region" && std::string_view(step) != "MatMul" && std::string_view(step) != "Conv"))
          << found << " on " << device.kind << " in\n" << ir::print(graph);
      for (const auto& n : graph.nodes())   // what goes before is narrow
        if (n->op() == "MatMul" || n->op() == "Conv") {
          EXPECT_EQ(bits(n->in(0)->dtype()), 16) << ir::print(graph);
        }
    }
}

// Whoever else reads a result reads what callers get.
TEST(NarrowFloats, ResultsThatAreReadOnAreNarrow) {
  ir::Graph graph = parse(R"((x f32[9,8], w f32[8,8]!)
    h = Softmax(x)
    y = MatMul(h, w)
    return h, y)");
  run(graph, {pass_narrow_floats(DType::f16)});
  EXPECT_EQ(types_of(graph, "Softmax"), (std::map<std::string, int>{{"f16", 1}}));
}

TEST(NarrowFloats, NodesMayStay) {
  ir::Graph graph = parse(R"((x f32[10,4])
    a = Relu(x)
    y = Exp(a))");
  run(graph, {pass_narrow_floats(DType::bf16, {}, [](const ir::Node& n) { return n.op() == "Exp"; })});
  graph.sweep();
  EXPECT_EQ(types_of(graph, "Relu"), (std::map<std::string, int>{{"bf16", 1}}));
  EXPECT_EQ(types_of(graph, "Exp"), (std::map<std::string, int>{{"f32", 1}}));
}

// Grouped convolutions and what is quantized stay f32; their operands may be rounded, in bodies as outside of them.
TEST(Precision, GemmsInBranchesAreGivenPermissionToo) {
  ir::Graph graph = parse(R"((x f32[1,8,6,6], c bool[], w f32[8,4,3,3]!)
    o = Conv(x, w) group=2 pads=[1,1,1,1]
    y = If(c, o, w) graphs=[ (s f32[1,8,6,6], w f32[8,4,3,3])
        a = Conv(s, w) group=2 pads=[1,1,1,1]
        return a
      (s f32[1,8,6,6], w f32[8,4,3,3])
        a = Tanh(s)
        return a ])");
  BuildConfig config;
  config.bf16 = true;
  run(graph, pipeline_for({.features = ~0u}, config).precision);
  const auto permission_of = [](const ir::Graph& g) {
    for (const auto& n : g.nodes())
      if (n->op() == "Conv") return std::string(ir::name(n->numerics.round_to));
    return std::string("no convolution");
  };
  EXPECT_EQ(permission_of(graph), "bf16");
  const ir::Node* branch = graph.outputs[0]->producer;
  ASSERT_EQ(branch->op(), "If");
  EXPECT_EQ(permission_of(*branch->graphs[0]), "bf16");
}

}  // namespace
}  // namespace tenfold::passes
