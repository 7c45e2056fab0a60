// Reads the suite's folders and files; see onnx_suite.h.
#include "onnx_suite.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/check.h"
#include "onnx_import/import.h"
#include "onnx_import/tensor_file.h"

namespace tenfold::tests {
namespace {

namespace fs = std::filesystem;

std::string tensor_difference(const Tensor& got, const Tensor& expected, double rtol, double atol, bool values) {
  if (got.dtype() != expected.dtype()) return cat("type ", name(got.dtype()), ", ", name(expected.dtype()), " expected");
  if (got.shape() != expected.shape()) return cat("shape [", text(got.shape()), "], [", text(expected.shape()), "] expected");
  if (!values) return "";
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    if (expected.dtype() == DType::string) {
      const auto at = static_cast<std::size_t>(i);
      if (got.string_values()[at] != expected.string_values()[at])
        return cat("element ", i, " is '", got.string_values()[at], "', '", expected.string_values()[at], "' expected");
      continue;
    }
    const bool integer = is_integer(expected.dtype());
    const double g = integer ? static_cast<double>(got.as_int(i)) : got.as_double(i);
    const double w = integer ? static_cast<double>(expected.as_int(i)) : expected.as_double(i);
    const bool close = g == w || (std::isnan(g) && std::isnan(w)) || std::abs(g - w) <= atol + rtol * std::abs(w);
    if (!close) return cat("element ", i, " of ", expected.size(), " is ", g, ", ", w, " expected");
  }
  return "";
}

// The input of the light models, whose files are not stored: 0, 1, 2 ... divided by their number.
Tensor ramp(const ir::Value& input) {
  Tensor tensor(input.dtype(), ir::constants(input.dims()));
  check(tensor.dtype() == DType::f32, "a light model takes f32");
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>(i) / static_cast<float>(tensor.size());
  return tensor;
}

Values read_values(const fs::path& folder, const char* stem, const std::vector<ir::Value*>& values) {
  Values result;
  for (std::size_t i = 0; i < values.size(); ++i)
    result.push_back(onnx_import::read_value(folder / cat(stem, "_", i, ".pb"), values[i]->type.kind));
  return result;
}

// "" if all outputs are as stored. Random operators are judged by type and shape only.
std::string judge(const SuiteCase& test, const Values& got, const Values& expected) {
  if (got.size() != expected.size()) return cat(got.size(), " outputs, ", expected.size(), " expected");
  const bool random = test.name.rfind("test_bernoulli", 0) == 0;
  const double rtol = test.name == "light_densenet121" ? 2e-3 : 1e-3;
  // Of an inverse DFT values of 2e-7 are stored where they should be 0, beside others of up to 54.
  const double atol = test.name.rfind("test_dft_inverse", 0) == 0 ? 1e-6 : 1e-7;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string found = difference(got[i], expected[i], rtol, atol, !random);
    if (!found.empty()) return cat("output ", i, ": ", found);
  }
  return "";
}

std::string run_sets(const SuiteCase& test, const Runner& runner) {
  const ir::Graph graph = onnx_import::import_file(test.model);
  if (!test.expected.empty()) {
    return judge(test, runner(test.model, {ramp(*graph.inputs.at(0))}), {onnx_import::read_tensor_proto(test.expected)});
  }
  int sets = 0;
  for (;; ++sets) {
    const fs::path data = test.model.parent_path() / cat("test_data_set_", sets);
    if (!fs::exists(data)) break;
    const Values expected = read_values(data, "output", graph.outputs);
    const std::string found = judge(test, runner(test.model, read_values(data, "input", graph.inputs)), expected);
    if (!found.empty()) return found;
  }
  return sets > 0 ? "" : "there is no test data";
}

}  // namespace

Values run_reference(const fs::path& model, const Values& inputs) { return ops::run_graph(onnx_import::import_file(model), inputs); }

