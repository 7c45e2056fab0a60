// Finds the cases of a folder.
#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "tenfold/internal/as_error.h"
#include "tenfold/internal/onnx_suite.h"

namespace tenfold {
namespace {

namespace fs = std::filesystem;

std::string name_of(const fs::path& path, const fs::path& root) {
  const std::string relative = path.lexically_relative(root).generic_string();
  return relative == "." ? fs::canonical(path).filename().string() : relative;
}

}  // namespace

std::vector<SuiteCase> suite_cases(const std::string& folder) {
  const fs::path root(folder);
  std::error_code error;
  std::vector<SuiteCase> cases;
  const auto look_at = [&](const fs::path& file) {
    if (file.extension() != ".onnx") return;
    fs::path output = file;
    output.replace_filename(file.stem().string() + "_output_0.pb");
    if (file.filename() == "model.onnx" && fs::exists(file.parent_path() / "test_data_set_0"))
      cases.push_back({name_of(file.parent_path(), root), file.string(), ""});
    else if (fs::exists(output))
      cases.push_back({name_of(file.parent_path() / file.stem(), root), file.string(), output.string()});
  };
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end; at.increment(error)) look_at(at->path());
  require(!error, ErrorKind::io, "cannot read the folder '", folder, "': ", error.message());
  std::sort(cases.begin(), cases.end(), [](const SuiteCase& a, const SuiteCase& b) { return a.name < b.name; });
  return cases;
}

}  // namespace tenfold
