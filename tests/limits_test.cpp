// Graphs beyond every internal limit: more pieces, branches and nesting than models usually have. Against the reference kernels.
#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/check.h"
#include "builder/builder.h"
#include "ir/nesting.h"
#include "ir/text.h"
#include "limits_graphs.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold {
namespace {

Engine built(const ir::Graph& graph, int level = 0) {
  BuildConfig config;
  config.optimization_level = level, config.threads = 1, config.tf32 = false;
  return builder::build_graph(graph, config);
}

// Largest difference from the reference kernels, relative to the largest element; infinite if shapes differ.
double difference(const ir::Graph& graph, const Engine& engine, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> got = engine.create_context()->run(inputs);
  const std::vector<ops::RuntimeValue> expected = ops::run_graph(graph, {inputs.begin(), inputs.end()});
  double largest = 1e-3, worst = 0;
  for (std::size_t o = 0; o < expected.size(); ++o) {
    const Tensor& w = std::get<Tensor>(expected[o]);
    if (got.at(o).shape() != w.shape()) return INFINITY;
    for (std::int64_t i = 0; i < w.size(); ++i) {
      largest = std::max(largest, std::abs(w.as_double(i)));
      worst = std::max(worst, std::abs(got[o].as_double(i) - w.as_double(i)));
    }
  }
  return worst / largest;
}
Tensor rows(std::int64_t n, std::int64_t width) { return ops::random_tensor(DType::f32, {n, width}, 3); }

// What merge_gemms joins is split again into as many pieces.
TEST(Limits, ManyProductsOfOneInput) {
  for (const int branches : {64, 65, 300})
    for (const bool activated : {false, true}) {
      const ir::Graph graph = limits::parse(limits::products(branches, activated));
      const Engine engine = built(graph);
      EXPECT_LT(difference(graph, engine, {rows(4, 8)}), 1e-5) << branches;
      EXPECT_EQ(engine.inspect(0).find("reference"), std::string::npos) << engine.inspect(0);
    }
}
TEST(Limits, ManyProductsAreTimed) {
  const ir::Graph graph = limits::parse(limits::products(65, true));
  EXPECT_LT(difference(graph, built(graph, 2), {rows(4, 8)}), 1e-5);
}

// 2500 branches of 32 floats for each of 4 rows: 1.2 MiB of results, and not a buffer of the whole for each of them.
TEST(Limits, ThousandsOfBranchesNeedLittleMemory) {
  const ir::Graph graph = limits::parse(limits::products(2500, true, 32));
  const Engine engine = built(graph);
  EXPECT_LT(engine.info().arena_bytes, std::int64_t{16} << 20);
  EXPECT_LT(difference(graph, engine, {rows(4, 8)}), 1e-5);
}

TEST(Limits, ASplitOfManySizes) {
  for (const int pieces : {64, 65, 1500}) {
    const ir::Graph graph = limits::parse(limits::split(pieces));
    const Engine engine = built(graph);
    EXPECT_EQ(difference(graph, engine, {rows(2, limits::split_width(pieces))}), 0) << pieces;
    EXPECT_EQ(engine.inspect(0).find("reference"), std::string::npos) << engine.inspect(0).substr(0, 4000);
  }
}

Engine loaded(const Engine& engine) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / cat("tenfold_limits_", ::getpid(), ".plan");
  engine.save(path.string());
  const Engine again = Engine::load(path.string(), {.threads = 1});
  std::filesystem::remove(path);
  return again;
}

// Loops of two iterations each: 2^depth additions.
TEST(Limits, LoopsInsideEachOtherAreLoaded) {
  for (const int depth : {3, 12}) {
    const ir::Graph graph = limits::parse(limits::loops(depth));
    EXPECT_EQ(difference(graph, loaded(built(graph)), {ops::random_tensor(DType::f32, {3}, 1)}), 0) << depth;
  }
  const ir::Graph deep = limits::parse(limits::loops(17, 1));
  EXPECT_EQ(difference(deep, loaded(built(deep)), {ops::random_tensor(DType::f32, {3}, 1)}), 0);
  const ir::Graph deepest = limits::parse(limits::loops(ir::kMaxNested, 1));
  EXPECT_EQ(difference(deepest, loaded(built(deepest)), {ops::random_tensor(DType::f32, {3}, 1)}), 0);
}

