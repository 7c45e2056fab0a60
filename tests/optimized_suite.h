// The suite's models through the whole path: built into an engine, run, saved, loaded and run again.
#pragma once

#include "onnx_suite.h"
#include "tenfold/build.h"

namespace tenfold::tests {

// Builds at the shapes of the inputs. Throws if the engine that was saved and loaded gives other bits than the built one.
Values run_optimized(const std::filesystem::path& model, const Values& inputs, const BuildConfig& config);
// A Runner for run_case. `seed` 0: the first tactic that fits; else tactics, layouts and cuts by this seed. `level`: as
// BuildConfig::optimization_level; 0 times nothing. `rounds`: f32 may be rounded, as it is by default.
// A timed build rounds nothing below 64 KiB. A random one is not bound by that, and takes a tactic that rounds wherever there is one;
// inputs of floats but the first are constants then, as weights are, for such tactics pack them.
Runner optimized_runner(std::uint64_t seed, const std::string& device = "cpu", int level = 0, bool rounds = false);

// Steps of engines made here, so far, whose tactic rounds f32.
std::int64_t rounding_steps();

}  // namespace tenfold::tests
