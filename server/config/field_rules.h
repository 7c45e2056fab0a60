// What becomes of each field of a configuration: it has an effect, changes nothing for the user, or is refused.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model_config.pb.h"

namespace tenfold::server {

enum class Fate : std::uint8_t { honored, no_effect, refused };
struct FieldRule {
  std::string_view path;                         // "dynamic_batching.priority_levels"; it holds for all below it
  Fate fate;
  std::string_view why;                          // why nothing changes, or what to do
};
std::span<const FieldRule> field_rules();
const FieldRule* rule_of(std::string_view path); // the longest that fits; null: none, which a test finds

// A line for each field that is set and changes nothing. Throws Error(unsupported) with the name of one that is refused.
std::vector<std::string> check_fields(const inference::ModelConfig& config);

}  // namespace tenfold::server
