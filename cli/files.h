// Whole files in and out.
#pragma once

#include <string>
#include <string_view>

namespace tenfold::cli {

std::string read_whole(const std::string& path);                    // throws Error(io)
void write_whole(const std::string& path, std::string_view bytes);  // beside the target first, then in its place
void expect_writable(const std::string& path);                      // throws Error(io): asked before long work, not after; "" is no file
std::string extension(const std::string& path);                     // ".npz", in lower case

}  // namespace tenfold::cli
