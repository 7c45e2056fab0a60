// The plan cache's key: what changes a plan changes the key, and all else leaves it alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "tenfold/build.h"
#include "tenfold/plan_cache.h"
#include "tenfold/plugin.h"
#include "tenfold/runtime.h"
#include "tenfold/timing_cache.h"

namespace tenfold {
namespace {

const std::string kRelu = TENFOLD_SOURCE_DIR "/tests/install/relu.onnx";

Tensor number(float value, Shape shape = {1}) {
  Tensor t(DType::f32, std::move(shape));
  for (std::int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] = value;
  return t;
}

struct Change {
  const char* what;
  void (*make)(BuildConfig&);
};

// One or more for every field of BuildConfig that a plan depends on, and that is no number (background/build_fields_test.cpp), and for some
// that are.
const Change kChanges[] = {
    {"threads", [](BuildConfig& c) { c.threads = 3; }},
    {"profiles", [](BuildConfig& c) { c.profiles = {{{"x", {{3}, {3}, {3}}}}}; }},
    {"the opt of a profile", [](BuildConfig& c) { c.profiles = {{{"x", {{3}, {4}, {5}}}}}; }},
    {"two profiles", [](BuildConfig& c) { c.profiles = {{{"x", {{3}, {3}, {3}}}}, {{"x", {{4}, {4}, {4}}}}}; }},
    {"two inputs in a profile", [](BuildConfig& c) { c.profiles = {{{"x", {{3}, {3}, {3}}}, {"y", {{4}, {4}, {4}}}}}; }},
    {"input_formats", [](BuildConfig& c) { c.input_formats["x"] = {DType::f16, BindingOrder::as_model}; }},
    {"the order of an input", [](BuildConfig& c) { c.input_formats["x"] = {{}, BindingOrder::hwc}; }},
    {"output_formats", [](BuildConfig& c) { c.output_formats["x"] = {DType::f16, BindingOrder::as_model}; }},
    {"overridable", [](BuildConfig& c) { c.overridable = {"w"}; }},
    {"input_defaults", [](BuildConfig& c) { c.input_defaults["x"] = number(1, {3}); }},
    {"the value of a default", [](BuildConfig& c) { c.input_defaults["x"] = number(2, {3}); }},
    {"newest_row", [](BuildConfig& c) { c.newest_row = "x:0"; }},
    {"fp16", [](BuildConfig& c) { c.fp16 = true; }},
    {"bf16", [](BuildConfig& c) { c.bf16 = true; }},
    {"int8", [](BuildConfig& c) { c.int8 = false; }},
    {"fp8", [](BuildConfig& c) { c.fp8 = false; }},
    {"auto_precision", [](BuildConfig& c) { c.auto_precision = true; }},
    {"the constraints of layer_types", [](BuildConfig& c) { c.layer_types.constraints = LayerConstraints::obey; }},
    {"the precisions of layers", [](BuildConfig& c) { c.layer_types.precisions = {{"a", DType::f16}}; }},
    {"the type of a layer", [](BuildConfig& c) { c.layer_types.precisions = {{"a", DType::bf16}}; }},
    {"the outputs of layers", [](BuildConfig& c) { c.layer_types.output_types = {{"a", {DType::f16}}}; }},
    {"two outputs of a layer", [](BuildConfig& c) { c.layer_types.output_types = {{"a", {DType::f16, DType::f16}}}; }},
    {"check_overflow", [](BuildConfig& c) { c.check_overflow = false; }},
    {"typical_inputs", [](BuildConfig& c) { c.typical_inputs = {{{"x", number(1)}}}; }},
    {"the shape of a typical input", [](BuildConfig& c) { c.typical_inputs = {{{"x", number(1, {1, 1})}}}; }},
    {"typical inputs in two sets", [](BuildConfig& c) { c.typical_inputs = {{{"x", number(1)}}, {{"x", number(1)}}}; }},
    {"tf32", [](BuildConfig& c) { c.tf32 = false; }},
    {"tf32_convolutions", [](BuildConfig& c) { c.tf32_convolutions = false; }},
    {"tf32_matmul", [](BuildConfig& c) { c.tf32_matmul = false; }},
    {"winograd", [](BuildConfig& c) { c.winograd = false; }},
    {"strassen", [](BuildConfig& c) { c.strassen = false; }},
    {"fast_exp", [](BuildConfig& c) { c.fast_exp = false; }},
    {"pack_tokens", [](BuildConfig& c) { c.pack_tokens = PackTokens::with_zeros; }},
    {"optimization_level", [](BuildConfig& c) { c.optimization_level = 4; }},
    {"max_tactics", [](BuildConfig& c) { c.max_tactics = 2; }},
    {"timing_repetitions", [](BuildConfig& c) { c.timing_repetitions = 2; }},
    {"tactic_sources", [](BuildConfig& c) { c.tactic_sources = TacticSource::reference | TacticSource::native; }},
    {"workspace_bytes", [](BuildConfig& c) { c.workspace_bytes = 1 << 20; }},
    {"cpu_features", [](BuildConfig& c) { c.cpu_features = 1; }},
    {"initializers", [](BuildConfig& c) { c.initializers["w"] = Tensor(DType::f32, {1}); }},
    {"disabled_passes", [](BuildConfig& c) { c.disabled_passes = {"fuse_norm"}; }},
    {"keep_portable_graph", [](BuildConfig& c) { c.keep_portable_graph = false; }},
    {"version_compatible", [](BuildConfig& c) { c.version_compatible = true; }},
    {"hardware_compatible", [](BuildConfig& c) { c.hardware_compatible = true; }},
    {"refittable", [](BuildConfig& c) { c.refittable = true; }},
    {"random_choices", [](BuildConfig& c) { c.random_choices = 7; }},
    {"forced_tactics", [](BuildConfig& c) { c.forced_tactics["Relu"] = "reference"; }},
    {"labels", [](BuildConfig& c) { c.labels["who"] = "a test"; }},
    {"labels that look like others", [](BuildConfig& c) { c.labels["w"] = "ho a test"; }},
    {"device", [](BuildConfig& c) { c.device = "null"; }},
    {"threads of the runtime",
     [](BuildConfig& c) { c.threads = 0, c.runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 5}); }},
};

