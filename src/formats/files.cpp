// Whole files in and out.
#include "formats/files.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tenfold/error.h"

namespace tenfold::formats {
namespace {
[[noreturn]] void fail_io(const std::string& doing, const std::string& path) {
  throw Error(ErrorKind::io, "cannot " + doing + " '" + path + "': " + (errno ? std::strerror(errno) : "unknown reason"));
}
}  // namespace

std::string read_at_most(const std::string& path, std::size_t bytes) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) fail_io("read", path);
  std::string text;
  constexpr std::size_t kBlock = 1 << 20;
  while (in && text.size() < bytes) {
    const std::size_t before = text.size(), more = std::min(kBlock, bytes - before);
    text.resize(before + more);
    in.read(text.data() + before, static_cast<std::streamsize>(more));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) fail_io("read", path);
  return text;
}

std::string read_whole(const std::string& path) {
  expect_readable(path);
  const std::int64_t size = size_of_file(path);
  if (size >= 0) return read_at_most(path, static_cast<std::size_t>(size));
  std::string text = read_at_most(path, kMaxOfAPipe + 1);
  if (text.size() > kMaxOfAPipe)
    throw Error(ErrorKind::io, "cannot read '" + path + "': it is no file, and gave more than " + std::to_string(kMaxOfAPipe) + " bytes");
  return text;
}

void expect_readable(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw Error(ErrorKind::io, "cannot read '" + path + "': it is a folder");
  errno = 0;
  if (access(path.c_str(), R_OK) != 0) fail_io("read", path);
}

std::int64_t size_of_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return -1;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? -1 : static_cast<std::int64_t>(size);
}

void expect_writable(const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) throw Error(ErrorKind::io, "cannot write '" + path + "': it is a folder");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return;  // a device or a pipe
  const std::string folder = std::filesystem::path(path).parent_path().string();
  errno = 0;
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) fail_io("write", path);
}

std::string extension(const std::string& path) {
  std::string end = std::filesystem::path(path).extension().string();
  for (char& c : end) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return end;
}

}  // namespace tenfold::formats
