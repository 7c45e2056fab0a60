// Graphs as engines, built, loaded and on a device with memory of its own, against the interpreter.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "base/check.h"
#include "builder/builder.h"
#include "builder/open_built.h"
#include "ir/scan.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "runtime/device/far_backend_for_tests.h"

namespace tenfold {

inline ir::Graph parse(const std::string& text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}
inline Tensor literal(const std::string& text) {
  ir::Scanner in(text);
  return ir::parse_literal(in);
}
inline BuildConfig plain(std::vector<OptimizationProfile> profiles = {}) {
  BuildConfig config;
  config.threads = 1, config.optimization_level = 0, config.profiles = std::move(profiles);
  return config;
}

inline void expect_near(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.dtype(), expected.dtype());
  ASSERT_EQ(got.shape(), expected.shape());
  for (std::int64_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(got.as_double(i), expected.as_double(i), 1e-5 * (1 + std::abs(expected.as_double(i)))) << i;
}

inline Engine on_far_device(const ir::Graph& graph, const BuildConfig& config) {
  auto backend = std::make_shared<runtime::FarBackend>();
  BuildReport report;
  return builder::open_built(builder::build_plan(graph, config, "", backend, report), config, backend);
}

// Each set of inputs through one context, built and loaded again, and on a device with memory of its own, against the interpreter.
inline void expect_as_interpreted(const std::string& text, const std::vector<std::vector<Tensor>>& sets,
                                  const BuildConfig& config = plain()) {
  SCOPED_TRACE(text);
  const ir::Graph graph = parse(text);
  const Engine built = builder::build_graph(graph, config);
  const std::string path = cat(testing::TempDir(), "as_interpreted.", getpid(), ".plan");
  built.save(path);
  for (const Engine& engine : {built, Engine::load(path, {.threads = 1}), on_far_device(graph, config)}) {
    const auto context = engine.create_context();
    for (const std::vector<Tensor>& inputs : sets) {
      const auto expected = ops::run_graph(graph, {inputs.begin(), inputs.end()});
      const std::vector<Tensor> got = context->run(inputs);
      ASSERT_EQ(got.size(), expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) expect_near(got[i], std::get<Tensor>(expected[i]));
    }
  }
  std::remove(path.c_str());
}

inline std::vector<std::vector<Tensor>> sets(const std::vector<std::vector<std::string>>& texts) {
  std::vector<std::vector<Tensor>> result;
  for (const auto& list : texts) {
    auto& set = result.emplace_back();
    for (const std::string& text : list) set.push_back(literal(text));
  }
  return result;
}

}  // namespace tenfold