const Change kWithoutEffect[] = {
    {"pin_threads", [](BuildConfig& c) { c.pin_threads = true; }},
    {"timing_cache", [](BuildConfig& c) { c.timing_cache = "/no/such/file"; }},
    {"timings", [](BuildConfig& c) { c.timings = std::make_shared<TimingCache>(); }},
    {"error_on_cache_miss", [](BuildConfig& c) { c.error_on_cache_miss = true; }},
    {"time_limit_s", [](BuildConfig& c) { c.time_limit_s = 600; }},
    {"external_data_dirs", [](BuildConfig& c) { c.external_data_dirs = {"/no/such/folder"}; }},
    {"log", [](BuildConfig& c) { c.log = [](Severity, std::string_view) {}; }},
    {"progress", [](BuildConfig& c) { c.progress = [](const Progress&) { return true; }; }},
    {"dump", [](BuildConfig& c) { c.dump = [](std::string_view, std::string_view) {}; }},
    {"a set without plug-ins", [](BuildConfig& c) { c.plugins = std::make_shared<Plugins>(); }},
    {"a runtime of as many threads", [](BuildConfig& c) { c.runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 2}); }},
};

BuildConfig plain() {
  BuildConfig config;
  config.threads = 2;
  return config;
}

TEST(PlanKey, EveryFieldThatChangesThePlanChangesIt) {
  std::map<std::string, const char*> keys{{plan_key(kRelu, plain()), "nothing"}};
  for (const Change& change : kChanges) {
    BuildConfig config = plain();
    change.make(config);
    const auto [other, fresh] = keys.emplace(plan_key(kRelu, config), change.what);
    EXPECT_TRUE(fresh) << "a change of " << change.what << " has the key of one of " << other->second;
  }
}

// A device that is not the host does not care how many processors the host has.
TEST(PlanKey, ThreadsCountWhereTheHostComputes) {
  const auto key = [](const char* device, int threads) {
    BuildConfig config;
    config.device = device, config.threads = threads;
    return plan_key(kRelu, config);
  };
  EXPECT_NE(key("cpu", 1), key("cpu", 2));
  EXPECT_EQ(key("null", 1), key("null", 2));
}

TEST(PlanKey, WhatDoesNotChangeThePlanLeavesItAlone) {
  const std::string key = plan_key(kRelu, plain());
  EXPECT_EQ(plan_key(kRelu, plain()), key);
  for (const Change& change : kWithoutEffect) {
    BuildConfig config = plain();
    change.make(config);
    EXPECT_EQ(plan_key(kRelu, config), key) << change.what;
  }
}

TEST(PlanKey, AChoiceThatIsNotKnownBeforehandHasNone) {
  BuildConfig config = plain();
  config.choose_tactic = [](const TacticQuestion&) { return 0; };
  EXPECT_THROW(plan_key(kRelu, config), Error);
}

TEST(PlanKey, TheModelsBytesCountNotItsName) {
  const std::string copy = testing::TempDir() + "plan_key_" + std::to_string(::getpid()) + ".onnx";
  std::filesystem::copy_file(kRelu, copy, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(plan_key(copy, plain()), plan_key(kRelu, plain()));
  std::ofstream(copy, std::ios::binary | std::ios::app) << ' ';
  EXPECT_NE(plan_key(copy, plain()), plan_key(kRelu, plain()));
  std::filesystem::remove(copy);
}

// A graph of known operators, of some version.
class Twice : public PluginGraph {
 public:
  Twice(int version, int since) : version_(version), since_(since) {}
  PluginInfo info() const override { return {.domain = "test", .name = "Twice", .since = since_, .version = version_}; }
  std::string expand(const NetworkAttributes&, std::span<const PluginType>) const override { return "y = Add(in0, in0)\n return y"; }

 private:
  int version_, since_;
};

TEST(PlanKey, PluginsAreToldByTheirVersions) {
  std::map<std::string, std::string> keys{{plan_key(kRelu, plain()), "none"}};
  for (const auto& [version, since] : {std::pair{1, 1}, {2, 1}, {1, 2}}) {
    const auto plugins = std::make_shared<Plugins>();
    plugins->add(std::make_shared<Twice>(version, since));
    BuildConfig config = plain();
    config.plugins = plugins;
    EXPECT_TRUE(keys.emplace(plan_key(kRelu, config), cat(version, " ", since)).second) << version << " " << since;
  }
}

}  // namespace
}  // namespace tenfold
