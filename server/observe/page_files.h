// The files of the page /ui and of /openapi.json, which the build writes from server/observe/page/.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tenfold::server {

struct PageFile {
  std::string_view name, text;
};
std::span<const PageFile> page_files();
// One HTML file that loads nothing but its data, from the server that it came from.
const std::string& ui_page();
// What the server answers over HTTP, as OpenAPI 3.1 has it. tests/openapi_test.py compares it with the routes.
std::string_view openapi_document();

}  // namespace tenfold::server
