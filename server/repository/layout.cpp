#include "repository/layout.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMaxName = 255;

}  // namespace

Fingerprint fingerprint(const std::string& folder) {
  Fingerprint found;
  std::error_code error;
  const auto options = fs::directory_options::follow_directory_symlink | fs::directory_options::skip_permission_denied;
  for (auto it = fs::recursive_directory_iterator(folder, options, error); !error && it != fs::end(it); it.increment(error)) {
    std::error_code gone;                        // files may vanish meanwhile
    const bool file = it->is_regular_file(gone);
    const std::uintmax_t size = file ? it->file_size(gone) : 0;
    const auto time = it->last_write_time(gone).time_since_epoch().count();
    if (!file && !it->is_directory(gone)) continue;
    found[it->path().string()] = file ? std::to_string(size) + "@" + std::to_string(time) : "folder";
    if (it.depth() > 16) it.disable_recursion_pending();
  }
  if (found.empty() && fs::is_directory(folder, error)) found[folder] = "empty";
  return found;
}

bool is_model_name(const std::string& name) {
  const auto portable = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxName && name[0] != '.' && name[0] != '-' && std::all_of(name.begin(), name.end(), portable);
}

std::map<std::string, std::vector<std::string>> model_folders(const std::vector<std::string>& repositories) {
  std::map<std::string, std::vector<std::string>> found;
  for (const std::string& repository : repositories) {
    std::error_code error;
    auto it = fs::directory_iterator(repository, error);
    if (error)
      throw Error(ErrorKind::io, "failed to poll model repository '" + repository + "': " + error.message() +
                                     "; give a folder of models by --model-repository");
    for (; !error && it != fs::end(it); it.increment(error)) {
      const std::string name = it->path().filename().string();
      std::error_code gone;
      if (name[0] != '.' && it->is_directory(gone)) found[name].push_back(it->path().string());
    }
  }
  return found;
}

std::vector<std::int64_t> versions_in(const std::string& folder, std::vector<std::string>& lines) {
  std::vector<std::int64_t> versions;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::end(it); it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code gone;
    if (!it->is_directory(gone) || name[0] < '0' || name[0] > '9') continue;
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failed == std::errc() && end == name.data() + name.size() && number > 0 && name[0] != '0') versions.push_back(number);
    else lines.push_back("ignore version directory '" + name + "': a version is a number from 1 to 2^63 - 1, without zeros in front");
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

std::vector<std::int64_t> chosen_versions(const std::vector<std::int64_t>& there, const inference::ModelConfig& config,
                                          const std::string& name) {
  const auto& policy = config.version_policy();
  std::vector<std::int64_t> chosen;
  if (policy.has_all()) {
    chosen = there;
  } else if (policy.has_specific()) {
    for (const std::int64_t version : policy.specific().versions()) {
      if (std::find(there.begin(), there.end(), version) == there.end())
        throw Error(ErrorKind::invalid_argument, "version " + std::to_string(version) + " is specified for model '" + name +
                                                     "', but the version directory is not present");
      chosen.push_back(version);
    }
  } else {
    const std::size_t latest = policy.has_latest() ? std::max<std::uint32_t>(policy.latest().num_versions(), 1) : 1;
    chosen.assign(there.end() - static_cast<std::ptrdiff_t>(std::min(latest, there.size())), there.end());
  }
  if (chosen.empty())
    throw Error(ErrorKind::invalid_argument, "at least one version must be available under the version policy of model '" + name +
                                                 "': a folder such as " + name + "/1 with model.onnx");
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

std::optional<std::string> config_path(const std::string& folder, const std::string& config_name) {
  if (!config_name.empty())
    if (const std::string path = folder + "/configs/" + config_name + ".pbtxt"; fs::exists(path)) return path;
  const std::string path = folder + "/config.pbtxt";
  return fs::exists(path) ? std::optional(path) : std::nullopt;
}

}  // namespace tenfold::server
