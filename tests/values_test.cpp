// Strings, sequences, optionals and maps from a model to its answers: built, saved and loaded, and beside a device that has memory of its
// own; and plans and values that are not what they should be.
#include <gtest/gtest.h>

#include "builder/builder.h"
#include "builder/open_built.h"
#include "ir/scan.h"
#include "ir/text.h"
#include "onnx_suite.h"
#include "ops/interpret.h"
#include "plan/read.h"
#include "plan/verify.h"
#include "plan/write.h"
#include "runtime/device/far_backend_for_tests.h"
#include "tenfold/bindings.h"

namespace tenfold {
namespace {

using Values = std::vector<RuntimeValue>;

Tensor literal(const std::string& text) {
  ir::Scanner in(text);
  return ir::parse_literal(in);
}
Tensor words(std::vector<std::string> list) {
  const auto count = static_cast<std::int64_t>(list.size());
  return Tensor::strings({count}, std::move(list));
}
ir::Graph parse(const std::string& text) { return ir::parse_graph(text, ir::Registry::builtin()); }

BuildConfig quick(std::vector<OptimizationProfile> profiles = {}) {
  BuildConfig config;
  config.threads = 1, config.optimization_level = 0, config.profiles = std::move(profiles);
  return config;
}

plan::Plan plan_of(const std::string& text, const BuildConfig& config = quick()) {
  BuildReport report;
  const auto backend = backends::open_backend("cpu");
  return builder::build_plan(parse(text), config, "", backend, report);
}

Engine on_far_device(const ir::Graph& graph, const BuildConfig& config) {
  auto backend = std::make_shared<runtime::FarBackend>();
  BuildReport report;
  return builder::open_built(builder::build_plan(graph, config, "", backend, report), config, backend);
}

// Each set through one context; the interpreter is the truth.
void expect_as_interpreted(const std::string& text, const std::vector<Values>& sets, const BuildConfig& config = quick()) {
  SCOPED_TRACE(text);
  const ir::Graph graph = parse(text);
  const Engine built = builder::build_graph(graph, config);
  const std::string path = testing::TempDir() + "values.plan";
  built.save(path);
  for (const Engine& engine : {built, Engine::load(path, {.threads = 1}), on_far_device(graph, config)}) {
    const auto context = engine.create_context();
    for (const Values& inputs : sets) {
      const Values expected = ops::run_graph(graph, inputs), got = run_values(*context, inputs);
      ASSERT_EQ(got.size(), expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(tests::difference(got[i], expected[i]), "");
    }
  }
  std::remove(path.c_str());
}

TEST(Values, StringsOfAnyNumber) {
  const BuildConfig config = quick({{{"x", {{1}, {2}, {9}}}}});
  expect_as_interpreted(R"((x string[n])
    tail = string[1]{"!"}
    loud = StringConcat(x, tail)
    same = StringEqual(loud, x)
    parts, counts = StringSplit(loud) delimiter="-"
    sum = ReduceSum(counts) keepdims=0
    letters = RegexFullMatch(loud) pattern="[\\w-]{2,}!"
    return loud, same, parts, sum, letters)",
                        {{words({"a-b", "c"})}, {words({"x-y-z", "", "q"})}, {words({"one"})}}, config);
}

// The first profile knows how many strings there are: each of its types is more exact than the binding's.
TEST(Values, StringsOfTwoProfiles) {
  const std::string model = R"((a string[batch,1], b string[batch,1])
    y = StringConcat(a, b)
    twice = Concat(y, a) axis=0
    parts = SplitToSequence(twice) axis=0
    same = StringEqual(a, b)
    flat = Cast(same) to="f32"
    return y, twice, parts, flat)";
  const OptimizationProfile one = {{"a", {{1, 1}, {1, 1}, {1, 1}}}, {"b", {{1, 1}, {1, 1}, {1, 1}}}};
  const OptimizationProfile more = {{"a", {{2, 1}, {4, 1}, {4, 1}}}, {"b", {{2, 1}, {4, 1}, {4, 1}}}};
  const auto column = [](std::vector<std::string> list) {
    const auto rows = static_cast<std::int64_t>(list.size());
    return Tensor::strings({rows, 1}, std::move(list));
  };
  const Values single = {column({"a"}), column({"b"})}, few = {column({"a", "b", ""}), column({"c", "b", "d"})};
  expect_as_interpreted(model, {single, few, single}, quick({one, more}));
  expect_as_interpreted(model, {few, single}, quick({more, one}));
  const Engine engine = builder::build_graph(parse(model), quick({one, more}));
  EXPECT_EQ(engine.info().profiles, 2);
  EXPECT_EQ(binding_type(engine, 0), "string[batch,1]");
  const auto context = engine.create_context();
  EXPECT_THROW(run_values(*context, {column(std::vector<std::string>(5)), column(std::vector<std::string>(5))}), Error);
  EXPECT_THROW(run_values(*context, {few[0], single[0]}), Error);
}

TEST(Values, SequencesWhosePlacesDataDecide) {
  expect_as_interpreted(R"((x f32[5,2], sizes i64[3], at i64[])
    parts = SplitToSequence(x, sizes)
    one = SequenceAt(parts, at)
    more = SequenceInsert(parts, one)
    less = SequenceErase(more, at)
    whole = ConcatFromSequence(less) axis=0
    square = Mul(whole, whole)
    count = SequenceLength(less)
    return square, count, less)",
                        {{literal("f32[5,2]{1,2,3,4,5,6,7,8,9,10}"), literal("i64[3]{1,3,1}"), literal("i64[]{1}")},
                         {literal("f32[5,2]{1,2,3,4,5,6,7,8,9,10}"), literal("i64[3]{2,0,3}"), literal("i64[]{-1}")}});
}

