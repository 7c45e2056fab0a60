// Graphs grown at random, built with random tactics, layouts and cuts, against the reference kernels on the graph as it was, in f64,
// element by element.
#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <random>

#include "base/check.h"
#include "builder/builder.h"
#include "graph_grower.h"
#include "ir/text.h"
#include "magnitudes.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "passes/pipeline.h"

namespace tenfold {
namespace {

// What an element may be off, in parts of the same computation with absolute values (magnitudes.h): for f32, and where f32 may be rounded:
// on a CPU by Winograd's transforms and to 16 bits, on a GPU to 11.
constexpr double kExact = 1e-5, kRounded = 5e-4, kTf32 = 5e-3;

std::string run_both(const ir::Graph& graph, const Engine& engine, Shape shape, std::int64_t batch, double tolerance = kExact) {
  shape.insert(shape.begin(), batch);
  const Tensor x = ops::random_tensor(DType::f32, shape, static_cast<std::uint64_t>(batch));
  const std::vector<Tensor> got = engine.create_context()->run({x});
  const std::vector<tests::Judged> expected = tests::judge(graph, {x}, tolerance);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (const std::string found = tests::beyond(got.at(i), expected[i], tolerance); !found.empty())
      return cat("batch ", batch, ", output ", i, ": ", found);
  return "";
}

// One seed in two does without a few passes: what they leave has to run as well.
std::vector<std::string> some_passes(std::uint64_t seed) {
  std::mt19937_64 random(seed + 12345);
  std::vector<std::string> names;
  if (random() % 2) return names;
  for (const passes::Pass& pass : passes::all_passes())
    if (random() % 6 == 0) names.push_back(pass.name);
  return names;
}

Engine reloaded(const Engine& engine) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / cat("tenfold_random_graph_", ::getpid(), ".plan");
  engine.save(path.string());
  const Engine loaded = Engine::load(path.string(), {.threads = engine.info().threads});
  std::filesystem::remove(path);
  return loaded;
}

const char* device() {
  const char* given = std::getenv("TENFOLD_DEVICE");
  return given ? given : "cpu";
}

// False: the device does not run such a graph, and said so.
bool check_seed(std::uint64_t seed) {
  Grower grower(seed);
  const std::string text = grower.grow();
  std::string plan;
  try {
    const ir::Graph graph =
        ir::parse_graph(text, ir::Registry::builtin(),
                        {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
    Shape low = grower.start(), opt = low, high = low;
    low.insert(low.begin(), 1), opt.insert(opt.begin(), 2), high.insert(high.begin(), 5);
    BuildConfig config;
    config.device = device(), config.tf32 = seed % 4 == 0;   // rounds float32: Winograd, weights of 24 bits; TF32 on a GPU
    config.threads = 1 + static_cast<int>(seed % 2);
    config.random_choices = seed + 1;
    config.disabled_passes = some_passes(seed);
    config.optimization_level = 2;
    config.profiles = {{{"x", {low, opt, high}}}};
    const double tolerance = !config.tf32 ? kExact : config.device == "cpu" ? kRounded : kTf32;
    const Engine engine = builder::build_graph(graph, config);
    plan = engine.inspect(1);
    const Engine loaded = reloaded(engine);
    for (const std::int64_t batch : {1, 5, 3})
      EXPECT_EQ(run_both(graph, batch == 5 ? engine : loaded, grower.start(), batch, tolerance), "") << "seed " << seed << "\n"
                                                                                                          << text << plan;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unsupported && std::string_view(device()) != "cpu") return false;
    ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n" << text << plan;
  }
  return true;
}

// TENFOLD_GRAPH_SEED: one seed; TENFOLD_GRAPH_SECONDS: how long (else kGraphs, under sanitizers 20 s). TENFOLD_GRAPH_FIRST: the first seed.
// TENFOLD_DEVICE: cuda:0, say.
constexpr int kGraphs = 2500;
TEST(RandomGraphs, OptimizedAsReference) {
  if (const char* one = std::getenv("TENFOLD_GRAPH_SEED")) return static_cast<void>(check_seed(std::strtoull(one, nullptr, 10)));
  const char* given = std::getenv("TENFOLD_GRAPH_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(given ? std::atoi(given) : 20);
  const char* first_given = std::getenv("TENFOLD_GRAPH_FIRST");
  const std::uint64_t first = first_given ? std::strtoull(first_given, nullptr, 10) : 0;
  std::uint64_t seed = first;
  int ran = 0;
#ifdef TENFOLD_SANITIZED
  const bool timed = true;
#else
  const bool timed = given != nullptr;
#endif
  const auto enough = [&] { return timed && std::chrono::steady_clock::now() >= end; };
  for (; !enough() && (given || (ran < kGraphs && !HasFailure())); ++seed) ran += check_seed(seed);
  RecordProperty("graphs", ran);
  std::printf("%d graphs ran, %d were refused\n", ran, static_cast<int>(seed - first) - ran);
  EXPECT_GT(ran, 10);
}

// Graphs that went wrong once. 201070 divides by a sum of denormals, which runs flushed to zero although nothing was to be rounded.
TEST(RandomGraphs, ThatWentWrongOnce) {
  for (const std::uint64_t seed : {201070}) check_seed(seed);
}

// What the passes for a GPU make of a graph means the same, on reference kernels.
TEST(RandomGraphs, RewrittenForGpus) {
  const char* one = std::getenv("TENFOLD_GRAPH_SEED");
  for (std::uint64_t seed = one ? std::strtoull(one, nullptr, 10) : 0; seed < 400 && !HasFailure(); ++seed) {
    Grower grower(seed);
    const std::string text = grower.grow();
    const ir::Graph graph =
        ir::parse_graph(text, ir::Registry::builtin(),
                        {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
    ir::Graph rewritten = graph.clone();
    passes::run(rewritten, passes::pipeline_for({.kind = "cuda", .arch = 90}, {}).in_order());
    Shape shape = grower.start();
    shape.insert(shape.begin(), 2);
    const Tensor x = ops::random_tensor(DType::f32, shape, seed);
    const std::vector<ops::RuntimeValue> got = ops::run_graph(rewritten, {x});
    const std::vector<tests::Judged> expected = tests::judge(graph, {x}, kExact);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(tests::beyond(std::get<Tensor>(got.at(i)), expected[i], kExact), "")
          << "seed " << seed << ", output " << i << "\n" << text << ir::print(rewritten);
    if (one) break;
  }
}

// Where makes the scores of a row that is masked everywhere equal, however large they were: its answer is the mean of the values.
TEST(RandomGraphs, RowsMaskedEverywhere) {
  const std::string text = R"((x f32[batch,2,4,4])
  many = f32[]{300.0}
  half = f32[]{0.5}
  rows = f32[4,1]{1.0,0.0,0.0,1.0}
  low = f32[]{-1000000000.0}
  q = Mul(x, many)
  k = Transpose(x) perm=[0,1,3,2]
  s = MatMul(q, k)
  c = Greater(rows, half)
  m = Where(c, low, s)
  p = Softmax(m) axis=-1
  y = MatMul(p, x)
  return y
)";
  const ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin());
  BuildConfig config;
  config.profiles = {{{"x", {{1, 2, 4, 4}, {2, 2, 4, 4}, {5, 2, 4, 4}}}}};
  const Engine engine = builder::build_graph(graph, config);
  EXPECT_NE(engine.inspect(1).find("FusedAttention"), std::string::npos);
  EXPECT_EQ(run_both(graph, engine, {2, 4, 4}, 2), "");
}

}  // namespace
}  // namespace tenfold
