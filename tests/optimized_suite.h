// The suite's models through the whole path: built into an engine, run, saved, loaded and run again.
#pragma once

#include "onnx_suite.h"
#include "tenfold/build.h"

namespace tenfold::tests {

// The plan, and the same plan saved and loaded. `seed` 0: the first tactic that fits; else tactics, layouts and cuts by this seed. `level`:
// as BuildConfig::optimization_level; 0 times nothing. `rounds`: f32 may be rounded, as it is by default.
// A timed build rounds nothing below 64 KiB. A random one is not bound by that, and takes a tactic that rounds wherever there is one;
// inputs of floats but the first are constants then, as weights are, for such tactics pack them.
// `device` may be "far": the CPU's tactics where the host cannot read the memory.
SuiteFinding run_optimized_case(const SuiteCase& test, std::uint64_t seed, const std::string& device = "cpu", int level = 0,
                                bool rounds = false);

// Steps of engines made here, so far, whose tactic rounds f32.
std::int64_t rounding_steps();

}  // namespace tenfold::tests