TEST(Values, SequencesAsInputs) {
  const Values given = {literal("f32[2]{1,2}"), literal("f32[3]{3,4,5}")};
  expect_as_interpreted(R"((s seq(f32[any]))
    whole = ConcatFromSequence(s) axis=0
    y = Neg(whole)
    return y, s)",
                        {{RuntimeValue::sequence(given)}, {RuntimeValue::sequence({given[1]})}});
}

TEST(Values, OptionalsThatHoldSomethingOrNothing) {
  expect_as_interpreted(R"((x opt(f32[2]))
    there = OptionalHasElement(x)
    y = If(there, x) graphs=[
      (a opt(f32[2]))
        v = OptionalGetElement(a)
        return v
      (b opt(f32[2]))
        z = f32[2]{7,8}
        w = Identity(z)
        return w
    ]
    return y, there)",
                        {{literal("f32[2]{1,2}")}, {RuntimeValue()}});
}

TEST(Values, MapsOfScores) {
  expect_as_interpreted(R"((x f32[n,2])
    p = Softmax(x)
    y = ZipMap(p) classlabels_strings=["no","yes"]
    return y)",
                        {{literal("f32[3,2]{1,2,3,4,0,0}")}, {literal("f32[1,2]{1,-1}")}}, quick({{{"x", {{1, 2}, {2, 2}, {4, 2}}}}}));
}

TEST(Values, ClassesOfRows) {
  const BuildConfig config = quick({{{"x", {{1, 3}, {2, 3}, {4, 3}}}}});
  const std::vector<Values> sets{{literal("f32[2,3]{1,2,3,-1,0,2}")}, {literal("f32[1,3]{0.5,-4,1}")}};
  expect_as_interpreted(R"((x f32[n,3])
    label, scores = LinearClassifier(x) classlabels_strings=["no","yes"] coefficients=[1.0,2.0,-1.0] intercepts=[0.5]
      post_transform="LOGISTIC"
    return label, scores)",
                        sets, config);
  expect_as_interpreted(R"((x f32[n,3])
    label, scores = SVMClassifier(x) classlabels_strings=["a","b","c"] coefficients=[1.0,-1.0,0.5,0.25,2.0,-2.0] kernel_type="RBF"
      kernel_params=[0.5,0.0,3.0] prob_a=[-1.0,-2.0,-0.5] prob_b=[0.0,0.1,0.2] rho=[0.1,0.2,-0.3]
      support_vectors=[1.0,2.0,3.0,0.0,1.0,0.0,-1.0,0.5,2.0] vectors_per_class=[1,1,1]
    y = SVMRegressor(x) coefficients=[1.0,-1.0] kernel_type="POLY" kernel_params=[0.5,1.0,2.0] n_supports=2 rho=[0.25]
      support_vectors=[1.0,0.0,2.0,0.0,1.0,1.0]
    return label, scores, y)",
                        sets, config);
}

