#include "text/encoders/json_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "text/fail.h"

namespace tenfold::encoders {

using tokenizing::fail;

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) fail(ErrorKind::io, "'" + path + "' cannot be read");
  return text;
}

nlohmann::json read_json(const std::string& path) {
  nlohmann::json json = nlohmann::json::parse(read_text(path), nullptr, false);
  if (!json.is_object() && !json.is_array()) fail(ErrorKind::invalid_model, "'" + path + "' is no JSON");
  return json;
}

nlohmann::json read_json_if_there(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none) ? read_json(path) : nlohmann::json::object();
}

}  // namespace tenfold::encoders
