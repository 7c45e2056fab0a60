// The JSON behind a ModelConfig.
#pragma once

#include <nlohmann/json.hpp>

#include "model_config.h"

namespace tenfold::triton {

struct ModelConfig::Impl {
  nlohmann::ordered_json json;

  // The entries of a list, empty where there is none.
  nlohmann::ordered_json list(const char* name) const {
    const auto found = json.find(name);
    return found != json.end() && found->is_array() ? *found : nlohmann::ordered_json::array();
  }
  bool has(const char* name) const {
    const auto found = json.find(name);
    return found != json.end() && !found->empty();
  }
};

}  // namespace tenfold::triton
