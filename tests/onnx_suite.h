// The ONNX backend test suite as tests find it: in the shared folder beside the tree. src/interfaces/onnx_suite runs and judges cases.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "onnx_suite/judge.h"
#include "onnx_suite/run.h"

namespace tenfold::tests {

using onnx_suite::difference;
using onnx_suite::Values;
Values run_reference(const std::string& model, const Values& inputs);   // import, then the reference kernels: a Runner of run_case()

// The shared folder that lies beside the source tree, or TENFOLD_SHARED. May not exist.
std::filesystem::path shared_folder();
// Unpacks the archive once into the build folder. Null if there is none.
std::optional<std::filesystem::path> suite_root();
// Cases of one folder (node, simple, pytorch-converted, pytorch-operator, light) whose name contains `filter`, by name.
std::vector<SuiteCase> suite_cases(const std::filesystem::path& root, const std::string& folder, const std::string& filter = "");
std::string file_of_tests(const std::string& name);   // its path, in the source tree
// The cases that tests/`file` lists: lines "folder/case", '#' begins a comment.
std::set<std::string> listed_in(const std::string& file);

}  // namespace tenfold::tests
