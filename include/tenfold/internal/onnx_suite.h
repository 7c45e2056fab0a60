// Cases of the ONNX backend tests: a model with stored inputs and outputs, and what engines make of it (tenfold onnx-suite).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenfold/build.h"

namespace tenfold {

struct SuiteCase {
  std::string name;       // its folder, relative to that of the suite: "node/test_softmax_axis_0"
  std::string model;      // the path of the model
  std::string expected;   // of models that have one stored output and a standard input: its path; empty: data lie in test_data_set_N
};
// All below `folder`, by name: each folder with a model.onnx and a test_data_set_0, and each X.onnx beside an X_output_0.pb. Throws io.
TENFOLD_API std::vector<SuiteCase> suite_cases(const std::string& folder);

// What is judged: the reference kernels on the graph as it was imported, the plan, the same plan after it was saved and loaded.
enum class SuiteWay : std::uint8_t { reference, optimized, loaded };
enum class SuiteVerdict : std::uint8_t { passed, failed, refused };

// Of the suite's own runner: |found - expected| <= atol + rtol * |expected|, NaN equal to NaN, types and shapes equal.
struct SuiteTolerance { double rtol = 1e-3, atol = 1e-7; };

struct SuiteFinding {
  SuiteWay way = SuiteWay::reference;
  SuiteVerdict verdict = SuiteVerdict::passed;
  std::string why;              // empty: it passed
  bool wrong = false;           // it ran, and its outputs are not those expected; else a failure is an error
};
struct SuiteResult {
  std::vector<SuiteFinding> ways;   // in the order asked for
  int steps = 0;                    // of the plan
  int reference_steps = 0;          // of them, those that reference kernels compute on the host
};
// Throws nothing: what goes wrong is a finding. Profiles of `config` are set from the inputs.
TENFOLD_API SuiteResult run_suite_case(const SuiteCase& test, const std::vector<SuiteWay>& ways, const BuildConfig& config,
                                       const SuiteTolerance& tolerance = {});

}  // namespace tenfold
