// A case by reference kernels, by an engine, and by that engine saved and loaded.
#pragma once

#include <functional>
#include <span>

#include "onnx_suite/judge.h"

namespace tenfold::onnx_suite {

// How engines come to be. Tests put others in their place.
struct Engines {
  std::function<Engine(const std::string& model, const BuildConfig&)> build;
  std::function<Engine(std::span<const std::byte> plan, const BuildConfig&)> load;
};
Engines public_engines();   // build_file() and Engine::load()

// The profile that fixes all shapes to those of the inputs.
OptimizationProfile profile_of(const ir::Graph& graph, const Values& inputs);

SuiteResult run_case(const SuiteCase& test, const std::vector<SuiteWay>& ways, const BuildConfig& config, const SuiteTolerance& tolerance,
                     const Engines& engines);

// One way that is a function of the model and of inputs.
using Runner = std::function<Values(const std::string& model, const Values& inputs)>;
SuiteFinding run_case(const SuiteCase& test, const Runner& runner);

}  // namespace tenfold::onnx_suite
