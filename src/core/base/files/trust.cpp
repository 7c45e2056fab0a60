#include "base/files/trust.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "base/check.h"

namespace tenfold {
namespace {

bool is_trusted(uid_t user) { return user == 0 || user == ::geteuid(); }

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::string why_others_may_write(const std::string& path) {
  struct stat file {}, folder {};
  if (::stat(path.c_str(), &file) != 0) return "";
  if (!is_trusted(file.st_uid)) return cat("it belongs to user ", file.st_uid);
  if ((file.st_mode & S_IWOTH) != 0) return "everybody may write it";
  // In a folder with the sticky bit, such as /tmp, nobody replaces the files of others.
  if (::stat(folder_of(path).c_str(), &folder) == 0 && (folder.st_mode & S_IWOTH) != 0 && (folder.st_mode & S_ISVTX) == 0)
    return "everybody may write its folder";
  return "";
}

std::string past_own_links(const std::string& path) {
  struct stat link {};
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return path;
  require(is_trusted(link.st_uid), ErrorKind::io, "'", path, "' is a symbolic link of user ", link.st_uid,
          ", which is not followed: name the file itself, or remove the link");
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  return real ? std::string(real.get()) : path;
}

}  // namespace tenfold
