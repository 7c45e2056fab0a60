// Finds the suite; see onnx_suite.h.
#include "onnx_suite.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/check.h"
#include "onnx_import/import.h"

namespace tenfold::tests {

namespace fs = std::filesystem;

Values run_reference(const std::string& model, const Values& inputs) { return ops::run_graph(onnx_import::import_file(model), inputs); }

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
  std::vector<SuiteCase> cases = tenfold::suite_cases((root / folder).string());
  std::erase_if(cases, [&](const SuiteCase& c) { return c.name.find(filter) == std::string::npos; });
  for (SuiteCase& c : cases) c.name = folder + "/" + c.name;
  return cases;
}

std::string file_of_tests(const std::string& name) { return std::string(TENFOLD_SOURCE_DIR) + "/tests/" + name; }

std::set<std::string> listed_in(const std::string& file) {
  std::set<std::string> result;
  std::ifstream lines(file_of_tests(file));
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find_first_of(" #"));
    if (!line.empty()) result.insert(line);
  }
  return result;
}

}  // namespace tenfold::tests
