// Writing a file so that its path always names either the old or the new content, whole.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/check.h"
#include "base/file.h"

namespace tenfold {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// Replacing a symbolic link would leave its target as it was: write where it points.
std::string resolve(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  return real ? std::string(real.get()) : path;
}

// Unique among the threads of this process and, with the process id, among processes that share the folder.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return cat(path, ".", ::getpid(), ".", count.fetch_add(1), ".tmp");
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat info {};
  if (::stat(path_.c_str(), &info) == 0) {
    require(!S_ISDIR(info.st_mode), ErrorKind::io, "cannot write '", path_, "': it is a folder");
    direct_ = !S_ISREG(info.st_mode);
    if (!direct_) path_ = resolve(path_);
  }
  if (direct_) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    // A file without a name needs /proc to get one later.
    if (::access("/proc/self/fd", X_OK) == 0) descriptor_ = ::open(folder_of(path_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      temporary_ = temporary_name(path_);
      descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor_ < 0) temporary_.clear();
    }
  }
  if (descriptor_ < 0) fail_write("write");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail_write(const char* doing) const {
  fail(ErrorKind::io, cat("cannot ", doing, " '", path_, "': ", std::generic_category().message(errno)));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  check(descriptor_ >= 0, "writing to a file that is closed");
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_write("write");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void AtomicFile::commit() {
  if (!direct_) {
    if (::fsync(descriptor_) != 0) fail_write("flush");
    if (temporary_.empty()) {
      std::string name = temporary_name(path_);
      if (::linkat(AT_FDCWD, cat("/proc/self/fd/", descriptor_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
        fail_write("name");
      temporary_ = std::move(name);
    }
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_write("replace");
    temporary_.clear();
    // The new name must survive a power cut too. A file system that cannot flush a folder still holds the right content.
    if (const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); folder >= 0) {
      ::fsync(folder);
      ::close(folder);
    }
  }
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail_write("close");
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void write_file(const std::string& path, std::string_view text) { write_file(path, std::as_bytes(std::span(text))); }

}  // namespace tenfold
