// The pipeline names its passes: all of them, each once.
#include "passes/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenfold::passes {
namespace {

TEST(PassNames, EveryRuleStandsInThePipelineUnderANameOfItsOwn) {
  const std::set<std::string> names = pass_names();   // throws where a pass with arguments has the name of a rule
  std::set<std::string> rules;
  for (const Pass& rule : all_passes()) {
    EXPECT_TRUE(rules.insert(rule.name).second) << "two rules are called " << rule.name;
    EXPECT_TRUE(names.contains(rule.name)) << rule.name << " stands in no part of pipeline.cpp, so no build runs it";
  }
  std::set<std::string> others;
  std::set_difference(names.begin(), names.end(), rules.begin(), rules.end(), std::inserter(others, others.end()));
  EXPECT_EQ(others, (std::set<std::string>{"give_layer_types", "give_own_types", "narrow_floats", "permit_rounding", "place_qdq",
                                           "round_outputs", "split_newest_row"}));
}

TEST(PassNames, HoldThoseOfEveryPipeline) {
  BuildConfig config;
  config.fp16 = config.bf16 = true, config.newest_row = "x:1";
  config.layer_types.constraints = LayerConstraints::obey;
  config.calibration.emplace().types = {DType::f8e4m3fn, DType::i8};
  PrecisionFacts facts{.rows = true};
  facts.ranges["x"] = {};
  const std::set<std::string> names = pass_names();
  for (const char* kind : {"cpu", "cuda", "null"}) {
    const Pipeline pipeline = pipeline_for({.kind = kind, .features = ~0u, .arch = 90}, config, facts);
    for (const std::vector<Pass>& part : {pipeline.in_order(), pipeline.other_form})
      for (const Pass& pass : part) EXPECT_TRUE(names.contains(pass.name)) << pass.name;
  }
}

// Rows in e4m3 of layers that the user named, and of all others, are two passes: --dumpPasses and --disablePasses tell them apart.
TEST(PassNames, TellRowsInFloat8Apart) {
  BuildConfig config;
  config.calibration.emplace().types = {DType::f8e4m3fn, DType::i8};
  const std::vector<Pass> passes = pipeline_for({.kind = "cuda", .arch = 90}, config, {.rows = true}).precision;
  for (const char* name : {"quantize_layers_to_float8", "quantize_rows_to_float8"})
    EXPECT_EQ(std::count_if(passes.begin(), passes.end(), [&](const Pass& pass) { return pass.name == name; }), 1) << name;
}

}  // namespace
}  // namespace tenfold::passes
