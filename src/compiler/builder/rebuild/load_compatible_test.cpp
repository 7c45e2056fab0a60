// Plans that keep their model: of another version of the file's form, for another kind of device, damaged, refitted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/file.h"
#include "builder/builder.h"
#include "builder/rebuild/other_version_for_tests.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "plan/write.h"
#include "runtime/engine/opened.h"

namespace tenfold::builder {
namespace {

constexpr const char* kModel = R"((x f32[batch,6], w f32[6,400]!, b f32[400]!)
  t = MatMul(x, w) name="product"
  s = Add(t, b)
  y = Tanh(s))";

ir::Graph model() {
  return ir::parse_graph(kModel, ir::Registry::builtin(), {.random_constant = [](DType t, const Shape& shape, std::uint64_t seed) {
                           return ops::random_tensor(t, shape, seed);
                         }});
}

BuildConfig config() {
  BuildConfig c;
  c.optimization_level = 0, c.threads = 1, c.version_compatible = true;
  c.profiles = {{{"x", {{1, 6}, {2, 6}, {4, 6}}}}, {{"x", {{5, 6}, {8, 6}, {16, 6}}}}};
  return c;
}

std::string plan_of(const Engine& engine) { return plan::serialize(runtime::state_of(engine)->plan); }
std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

Tensor answer(const Engine& engine, const Tensor& x) { return engine.create_context()->run({x}).at(0); }

void expect_right(const Engine& engine, std::int64_t batch) {
  const Tensor x = ops::random_tensor(DType::f32, {batch, 6}, 7), y = answer(engine, x);
  const ir::Graph graph = model();
  const Tensor truth = std::get<Tensor>(ops::run_graph(graph, {x}).at(0));
  ASSERT_EQ(y.shape(), truth.shape());
  for (std::int64_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y.as_double(i), truth.as_double(i), 1e-5) << i;
}

bool has_rebuild_note(const Engine& engine) {
  for (const Note& note : engine.info().notes)
    if (note.kind == NoteKind::rebuilt) return note.severity == Severity::warning && !note.text.empty();
  return false;
}

TEST(LoadCompatible, APlanForHereIsLoadedAsItIs) {
  const std::string plan = plan_of(build_graph(model(), config(), "m.onnx"));
  const Engine engine = load_compatible(bytes_of(plan));
  EXPECT_FALSE(has_rebuild_note(engine));
  EXPECT_EQ(plan_of(engine), plan) << "what a plan keeps is lost when it is saved again";
  expect_right(engine, 3);
}

TEST(LoadCompatible, OtherVersionsOfTheFormAreBuiltAgain) {
  const std::string plan = plan_of(build_graph(model(), config(), "m.onnx"));
  for (const std::uint32_t version : {1u, 99u}) {
    const std::string other = of_version(plan, version);
    EXPECT_THROW(Engine::load(bytes_of(other)), Error);
    std::vector<std::string> reported;
    LoadOptions options{.threads = 1};
    options.log = [&](Severity severity, std::string_view text) {
      if (severity >= Severity::warning) reported.emplace_back(text);
    };
    const Engine engine = load_compatible(bytes_of(other), options);
    EXPECT_TRUE(has_rebuild_note(engine));
    ASSERT_EQ(reported.size(), 1u);
    EXPECT_NE(reported[0].find("format version " + std::to_string(version)), std::string::npos) << reported[0];
    EXPECT_EQ(engine.info().profiles, 2);
    EXPECT_EQ(engine.info().model_name, "m.onnx");
    EXPECT_EQ(engine.bindings().at(0).name, "x");
    EXPECT_EQ(engine.bindings().at(1).name, "y");
    expect_right(engine, 3), expect_right(engine, 16);
  }
}

TEST(LoadCompatible, FromAFileAsFromBytes) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("tenfold_compatible_" + std::to_string(::getpid()));
  write_file(path.string(), of_version(plan_of(build_graph(model(), config())), 1));
  const Engine engine = load_compatible(path.string());
  std::filesystem::remove(path);
  EXPECT_TRUE(has_rebuild_note(engine));
  expect_right(engine, 1);
}

TEST(LoadCompatible, AnotherKindOfDevice) {
  const std::string plan = plan_of(build_graph(model(), config()));
  const Engine engine = load_compatible(bytes_of(plan), {.device = "null"});
  EXPECT_TRUE(has_rebuild_note(engine));
  EXPECT_NE(engine.info().notes.at(0).text.find("this device is 'null'"), std::string::npos) << engine.info().notes[0].text;
}

TEST(LoadCompatible, WithoutTheModelTheRefusalStays) {
  BuildConfig plain = config();
  plain.version_compatible = false;
  const std::string plan = plan_of(build_graph(model(), plain));
  EXPECT_THROW(load_compatible(bytes_of(of_version(plan, 1))), Error);
  EXPECT_LT(plan.size() + 6 * 400 * 4, plan_of(build_graph(model(), config())).size());
}

TEST(LoadCompatible, ADamagedPlanIsRefusedAnywhere) {
  const std::string plan = of_version(plan_of(build_graph(model(), config())), 1);
  for (std::size_t at = 16; at < plan.size(); at += std::max<std::size_t>(1, plan.size() / 300)) {
    std::string damaged = plan;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_THROW(load_compatible(bytes_of(damaged)), Error) << at;
  }
}

TEST(LoadCompatible, ForEveryCpu) {
  BuildConfig any = config();
  any.version_compatible = false, any.hardware_compatible = true;
  const Engine engine = build_graph(model(), any);
  EXPECT_EQ(runtime::state_of(engine)->plan.needs, backends::kAvx2);
  EXPECT_TRUE(has_rebuild_note(load_compatible(bytes_of(of_version(plan_of(engine), 1)))));
}

TEST(LoadCompatible, ARefitLetsGoOfTheOldWeights) {
  BuildConfig c = config();
  c.refittable = true;
  const Engine engine = build_graph(model(), c);
  ASSERT_FALSE(engine.refittable_weights().empty());
  EXPECT_TRUE(load_compatible(bytes_of(of_version(plan_of(engine), 1))).refittable_weights().empty());
  const WeightInfo weight = engine.refittable_weights()[0];
  const Engine other = engine.refit({{weight.name, ops::random_tensor(weight.dtype, weight.shape, 99)}});
  EXPECT_THROW(load_compatible(bytes_of(of_version(plan_of(other), 1))), Error);
  ASSERT_FALSE(other.info().notes.empty());
  EXPECT_NE(other.info().notes.back().text.find("old weights"), std::string::npos);
}

}  // namespace
}  // namespace tenfold::builder
