#include "repository/load_folder.h"

#include "config/build_options.h"
#include "config/config_text.h"
#include "observe/log.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

void log(const std::string& name, std::vector<std::string>& lines) {
  for (const std::string& line : lines) log_info("model '" + name + "': " + line);
  lines.clear();
}

inference::ModelConfig config_of(const std::string& folder, const FolderOptions& options) {
  if (!options.config_json.empty()) return parse_config_json(options.config_json);
  return folder_config(folder, options.config_name);
}

}  // namespace

inference::ModelConfig folder_config(const std::string& folder, const std::string& config_name) {
  const auto path = config_path(folder, config_name);
  return path ? read_config(*path) : inference::ModelConfig();
}

void watch_cache(ModelOptions& options) {
  options.from_cache = std::make_shared<std::atomic<bool>>(false);
  if (!options.served.cache) return;
  options.served.cache = PlanCache({.folder = options.served.cache->folder(),
                                    .load = [found = options.from_cache](const std::string& path, const LoadOptions& load) {
                                      Engine engine = Engine::load(path, load);
                                      *found = true;
                                      return engine;
                                    }});
}

LoadedVersions load_folder(const std::string& name, const std::string& folder, const ModelDefaults& defaults, FolderOptions& options,
                           const LoadedVersions& serving, const VersionProgress& progress) {
  std::vector<std::string> lines;
  const inference::ModelConfig config = config_of(folder, options);
  const std::string text = config_text(config);
  const std::vector<std::int64_t> versions = chosen_versions(versions_in(folder, lines), config, name);
  log(name, lines);
  LoadedVersions loaded;
  std::string failures;
  for (const std::int64_t version : versions) {
    const std::string place = folder + "/" + std::to_string(version);
    LoadedVersion one{nullptr, fingerprint(place), text};
    const auto same = serving.find(version);
    if (same != serving.end() && same->second.config == text && same->second.files == one.files) {
      loaded[version] = same->second;
      continue;
    }
    progress(version, "");
    try {
      ModelOptions opened = configured_model(config, name, version, {folder, place, ""}, defaults, lines);
      log(name, lines);
      watch_cache(opened);
      const LoadProgress reported(opened.served, [&](const std::string& text) { progress(version, text); });
      one.model = std::make_shared<Model>(std::move(opened));
      loaded[version] = std::move(one);
    } catch (const std::exception& error) {
      log(name, lines);
      options.failed[version] = error.what();
      failures += "version " + std::to_string(version) + " is at UNAVAILABLE state: " + error.what() + ";";
    }
  }
  if (!failures.empty()) throw Error(ErrorKind::invalid_argument, "load failed for model '" + name + "': " + failures);
  return loaded;
}

}  // namespace tenfold::server
