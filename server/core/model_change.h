// What clients have loaded and unloaded: a worker that takes another one's place does the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenfold::server {

struct ModelChange {
  std::string name;
  bool loaded = true;                            // false: unloaded
  std::string config;                            // JSON in place of the file config.pbtxt, or empty
};

// As bytes, for another process of this program.
std::string write_changes(const std::vector<ModelChange>& changes);
std::vector<ModelChange> read_changes(std::string_view bytes);   // throws std::runtime_error for what write_changes() does not write

}  // namespace tenfold::server