std::string difference(const ops::RuntimeValue& got, const ops::RuntimeValue& expected, double rtol, double atol, bool values) {
  if (got.index() != expected.index()) return cat(got.text(), ", ", expected.text(), " expected");
  if (expected.empty()) return "";
  const auto all = [&](const Values& found, const Values& expected) {
    if (found.size() != expected.size()) return cat(found.size(), " elements, ", expected.size(), " expected");
    for (std::size_t i = 0; i < found.size(); ++i)
      if (const std::string what = difference(found[i], expected[i], rtol, atol, values); !what.empty())
        return cat("element ", i, ": ", what);
    return std::string();
  };
  if (expected.is_sequence()) return all(got.elements(), expected.elements());
  if (expected.is_map()) {
    const std::string keys = tensor_difference(got.as_map().keys, expected.as_map().keys, 0, 0, true);
    return keys.empty() ? all(got.as_map().values, expected.as_map().values) : "keys: " + keys;
  }
  return tensor_difference(std::get<Tensor>(got), std::get<Tensor>(expected), rtol, atol, values);
}

fs::path shared_folder() {
  const char* given = std::getenv("TENFOLD_SHARED");
  return given ? fs::path(given) : fs::path(TENFOLD_SOURCE_DIR) / ".." / "shared";
}

std::optional<fs::path> suite_root() {
  const fs::path archive = shared_folder() / "conformance" / "onnx-backend-1.22.0.tar.xz";
  const fs::path here = TENFOLD_BINARY_DIR;  // not where a program was carried to
  const fs::path root = (fs::exists(here) ? here : fs::temp_directory_path()) / "onnx-backend-1.22.0";
  if (fs::exists(root)) return root;
  if (!fs::exists(archive)) return std::nullopt;
  // Unpacked under a name of its own and then moved, because several tests may be at it.
  const fs::path unpacking = root.string() + "." + std::to_string(::getpid());
  fs::create_directories(unpacking);
  const std::string command = cat("tar -xJf '", archive.string(), "' -C '", unpacking.string(), "'");
  require(std::system(command.c_str()) == 0, ErrorKind::io, "unpacking failed: ", command);
  std::error_code other_was_first;
  fs::rename(unpacking, root, other_was_first);
  if (other_was_first) fs::remove_all(unpacking);
  return root;
}

std::vector<SuiteCase> suite_cases(const fs::path& root, const std::string& folder, const std::string& filter) {
  std::vector<SuiteCase> cases;
  for (const auto& entry : fs::directory_iterator(root / folder)) {
    const std::string stem = entry.path().stem().string();
    SuiteCase test{folder, folder == "light" ? stem : entry.path().filename().string(), {}, {}};
    if (test.name.find(filter) == std::string::npos) continue;
    if (folder == "light") {
      if (entry.path().extension() != ".onnx") continue;
      test.model = entry.path();
      test.expected = entry.path().parent_path() / (stem + "_output_0.pb");
    } else {
      test.model = entry.path() / "model.onnx";
    }
    cases.push_back(std::move(test));
  }
  std::sort(cases.begin(), cases.end(), [](const SuiteCase& a, const SuiteCase& b) { return a.name < b.name; });
  return cases;
}

std::set<std::string> listed_in(const std::string& file) {
  std::set<std::string> result;
  std::ifstream lines(std::string(TENFOLD_SOURCE_DIR) + "/tests/" + file);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find_first_of(" #"));
    if (!line.empty()) result.insert(line);
  }
  return result;
}

CaseResult run_case(const SuiteCase& test, const Runner& runner) {
  try {
    std::string found = run_sets(test, runner);
    return {found.empty() ? Verdict::pass : Verdict::fail, std::move(found)};
  } catch (const Error& error) {
    return {error.kind() == ErrorKind::unsupported ? Verdict::unsupported : Verdict::fail, error.what()};
  } catch (const std::exception& error) {
    return {Verdict::fail, cat("not a Tenfold error: ", error.what())};
  }
}

}  // namespace tenfold::tests
