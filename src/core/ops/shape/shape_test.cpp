// Operators that change shapes: numpy's results, element types of every width, sizes that only the data decides, and symbols.
#include <cstring>

#include "ops/expect_case_for_tests.h"

namespace tenfold::ops {
namespace {

// Expected values are numpy's.
const ExpectedCase kCases[] = {
    {"ConstantOfShape", R"(i64[2]{2,2} value=i32[1]{7})", R"(i32[2,2]{7,7,7,7})"},
    {"Shape", R"(f32[2,3,4]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23} start=-2 end=9)", R"(i64[2]{3,4})"},
    {"Size", R"(f32[2,3]{0,1,2,3,4,5})", R"(i64[]{6})"},
    {"Reshape", R"(f32[2,3]{0,1,2,3,4,5} i64[2]{3,-1})", R"(f32[3,2]{0,1,2,3,4,5})"},
    {"Reshape", R"(f32[2,3,2]{0,1,2,3,4,5,6,7,8,9,10,11} i64[2]{0,-1})", R"(f32[2,6]{0,1,2,3,4,5,6,7,8,9,10,11})"},
    {"Flatten", R"(f32[2,3,2]{0,1,2,3,4,5,6,7,8,9,10,11} axis=2)", R"(f32[6,2]{0,1,2,3,4,5,6,7,8,9,10,11})"},
    {"Flatten", R"(f32[2,3]{0,1,2,3,4,5} axis=0)", R"(f32[1,6]{0,1,2,3,4,5})"},
    {"Squeeze", R"(f32[1,2,1,3]{0,1,2,3,4,5})", R"(f32[2,3]{0,1,2,3,4,5})"},
    {"Squeeze", R"(f32[1,2,1,3]{0,1,2,3,4,5} i64[1]{-2})", R"(f32[1,2,3]{0,1,2,3,4,5})"},
    {"Unsqueeze", R"(f32[2,3]{0,1,2,3,4,5} i64[2]{0,-1})", R"(f32[1,2,3,1]{0,1,2,3,4,5})"},
    {"Transpose", R"(f32[2,3,4]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23})",
     R"(f32[4,3,2]{0,12,4,16,8,20,1,13,5,17,9,21,2,14,6,18,10,22,3,15,7,19,11,23})"},
    {"Transpose", R"(f32[2,3,4]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23} perm=[1,2,0])",
     R"(f32[3,4,2]{0,12,1,13,2,14,3,15,4,16,5,17,6,18,7,19,8,20,9,21,10,22,11,23})"},
    {"Concat", R"(f32[2,2]{0,1,2,3} f32[2,3]{10,11,12,13,14,15} axis=-1)", R"(f32[2,5]{0,1,10,11,12,2,3,13,14,15})"},
    {"Split", R"(f32[2,7]{0,1,2,3,4,5,6,7,8,9,10,11,12,13} axis=1 num_outputs=3 outputs=3)",
     R"(f32[2,3]{0,1,2,7,8,9} f32[2,3]{3,4,5,10,11,12} f32[2,1]{6,13})"},
    {"Split", R"(f32[5,2]{0,1,2,3,4,5,6,7,8,9} i64[2]{1,4} outputs=2)", R"(f32[1,2]{0,1} f32[4,2]{2,3,4,5,6,7,8,9})"},
    {"Slice", R"(f32[4,5]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19} i64[2]{1,0} i64[2]{1000,-1} i64[2]{0,1} i64[2]{2,3})",
     R"(f32[2,2]{5,8,15,18})"},
    {"Slice", R"(f32[4,5]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19} i64[1]{-1} i64[1]{-2147483648} i64[1]{1} i64[1]{-2})",
     R"(f32[4,3]{4,2,0,9,7,5,14,12,10,19,17,15})"},
    {"Slice", R"(f32[4,5]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19} i64[1]{20} i64[1]{-9223372036854775808} i64[1]{0} i64[1]{-3})",
     R"(f32[2,5]{15,16,17,18,19,0,1,2,3,4})"},
    {"Slice", R"(f32[4,5]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19} i64[1]{3} i64[1]{1} i64[1]{0})", R"(f32[0,5]{})"},
    {"Slice", R"(f32[4,5]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19} i64[2]{-3,1} i64[2]{-1,9})",
     R"(f32[2,4]{6,7,8,9,11,12,13,14})"},
    {"Expand", R"(f32[2,1]{0,1} i64[3]{3,1,2})", R"(f32[3,2,2]{0,0,1,1,0,0,1,1,0,0,1,1})"},
    {"Expand", R"(f32[3,1]{0,1,2} i64[1]{1})", R"(f32[3,1]{0,1,2})"},
    {"Tile", R"(f32[2,2]{0,1,2,3} i64[2]{1,3})", R"(f32[2,6]{0,1,0,1,0,1,2,3,2,3,2,3})"},
    {"Pad", R"(f32[2,3]{0,1,2,3,4,5} i64[4]{1,0,0,2} f32[]{9})", R"(f32[3,5]{9,9,9,9,9,0,1,2,9,9,3,4,5,9,9})"},
    {"Pad", R"(f32[2,3]{0,1,2,3,4,5} i64[4]{0,2,1,2} mode="reflect")", R"(f32[3,7]{2,1,0,1,2,1,0,5,4,3,4,5,4,3,2,1,0,1,2,1,0})"},
    {"Pad", R"(f32[2,3]{0,1,2,3,4,5} i64[4]{3,7,0,5} mode="reflect")",
     R"(f32[5,15]{4,5,4,3,4,5,4,3,4,5,4,3,4,5,4,1,2,1,0,1,2,1,0,1,2,1,0,1,2,1,)"
     R"(4,5,4,3,4,5,4,3,4,5,4,3,4,5,4,1,2,1,0,1,2,1,0,1,2,1,0,1,2,1,4,5,4,3,4,5,4,3,4,5,4,3,4,5,4})"},
    {"Pad", R"(f32[2,3]{0,1,2,3,4,5} i64[4]{1,1,1,2} mode="edge")", R"(f32[4,6]{0,0,1,2,2,2,0,0,1,2,2,2,3,3,4,5,5,5,3,3,4,5,5,5})"},
    {"Pad", R"(f32[2,3]{0,1,2,3,4,5} i64[2]{4,5} _ i64[1]{-1} mode="wrap")",
     R"(f32[2,12]{2,0,1,2,0,1,2,0,1,2,0,1,5,3,4,5,3,4,5,3,4,5,3,4})"},
    {"Pad", R"(f32[2,3]{0,1,2,3,4,5} i64[4]{0,-1,-1,2} f32[]{5})", R"(f32[1,4]{1,2,5,5})"},
    {"Range", R"(i64[]{10} i64[]{-1} i64[]{-4})", R"(i64[3]{10,6,2})"},
    {"Range", R"(f32[]{1} f32[]{2.5999999} f32[]{0.5})", R"(f32[4]{1,1.5,2,2.5})"},
    {"EyeLike", R"(i32[2,3]{0,0,0,0,0,0} k=1 dtype="f32")", R"(f32[2,3]{0,1,0,0,0,1})"},
    {"DepthToSpace", R"(f32[1,8,1,2]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15} blocksize=2)",
     R"(f32[1,2,2,4]{0,4,1,5,8,12,9,13,2,6,3,7,10,14,11,15})"},
    {"DepthToSpace", R"(f32[1,8,1,2]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15} blocksize=2 mode="CRD")",
     R"(f32[1,2,2,4]{0,2,1,3,4,6,5,7,8,10,9,11,12,14,13,15})"},
    {"SpaceToDepth", R"(f32[1,2,2,4]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15} blocksize=2)",
     R"(f32[1,8,1,2]{0,2,8,10,1,3,9,11,4,6,12,14,5,7,13,15})"},
    {"Trilu", R"(f32[3,4]{1,2,3,4,5,6,7,8,9,10,11,12} i64[]{1})", R"(f32[3,4]{0,2,3,4,0,0,7,8,0,0,0,12})"},
    {"Trilu", R"(f32[3,4]{1,2,3,4,5,6,7,8,9,10,11,12} i64[]{-1} upper=0)", R"(f32[3,4]{0,0,0,0,5,0,0,0,9,10,0,0})"},
    {"ReverseSequence", R"(f32[3,2]{0,1,2,3,4,5} i64[2]{3,2})", R"(f32[3,2]{4,3,2,1,0,5})"},
    {"ReverseSequence", R"(f32[3,2]{0,1,2,3,4,5} i64[3]{1,2,0} batch_axis=0 time_axis=1)", R"(f32[3,2]{0,1,3,2,4,5})"},
};

TEST(Shape, SameResultsAsNumpy) {
  for (const ExpectedCase& e : kCases) expect_case(e);
}

TEST(Shape, CasesRun) {
  for (const char* op : {"Constant",  "ConstantOfShape", "Shape",        "Size",  "Reshape",       "Flatten", "Squeeze", "Unsqueeze",
                         "Transpose", "Concat",          "Split",        "Slice", "Expand",        "Tile",    "Pad",     "Range",
                         "EyeLike",   "DepthToSpace",    "SpaceToDepth", "Trilu", "CenterCropPad", "Col2Im"})
    expect_cases_run(op);
}

Tensor recast(const Tensor& tensor, DType type) {
  std::vector<std::string> words;
  for (std::int64_t i = 0; i < tensor.size(); ++i) words.push_back(std::to_string(tensor.as_int(i)));
  if (type == DType::string) return Tensor::strings(tensor.shape(), words);
  Tensor result(type, tensor.shape());
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    store_int(type, result.mutable_raw(), i, tensor.as_int(i) & ((1 << std::min(bits(type), 6)) - 1));
  return result;
}

// What moves elements must not look at them: the same case in types below a byte, and in strings.
TEST(Shape, MovesElementsOfEveryWidth) {
  int checked = 0;
  for (const ExpectedCase& e : kCases) {
    const ir::OpDef& op = ir::Registry::builtin().get(e.op);
    if (op.traits.movement == ir::Movement::none) continue;
    for (DType type : {DType::u2, DType::u4, DType::u16, DType::f64, DType::string}) {
      Case c = parse_case(op, e.problem);
      for (CaseOperand& operand : c.operands)
        if (operand.data.defined() && operand.data.dtype() == DType::f32) operand.data = recast(operand.data, type);
      std::vector<Tensor> expected = parse_results(e.results);
      for (Tensor& tensor : expected) tensor = recast(tensor, type);
      expect_case(op, c, expected, std::string(e.op) + " " + std::string(name(type)) + " " + e.problem);
      ++checked;
    }
  }
  EXPECT_GT(checked, 100);
}

// The same elements as integers, known while types are inferred, move as contents.
TEST(Shape, ContentsMoveLikeElements) {
  int known = 0;
  for (const ExpectedCase& e : kCases) {
    const ir::OpDef& op = ir::Registry::builtin().get(e.op);
    if (op.traits.movement == ir::Movement::none && op.name != "Pad") continue;
    Case c = parse_case(op, e.problem);
    for (CaseOperand& operand : c.operands)
      if (operand.data.defined() && operand.data.dtype() == DType::f32) operand.data = recast(operand.data, DType::i64);
    std::vector<Tensor> expected = parse_results(e.results);
    for (Tensor& tensor : expected) tensor = recast(tensor, DType::i64);
    expect_case(op, c, expected, std::string(e.op) + " " + e.problem);
    const ir::Graph graph = case_graph(ir::Registry::builtin(), op, c);
    for (const ir::Value* output : graph.outputs) known += output->contents.has_value();
  }
  EXPECT_GT(known, 20);
}

// Runs the only node of a graph as a plan would: results are allocated for the upper bound of their extents.
void expect_shrunk(const ExpectedCase& e, std::initializer_list<std::size_t> unknown) {
  const ir::OpDef& op = ir::Registry::builtin().get(e.op);
  Case c = parse_case(op, e.problem);
  for (std::size_t i : unknown) c.operands.at(i).constant = false;
  const ir::Graph graph = case_graph(ir::Registry::builtin(), op, c);
  const std::vector<Tensor> expected = parse_results(e.results);
  std::vector<Tensor> results;
  ir::Call call;
  call.node = graph.nodes().front().get();
  for (const CaseOperand& operand : c.operands)
    call.in.push_back(operand.missing ? ir::TensorRef{}
                                      : ir::TensorRef{operand.data.dtype(), operand.data.shape(), const_cast<void*>(operand.data.raw())});
  for (const ir::Value* output : graph.outputs) {
    Shape shape;
    for (ir::Dim extent : output->dims()) shape.push_back(std::min<std::int64_t>(extent.bounds(graph.box()).upper, 50));
    results.emplace_back(output->dtype(), shape);
    call.out.push_back({output->dtype(), shape, results.back().mutable_raw()});
  }
  SCOPED_TRACE(std::string(e.op) + " " + e.problem);
  EXPECT_FALSE(ir::is_constant(graph.outputs[0]->dims()));
  op.reference(call);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Tensor exact(results[i].dtype(), call.out[i].shape);
    std::memcpy(exact.mutable_raw(), results[i].raw(), static_cast<std::size_t>(exact.bytes()));
    expect_same(exact, expected[i], e.problem);
  }
}

TEST(Shape, KernelsSettleShapesThatOnlyTheDataDecides) {
  for (const ExpectedCase& e : kCases) {
    const std::string op = e.op;
    if (op == "ConstantOfShape") expect_shrunk(e, {0});
    if (op == "Range") expect_shrunk(e, {0, 1, 2});
    if (op == "Reshape" || op == "Expand" || op == "Tile" || op == "Pad") expect_shrunk(e, {1});
    if (op == "Slice") expect_shrunk(e, {1, 2});
    const Case c = parse_case(ir::Registry::builtin().get(op), e.problem);
    if ((op == "Slice" || op == "Pad") && c.operands.size() > 3) expect_shrunk(e, {3});
    if (op == "Unsqueeze" || (op == "Squeeze" && c.operands.size() > 1)) expect_shrunk(e, {1});
    if (op == "Split" && std::string_view(e.problem).find("i64") != std::string_view::npos) expect_shrunk(e, {1});
  }
}

TEST(Shape, ReshapeSolvesForSymbols) {
  const std::string head = "(x f32[batch,12,sequence,32])\n s = Shape(x)\n b = Slice(s, i64[1]{0}, i64[1]{1})\n q = Gather(s, i64[1]{2})\n";
  EXPECT_EQ(type_of(head + "c = Concat(b, q, i64[1]{384}) axis=0\n y = Reshape(x, c)"), "f32[batch,sequence,384]");
  EXPECT_EQ(type_of(head + "c = Concat(b, q, i64[1]{-1}) axis=0\n y = Reshape(x, c)"), "f32[batch,sequence,384]");
  EXPECT_EQ(type_of("(x f32[batch,sequence,384])\n y = Reshape(x, i64[4]{0,-1,12,32})"), "f32[batch,sequence,12,32]");
  EXPECT_EQ(
      type_of(
          "(x f32[batch,past + now,64])\n s = Shape(x) start=1 end=2\n c = Concat(i64[1]{-1}, s, i64[2]{2,32}) axis=0\n y = Reshape(x, c)"),
      "f32[batch,now + past,2,32]");
  EXPECT_EQ(type_of("(x f32[batch,8])\n y = Flatten(x) axis=0"), "f32[1,8*batch]");
  expect_refused("(x f32[2,8])\n y = Reshape(x, i64[2]{3,-1})");
  expect_refused("(x f32[2,8])\n y = Reshape(x, i64[2]{4,5})");
  expect_refused("(x f32[2,8])\n y = Reshape(x, i64[2]{-1,-1})");
}

TEST(Shape, SliceClampsSymbols) {
  EXPECT_EQ(type_of("(x f32[batch,n])\n y = Slice(x, i64[1]{0}, i64[1]{9223372036854775807}, i64[1]{1})"), "f32[batch,n]");
  EXPECT_EQ(type_of("(x f32[batch,n])\n y = Slice(x, i64[1]{0}, i64[1]{2147483647}, i64[1]{1})"), "f32[batch,n]");
  EXPECT_EQ(type_of("symbol n [4 .. 512] input_dim\n(x f32[n])\n y = Slice(x, i64[1]{2}, i64[1]{-1}, i64[1]{0})"), "f32[n - 3]");
  EXPECT_EQ(
      type_of("symbol n [4 .. 512] input_dim\n(x f32[n])\n y = Slice(x, i64[1]{-1}, i64[1]{-9223372036854775807}, i64[1]{0}, i64[1]{-1})"),
      "f32[n]");
  EXPECT_EQ(
      type_of("symbol n [1 .. 512] input_dim\n(x f32[n], table f32[1,512])\n s = Shape(x)\n y = Slice(table, i64[1]{0}, s, i64[1]{1})"),
      "f32[1,n]");
  // A position table cut from the right: the start is negative only as a number, not as a symbol.
  EXPECT_EQ(type_of("symbol n [1 .. 512] input_dim\n(x f32[n], table f32[512])\n s = Shape(x)\n f = Slice(table, s, i64[1]{512})"),
            "f32[-n + 512]");
  EXPECT_EQ(type_of("(x f32[a,b,c,d])\n s = Shape(x)\n y = Slice(s, i64[1]{-1}, i64[1]{-9223372036854775807}, i64[1]{0}, i64[1]{-2})"),
            "i64[2] {d,b}");
}

TEST(Shape, ChainsOfContentsStayExact) {
  EXPECT_EQ(type_of("(x f32[a,b,c])\n s = Shape(x)\n t = Transpose(s)\n u = Unsqueeze(t, i64[1]{0})\n v = Squeeze(u)\n p, q = Split(v, "
                    "i64[2]{1,2})\n return q"),
            "i64[2] {b,c}");
  EXPECT_EQ(type_of("(x f32[a,b])\n n = Size(x)\n y = Range(i64[]{0}, n, i64[]{1})"), "i64[a*b]");
  EXPECT_EQ(type_of("(x f32[a,b])\n s = Shape(x)\n y = ConstantOfShape(s) value=i64[1]{3}"), "i64[a,b]");
  EXPECT_EQ(type_of("(x f32[a,b])\n s = Shape(x)\n r = Shape(s)\n y = ConstantOfShape(r) value=i64[1]{1}"), "i64[2] {1,1}");
  EXPECT_EQ(type_of("(x f32[a,1], z f32[b])\n s = Shape(z)\n y = Expand(x, s)"), "f32[a,b]");
  EXPECT_EQ(type_of("(x f32[a,b])\n s = Shape(x)\n y = Tile(x, s)"), "f32[a*a,b*b]");
  EXPECT_EQ(type_of("(x f32[a,b])\n y = Pad(x, i64[4]{0,1,2,3})"), "f32[a + 2,b + 4]");
  EXPECT_EQ(type_of("symbol n [1 .. 9] input_dim\n(x f32[2*n])\n p, q = Split(x) num_outputs=2\n return q"), "f32[n]");
}

// Extents far beyond what contents may have must not be built while types are inferred.
TEST(Shape, HugeExtentsCostNothingToInfer) {
  EXPECT_EQ(type_of("(x f32[a])\n s = Shape(x)\n y = Pad(s, i64[2]{0,1152921504606846976})"), "i64[1152921504606846977]");
  EXPECT_EQ(type_of("(x f32[0])\n y = Expand(x, i64[2]{70368744177664,1})"), "f32[70368744177664,0]");
}

TEST(Shape, BadModelsAreRefused) {
  for (const char* bad :
       {"(x f32[2,3])\n y = Squeeze(x, i64[1]{0})", "(x f32[2])\n y = Unsqueeze(x, i64[2]{0,0})", "(x f32[2])\n y = Transpose(x) perm=[1]",
        "(x f32[2,3], z f32[3,3])\n y = Concat(x, z) axis=1", "(x f32[4])\n p, q = Split(x, i64[2]{1,2})",
        "(x f32[4])\n y = Slice(x, i64[1]{0}, i64[1]{1}, i64[1]{0}, i64[1]{0})",
        "(x f32[4])\n y = Slice(x, i64[1]{0}, i64[1]{1}, i64[1]{1})", "(x f32[4])\n y = Expand(x, i64[1]{3})",
        "(x f32[4])\n y = Tile(x, i64[2]{1,1})", "(x f32[4])\n y = Pad(x, i64[2]{-3,-2})",
        "(x f32[4])\n y = Range(i64[]{0}, i64[]{3}, i64[]{0})", "(x f32[1,3,2,2])\n y = DepthToSpace(x) blocksize=2",
        "(x i64[n])\n y = Unsqueeze(x, x)", "(x i64[2])\n y = Tile(x, i64[1]{9223372036854775807})"})
    expect_refused(bad);
}

// Found by giving every operator every type.
TEST(Shape, SizesAndDiagonalsAreIntegers) {
  expect_refused("(x f32[4,4], s f32[2])\n a, b = Split(x, s)\n return a, b");
  expect_refused("(x f32[4,4], k f32[])\n y = Trilu(x, k)");
  expect_refused("(x string[4,4])\n y = Trilu(x)");
}

// Mean and deviation within four standard errors; a seed repeats, its absence does not.
TEST(Shape, RandomNumbersHaveTheirDistribution) {
  const struct { const char* attributes; double mean, deviation; } cases[] = {
      {"distribution=\"normal\" a=2.0 b=0.5", 2, 0.5}, {"distribution=\"uniform\" a=-1.0 b=3.0", 1, 4 / std::sqrt(12.0)}};
  for (const auto& c : cases) {
    const auto drawn = [&](const std::string& seed) {
      const ir::OpDef& op = ir::Registry::builtin().get("RandomFill");
      const ir::Graph graph = case_graph(ir::Registry::builtin(), op, parse_case(op, cat("i64[2]{100,400} ", c.attributes, seed)));
      return std::get<Tensor>(run_graph(graph, {})[0]);
    };
    const Tensor x = drawn(" seed=3.0"), again = drawn(" seed=3.0"), other = drawn(""), another = drawn("");
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) sum += x.as_double(i), squares += x.as_double(i) * x.as_double(i);
    const auto count = static_cast<double>(x.size());
    EXPECT_NEAR(sum / count, c.mean, 4 * c.deviation / std::sqrt(count)) << c.attributes;
    EXPECT_NEAR(std::sqrt(squares / count - sum / count * sum / count), c.deviation, 4 * c.deviation / std::sqrt(count)) << c.attributes;
    EXPECT_EQ(std::memcmp(x.raw(), again.raw(), static_cast<std::size_t>(x.bytes())), 0);
    EXPECT_NE(std::memcmp(other.raw(), another.raw(), static_cast<std::size_t>(x.bytes())), 0);
  }
}

}  // namespace
}  // namespace tenfold::ops
