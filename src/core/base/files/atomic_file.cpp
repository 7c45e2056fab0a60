// Writing a file so that its path always names either the old or the new content, whole.
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/check.h"
#include "base/files/file.h"

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

constexpr std::string_view kTemporary = ".tmp";

// Unique among the threads of this process and, with the process id, among processes that share the folder.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return cat(path, ".", ::getpid(), ".", count.fetch_add(1), kTemporary);
}

// Is `name` what temporary_name() makes for a file called `file`?
bool is_temporary_of(std::string_view name, std::string_view file) {
  if (!name.starts_with(file) || !name.ends_with(kTemporary)) return false;
  name.remove_prefix(file.size());
  name.remove_suffix(std::min(name.size(), kTemporary.size()));
  const std::size_t second = name.find('.', 1);
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return name.starts_with('.') && second != std::string_view::npos && digits(name.substr(1, second - 1)) && digits(name.substr(second + 1));
}

bool is_named(int descriptor, int folder, const char* name) {
  struct stat open {}, named {};
  return ::fstat(descriptor, &open) == 0 && ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

// A writer holds a lock on its temporary file as long as that has its name, so what nobody holds was left by one that was killed.
void remove_left_behind(const std::string& path) {
  const std::string folder = folder_of(path), file = path.substr(path.find_last_of('/') + 1);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), ::closedir);
  if (!listing) return;
  const int at = ::dirfd(listing.get());
  while (const dirent* entry = ::readdir(listing.get())) {
    if (!is_temporary_of(entry->d_name, file)) continue;
    const int descriptor = ::openat(at, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_named(descriptor, at, entry->d_name)) ::unlinkat(at, entry->d_name, 0);
    ::close(descriptor);
  }
}

constexpr int kMaxNames = 1000;   // that others may have taken

// With a name from the start, where the file system knows no files without; locked before anybody takes it for one left behind.
int open_temporary(const std::string& path, std::string& name) {
  for (int i = 0; i < kMaxNames; ++i) {
    name = temporary_name(path);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0 || ::flock(descriptor, LOCK_EX) != 0 || is_named(descriptor, AT_FDCWD, name.c_str())) return descriptor;
    ::close(descriptor);
  }
  return -1;
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
      remove_left_behind(path_);
      descriptor_ = open_temporary(path_, temporary_);
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

// Where nothing has the name yet the file gets it at once. What has it can only be replaced by a file with a name of its own.
void AtomicFile::take_place() {
  const std::string self = cat("/proc/self/fd/", descriptor_);
  const auto link_as = [&](const std::string& name) {
    return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (temporary_.empty()) {
    if (link_as(path_)) return;
    if (errno != EEXIST) fail_write("name");
    remove_left_behind(path_);
    ::flock(descriptor_, LOCK_EX);
    std::string name;
    for (int i = 0; i < kMaxNames && temporary_.empty(); ++i)
      if (link_as(name = temporary_name(path_))) temporary_ = std::move(name);
      else if (errno != EEXIST) break;
    if (temporary_.empty()) fail_write("name");
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_write("replace");
  temporary_.clear();
  ::flock(descriptor_, LOCK_UN);   // by name: a child forked meanwhile holds the same open file
}

void AtomicFile::commit() {
  if (!direct_) {
    if (::fsync(descriptor_) != 0) fail_write("flush");
    take_place();
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

void keep_damaged(const std::string& path, std::string_view content, std::string_view kind, const Log& log) {
  const std::string aside = path + ".damaged";
  write_file(aside, content);
  log(Severity::warning, "'", path, "' is not a ", kind, " of this version: what it held is kept as '", aside, "', and a new one is begun");
}

void write_file(const std::string& path, std::string_view text) { write_file(path, std::as_bytes(std::span(text))); }

}  // namespace tenfold
