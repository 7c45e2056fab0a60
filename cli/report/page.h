// The page: its files, put together with the data.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace tenfold::cli {

struct PageFile {
  std::string_view name, text;
};
std::span<const PageFile> page_files();  // written by the build from cli/report/page/

// One HTML file that loads nothing. `data` lies in it as JSON, in which no text can end the element that holds it.
std::string page_of(const nlohmann::ordered_json& data);

}  // namespace tenfold::cli
