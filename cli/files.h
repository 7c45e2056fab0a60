// Whole files in and out.
#pragma once

#include <string>
#include <string_view>

namespace tenfold::cli {

std::string read_whole(const std::string& path);                    // throws Error(io)
void write_whole(const std::string& path, std::string_view bytes);  // beside the target first, then in its place
std::string extension(const std::string& path);                     // ".npz", in lower case

}  // namespace tenfold::cli
