#include "text/transformers/json_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "text/fail.h"
#include "text/tokenizers/files/folder.h"

namespace tenfold::transformers {

nlohmann::json read_json(const std::string& path) {
  nlohmann::json json = tokenizing::parsed(tokenizing::read_file(path), "'" + path + "'");
  if (!json.is_object() && !json.is_array())
    tokenizing::fail(ErrorKind::invalid_model, "'" + path + "' is neither an object nor a list of JSON");
  return json;
}

nlohmann::json read_json_if_there(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none) ? read_json(path) : nlohmann::json::object();
}

}  // namespace tenfold::transformers
