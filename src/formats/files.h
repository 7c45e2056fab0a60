// Whole files in and out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenfold::formats {

constexpr std::size_t kMaxOfAPipe = std::size_t{1} << 28;   // that is read of what is no regular file and may never end
// Throws Error(io).
std::string read_whole(const std::string& path);
std::string read_at_most(const std::string& path, std::size_t bytes);   // the first of them; fewer if the file has fewer
void expect_readable(const std::string& path);                      // throws Error(io), without opening it
std::int64_t size_of_file(const std::string& path);                 // -1: a device or a pipe, which has none
void expect_writable(const std::string& path);                      // throws Error(io): asked before long work, not after; "" is no file
std::string extension(const std::string& path);                     // ".npz", in lower case

}  // namespace tenfold::formats
