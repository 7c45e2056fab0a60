// From a configuration and a version's file to a model.
#pragma once

#include <string>
#include <vector>

#include "config/model_defaults.h"

namespace tenfold::server {

// Where a version lies. A file that is no part of a repository has neither folder.
struct VersionPlace {
  std::string model_folder;                      // with labels, and with warmup/
  std::string folder;                            // of the version
  std::string file;                              // a model file or an encoder's folder, in place of what lies in `folder`
};

// Completes the configuration, and says how the model is to be opened. `lines`: what changes nothing, what was chosen. Throws Error.
ModelOptions configured_model(inference::ModelConfig config, const std::string& name, std::int64_t version, const VersionPlace& place,
                              const ModelDefaults& defaults, std::vector<std::string>& lines);

}  // namespace tenfold::server
