// Folders of models as Triton has them: NAME/config.pbtxt, NAME/VERSION/model.onnx.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model_config.pb.h"

namespace tenfold::server {

// What a file's name, size and time say of it.
using Fingerprint = std::map<std::string, std::string>;
Fingerprint fingerprint(const std::string& folder);   // of all files below; empty: there is no such folder

// Whether it can be the name of a model: letters, digits, '.', '_', '-'; no path.
bool is_model_name(const std::string& name);
// Folders of models by name, over all repositories: those with several are in conflict.
// Throws Error(io) for a repository that is not there.
std::map<std::string, std::vector<std::string>> model_folders(const std::vector<std::string>& repositories);
// Versions in a model's folder. `lines` receives what is left out, and why.
std::vector<std::int64_t> versions_in(const std::string& folder, std::vector<std::string>& lines);
// Those of them that are to be served. Throws Error.
std::vector<std::int64_t> chosen_versions(const std::vector<std::int64_t>& there, const inference::ModelConfig& config,
                                          const std::string& name);
// The configuration of a model's folder: configs/NAME.pbtxt if there is such a file, else config.pbtxt; nothing where there is none.
std::optional<std::string> config_path(const std::string& folder, const std::string& config_name);

}  // namespace tenfold::server
