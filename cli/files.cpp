// Whole files in and out.
#include "files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tenfold/error.h"

namespace tenfold::cli {
namespace {
[[noreturn]] void fail_io(const std::string& doing, const std::string& path) {
  throw Error(ErrorKind::io, "cannot " + doing + " '" + path + "': " + (errno ? std::strerror(errno) : "unknown reason"));
}
}  // namespace

std::string read_whole(const std::string& path) {
  errno = 0;
  if (std::filesystem::is_directory(path)) throw Error(ErrorKind::io, "cannot read '" + path + "': it is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) fail_io("read", path);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) fail_io("read", path);
  return bytes;
}

void write_whole(const std::string& path, std::string_view bytes) {
  std::error_code error;
  const bool plain = !std::filesystem::exists(path, error) || std::filesystem::is_regular_file(path, error);
  const std::string target = plain ? path + ".part" + std::to_string(getpid()) : path;  // devices and pipes are written directly
  errno = 0;
  std::ofstream out(target, std::ios::binary | std::ios::trunc);
  if (!out) fail_io("write", path);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out.fail()) {
    const int reason = errno;
    if (plain) std::filesystem::remove(target, error);
    errno = reason;
    fail_io("write", path);
  }
  if (plain && std::rename(target.c_str(), path.c_str()) != 0) fail_io("write", path);
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

}  // namespace tenfold::cli