// Each loop finds out that its value changes in size by a second look at its body. Were the loops inside it to start anew at each look, 40
// of them would take 2^40 looks.
TEST(Limits, LoopsInsideEachOtherThatGrowAreReadInTime) {
  const auto start = std::chrono::steady_clock::now();
  const ir::Graph graph = limits::parse(limits::loops(40, 1, "Concat(carried, carried, carried) axis=0"));
  EXPECT_EQ(ir::text(graph.outputs[0]->type), "f32[y0_carried0_0]");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

std::string refusal(const ir::Graph& graph) {
  try {
    built(graph);
  } catch (const Error& e) {
    return e.kind() == ErrorKind::unsupported ? e.what() : cat(name(e.kind()), ": ", e.what());
  }
  return "";
}

TEST(Limits, WhatNoPlanHoldsIsRefusedBeforeTheBuild) {
  ir::Graph inner = limits::parse(limits::loops(ir::kMaxNested, 1));
  ir::Graph graph(ir::Registry::builtin());   // one loop around all of them
  ir::Value* x = graph.add_input("x", inner.inputs[0]->type);
  Tensor n(DType::i64, {}), t(DType::boolean, {});
  *n.mutable_data<std::int64_t>() = 1, *t.mutable_data<bool>() = true;
  inner.inputs.insert(inner.inputs.begin(),
                      {inner.add_input("i", ir::parse_type("i64[]")), inner.add_input("c", ir::parse_type("bool[]"))});
  inner.inputs.resize(3);
  inner.outputs.insert(inner.outputs.begin(), inner.make("Identity", {inner.inputs[1]}));
  ir::Node loop;
  loop.def = &graph.registry().get("Loop"), loop.name = "outermost";
  loop.inputs = {graph.add_constant(std::move(n)), graph.add_constant(std::move(t)), x};
  loop.attributes.set("carried", std::int64_t{1});
  loop.graphs.push_back(std::make_unique<ir::Graph>(std::move(inner)));
  graph.outputs = {graph.add(std::move(loop), 1)->out()};
  EXPECT_NE(refusal(graph).find("bodies and has another; plans hold 64"), std::string::npos) << refusal(graph);

  std::string ones = "2";
  for (int i = 0; i < 64; ++i) ones += ",1";
  const std::string text = "(x f32[" + ones + "])\n  y = Relu(x)\n  return y\n";
  EXPECT_EQ(refusal(limits::parse(text)), "'x' has 65 dimensions; plans hold tensors of 64 at most");
}

// What goes in comes out, under its own name.
TEST(Limits, AnOutputThatIsAnInput) {
  ir::Graph graph = limits::parse("(x f32[2,3], z f32[3])\n  y = Relu(x)\n  return y\n");
  graph.outputs.push_back(graph.make("Identity", {graph.inputs[0]}));
  graph.outputs[1]->name = "x";   // as the importer does
  const Engine engine = loaded(built(graph));
  EXPECT_EQ(difference(graph, engine, {rows(2, 3), ops::random_tensor(DType::f32, {3}, 1)}), 0);
  EXPECT_EQ(engine.bindings()[3].name, "x");
  EXPECT_EQ(engine.binding_index("x"), 0);
}

// Extents of several inputs that meet in every layer of a transformer: an expression that grew with each could not be saved.
TEST(Limits, ExtentsThatMeetAgainAndAgain) {
  std::string text = "(ids f32[b1,s1,4], mask f32[b2,s2,4], types f32[b3,s3,4], w f32[4,4]!)\n  x0 = Add(ids, types)\n";
  for (int i = 0; i < 24; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    text += "  p" + n + " = MatMul(x" + n + ", w)\n  m" + n + " = Add(p" + n + ", mask)\n  t" + n + " = Tanh(m" + n + ")\n  x" + next +
            " = Add(t" + n + ", x" + n + ")\n";
  }
  const ir::Graph graph = limits::parse(text + "  return x24\n");
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1, config.tf32 = false;
  const ShapeRange range{{1, 1, 4}, {2, 5, 4}, {4, 9, 4}};
  config.profiles = {{{"ids", range}, {"mask", range}, {"types", range}}};
  const Engine engine = loaded(builder::build_graph(graph, config));
  const auto tensor = [](std::int64_t b, std::int64_t s, std::uint64_t seed) { return ops::random_tensor(DType::f32, {b, s, 4}, seed); };
  EXPECT_LT(difference(graph, engine, {tensor(3, 7, 1), tensor(3, 7, 2), tensor(3, 7, 3)}), 1e-5);
  EXPECT_LT(difference(graph, engine, {tensor(3, 7, 1), tensor(1, 7, 2), tensor(3, 1, 3)}), 1e-5);
}

}  // namespace
}  // namespace tenfold