TEST(Values, PicturesOfAnySize) {
  const auto file = [](const std::string& text) {
    Tensor bytes(DType::u8, {static_cast<std::int64_t>(text.size())});
    std::copy(text.begin(), text.end(), bytes.mutable_data<std::uint8_t>());
    return bytes;
  };
  expect_as_interpreted(R"((x u8[n])
    y = ImageDecoder(x) pixel_format="BGR"
    z = Cast(y) to="f32"
    s = Shape(y)
    return y, z, s)",
                        {{file("P6 2 1 255\nabcdef")}, {file("P2 3 2 9 1 2 3 4 5 6")}, {file("no picture")}},
                        quick({{{"x", {{1}, {20}, {64}}}}}));
}

TEST(Values, LoopsThatCarrySequences) {
  expect_as_interpreted(R"((n i64[], x f32[2])
    none = Sequence()
    all = Loop(n, _, none, x) carried=1 graphs=[
      (i i64[], c bool[], s seq(f32[-]), v f32[2])
        f = Cast(i) to="f32"
        e = Mul(v, f)
        t = SequenceInsert(s, e)
        d = Identity(c)
        return d, t
    ]
    y = ConcatFromSequence(all) axis=0 new_axis=1
    return y)",
                        {{literal("i64[]{3}"), literal("f32[2]{1,2}")}, {literal("i64[]{1}"), literal("f32[2]{4,2}")}});
}

TEST(Values, InputsAndConstantsAsOutputs) {
  expect_as_interpreted(R"((x string[2])
    c = string[1]{"fixed"}
    d = Identity(c)
    e = Identity(d)
    return x, d, e)",
                        {{words({"a", "b"})}});
}

std::string refusal(ExecutionContext& context, const Values& inputs) {
  try {
    run_values(context, inputs);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Values, WrongKindsAreNamed) {
  const Engine engine = builder::build_graph(parse(R"((x string[2], s seq(f32[2]))
    n = SequenceLength(s)
    y = StringConcat(x, x)
    return n, y)"), quick());
  const auto context = engine.create_context();
  const RuntimeValue good = words({"a", "b"}), list = RuntimeValue::sequence({literal("f32[2]{1,2}")});
  EXPECT_EQ(refusal(*context, {good, list}), "");
  EXPECT_NE(refusal(*context, {literal("f32[2]{1,2}"), list}).find("input 'x': invalid binding: is a tensor of f32[2], string[2] expected"),
            std::string::npos);
  EXPECT_NE(refusal(*context, {good, good}).find("input 's'"), std::string::npos);
  EXPECT_NE(refusal(*context, {good, RuntimeValue::sequence({good})}).find("has element 0, which is a tensor of string[2]"),
            std::string::npos);
  EXPECT_NE(refusal(*context, {words({"a"}), list}), "");
  EXPECT_NE(refusal(*context, {RuntimeValue(), list}), "");
  EXPECT_EQ(context->bind(0, context.get(), 8).code, Status::invalid_binding);
  EXPECT_THROW(context->own_memory(0), Error);
  EXPECT_EQ(binding_type(engine, 1), "seq(f32[2])");
  EXPECT_EQ(binding_memory(engine, 1).kind, ValueKind::sequence);
  EXPECT_TRUE(binds_values(engine, 0));
  EXPECT_FALSE(binds_values(engine, 2));
}

TEST(Values, ARunWithoutThemIsNotReady) {
  const Engine engine = builder::build_graph(parse("(x string[2])\n  y = StringConcat(x, x)\n  return y"), quick());
  const auto context = engine.create_context();
  EXPECT_EQ(context->run().code, Status::not_ready);
}

constexpr const char* kSample = R"((x string[2], s seq(f32[2]), k f32[2])
    tail = string[1]{"!"}
    y = StringConcat(x, tail)
    t = SequenceInsert(s, k)
    n = Neg(k)
    return y, t, n)";

std::string refused(const std::function<void(plan::Plan&)>& change) {
  plan::Plan plan = plan_of(kSample);
  change(plan);
  try {
    plan::verify(plan, *backends::open_backend("cpu"), ir::Registry::builtin());
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::plan_refused) << e.what();
    return e.what();
  }
}

plan::Step& step_of(plan::Plan& plan, const std::string& op) {
  for (plan::Step& step : plan.programs[0].steps)
    if (step.op == op) return step;
  throw Error(ErrorKind::internal, "no step " + op);
}

