// JSON files of a folder.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tenfold::transformers {

nlohmann::json read_json(const std::string& path);           // throws io; invalid_model: it holds no object or list
nlohmann::json read_json_if_there(const std::string& path);  // an empty object if there is no such file

}  // namespace tenfold::transformers
