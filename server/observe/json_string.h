// Strings in JSON.
#pragma once

#include <string>
#include <string_view>

namespace tenfold::server {

void append_string(std::string& out, std::string_view text);  // in quotes. `text` is UTF-8; bytes that are not become U+FFFD
std::string json_string(std::string_view text);

}  // namespace tenfold::server
