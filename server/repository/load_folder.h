// From a model's folder to the versions that serve.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/configured_model.h"
#include "repository/layout.h"

namespace tenfold::server {

struct LoadedVersion {
  std::shared_ptr<Model> model;
  Fingerprint files;                             // of the version's folder
  std::string config;                            // what it was made by
};
using LoadedVersions = std::map<std::int64_t, LoadedVersion>;

struct FolderOptions {
  std::string config_name;
  std::string config_json;                       // in place of the file
  std::map<std::int64_t, std::string> failed;    // out: why, of versions that failed
};

// Called when a version begins to load, with an empty text, and then with what is done: "tuning 37 of 120".
using VersionProgress = std::function<void(std::int64_t version, const std::string& text)>;

// That of the folder's file, or an empty one.
inference::ModelConfig folder_config(const std::string& folder, const std::string& config_name);
void watch_cache(ModelOptions& options);          // sets from_cache
// Opens the versions that the policy chooses; those of `serving` whose files and configuration are as they were stay. Throws Error with all
// that failed: one that fails is not served, and neither are the others.
LoadedVersions load_folder(const std::string& name, const std::string& folder, const ModelDefaults& defaults, FolderOptions& options,
                           const LoadedVersions& serving, const VersionProgress& progress);

}  // namespace tenfold::server