TEST(Values, CraftedPlansAreRefused) {
  using plan::Space;
  EXPECT_EQ(refused([](plan::Plan&) {}), "");
  EXPECT_NE(refused([](plan::Plan& p) { step_of(p, "StringConcat").in[0].at.index = 99; }), "");
  EXPECT_NE(refused([](plan::Plan& p) { step_of(p, "StringConcat").in[0].at.index = -1; }), "");
  EXPECT_NE(refused([](plan::Plan& p) { step_of(p, "StringConcat").in[1].at.index = 1; }), "");        // no such literal
  EXPECT_NE(refused([](plan::Plan& p) { step_of(p, "StringConcat").out[0].at.index = 0; }), "");       // an input
  EXPECT_NE(refused([](plan::Plan& p) { step_of(p, "StringConcat").out[0].at.offset = 8; }), "");
  EXPECT_NE(refused([](plan::Plan& p) { step_of(p, "StringConcat").in[0].at.space = Space::arena; }), "");
  EXPECT_NE(refused([](plan::Plan& p) { step_of(p, "StringConcat").in[0].dtype = DType::f32; }), "");
  EXPECT_NE(refused([](plan::Plan& p) { step_of(p, "SequenceInsert").in[0].at.index = 0; }), "");      // strings for a sequence
  EXPECT_NE(refused([](plan::Plan& p) { step_of(p, "SequenceInsert").in[1].at.space = Space::object; }), "");
  EXPECT_NE(refused([](plan::Plan& p) { p.literals[0] = literal("f32[1]{1}"); }), "");
  EXPECT_NE(refused([](plan::Plan& p) { p.literals.clear(); }), "");
  EXPECT_NE(refused([](plan::Plan& p) { p.programs[0].objects.resize(2); }), "");
  EXPECT_NE(refused([](plan::Plan& p) { p.programs[0].objects.clear(); }), "");
  EXPECT_NE(refused([](plan::Plan& p) { p.programs[0].objects[0] = {.tensor = {DType::f32, {ir::Dim(2)}}}; }), "");
  EXPECT_NE(refused([](plan::Plan& p) { p.programs[0].objects[1] = ir::parse_type("seq(i64[2])"); }), "");
  EXPECT_NE(refused([](plan::Plan& p) { p.bindings[0].type = ir::parse_type("f32[2]"); }), "");
  EXPECT_NE(refused([](plan::Plan& p) { p.bindings[0].type = ir::parse_type("string[3]"); }), "");
  EXPECT_NE(refused([](plan::Plan& p) { p.bindings[0].type = ir::parse_type("string[n,1]"); }), "");
  EXPECT_NE(refused([](plan::Plan& p) { p.bindings[1].type = ir::parse_type("opt(f32[2])"); }), "");
  EXPECT_NE(refused([](plan::Plan& p) { p.programs[0].steps.erase(p.programs[0].steps.begin()); --p.programs[0].segments[0].count; }), "");
  EXPECT_NE(refused([](plan::Plan& p) {   // a kernel that would read objects
              for (plan::Step& step : p.programs[0].steps)
                if (step.kind == plan::StepKind::kernel) step.in[0].at = {Space::object, 0, 0};
            }), "");
}

TEST(Values, PlansWithPatternsThatNoBuildTakesAreRefused) {
  for (const std::string& pattern : {std::string("(a"), std::string(5000, '(')}) {
    plan::Plan plan = plan_of("(x string[2])\n  y = RegexFullMatch(x) pattern=\"a\"\n  return y");
    step_of(plan, "RegexFullMatch").attributes.set("pattern", pattern);
    EXPECT_THROW(builder::open_built(std::move(plan), quick(), backends::open_backend("cpu")), Error);
  }
}

TEST(Values, PlansThatAreCutOffAreRefused) {
  const Engine engine = builder::build_graph(parse(kSample), quick());
  const std::vector<std::byte> whole = engine.serialize();
  for (std::size_t size = 0; size < whole.size(); size += 97)
    EXPECT_THROW(Engine::load(std::span(whole).first(size)), Error) << size;
}

TEST(Values, TypesAreReadAsTheyAreWritten) {
  for (const char* text : {"seq(map(i64,f32[]))", "opt(seq(string[?]))", "opt(f32[n,2])", "seq(f32[-])", "map(string,i64[])",
                           "seq(seq(opt(seq(f32[1]))))"})
    EXPECT_EQ(ir::text(ir::parse_type(text)), text);
  for (const char* text : {"seq(seq(seq(seq(seq(f32[1])))))", "map(f32,f32[])", "seq(f32[1]", "map(i64 f32[])", "opt()"})
    EXPECT_THROW(ir::parse_type(text), Error) << text;
}

}  // namespace
}  // namespace tenfold
