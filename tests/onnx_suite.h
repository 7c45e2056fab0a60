// The ONNX backend test suite: finds its cases, runs each through any engine and judges the outputs by the suite's rule.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ops/interpret.h"

namespace tenfold::tests {

using Values = std::vector<ops::RuntimeValue>;
// One model on one set of inputs, in the order of the graph's inputs; returns all outputs in order.
using Runner = std::function<Values(const std::filesystem::path& model, const Values& inputs)>;
Values run_reference(const std::filesystem::path& model, const Values& inputs);   // import, then the reference kernels

struct SuiteCase {
  std::string folder, name;        // "node", "test_softmax_axis_0"
  std::filesystem::path model;
  std::filesystem::path expected;  // of the light folder: its one output file; empty elsewhere
};
enum class Verdict { pass, fail, unsupported };
struct CaseResult {
  Verdict verdict = Verdict::pass;
  std::string why;
};

// The shared folder that lies beside the source tree, or TENFOLD_SHARED. May not exist.
std::filesystem::path shared_folder();
// Unpacks the archive once into the build folder. Null if there is none.
std::optional<std::filesystem::path> suite_root();
// Cases of one folder (node, simple, pytorch-converted, pytorch-operator, light) whose name contains `filter`, by name.
std::vector<SuiteCase> suite_cases(const std::filesystem::path& root, const std::string& folder, const std::string& filter = "");
// The cases that tests/`file` lists: lines "folder/case", '#' begins a comment.
std::set<std::string> listed_in(const std::string& file);
CaseResult run_case(const SuiteCase& test, const Runner& runner);

// Empty if `got` is `expected`: same type and shape, strings equal, numbers within atol + rtol * |want|, NaN equal to NaN.
std::string difference(const ops::RuntimeValue& got, const ops::RuntimeValue& expected, double rtol = 1e-3, double atol = 1e-7,
                       bool values = true);

}  // namespace tenfold::tests
