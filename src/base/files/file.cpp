// Reading and mapping of regular files.
#include "base/files/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "base/check.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold {
namespace {

[[noreturn]] void fail_io(const char* doing, const std::string& path, int error) {
  fail(error == ENOMEM ? ErrorKind::out_of_memory : ErrorKind::io,
       cat("cannot ", doing, " '", path, "': ", std::generic_category().message(error)));
}

// An open descriptor that closes itself.
struct Descriptor {
  int number;
  ~Descriptor() { if (number >= 0) ::close(number); }
};

// The size of a regular file, asked of the open descriptor so that nothing can change in between.
std::size_t regular_size(int descriptor, const std::string& path) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) fail_io("examine", path, errno);
  if (S_ISDIR(info.st_mode)) fail_io("read", path, EISDIR);
  require(S_ISREG(info.st_mode), ErrorKind::io, "cannot read '", path, "': not a regular file");
  return static_cast<std::size_t>(info.st_size);
}

// Without O_NONBLOCK a named pipe would wait for its writer for ever.
std::size_t open_regular(const std::string& path, Descriptor& file) {
  file.number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.number < 0) fail_io("open", path, errno);
  return regular_size(file.number, path);
}

}  // namespace

std::string read_file(const std::string& path) {
  Descriptor file{-1};
  std::string text(open_regular(path, file), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(file.number, text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io("read", path, errno);
    if (got == 0) break;   // the file became shorter meanwhile
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  Descriptor file{-1};
  open_regular(path, file);
  return map(file.number, path);
}

std::shared_ptr<const MappedFile> MappedFile::map(int descriptor, const std::string& path) {
  const std::size_t size = regular_size(descriptor, path);
  void* start = nullptr;
  if (size > 0) {   // an empty range cannot be mapped
    start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (start == MAP_FAILED) fail_io("map", path, errno);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile({static_cast<const std::byte*>(start), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

namespace {

// Looks again and again, so that who waits for another process's long work can be interrupted.
void wait_for_lock(int descriptor, const std::string& path) {
  constexpr auto kLongest = std::chrono::milliseconds(50);
  for (auto pause = std::chrono::milliseconds(1); ::flock(descriptor, LOCK_EX | LOCK_NB) != 0; pause = std::min(2 * pause, kLongest)) {
    if (errno != EWOULDBLOCK && errno != EINTR) fail_io("lock", path, errno);
    ask_whether_to_go_on();
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

FileLock::FileLock(const std::string& path) : path_(path) {
  constexpr int kHow = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK;
  for (;;) {
    descriptor_ = ::open(path.c_str(), kHow | O_EXCL, 0666);
    made_ = descriptor_ >= 0;
    if (!made_) descriptor_ = ::open(path.c_str(), kHow, 0666);
    if (descriptor_ < 0) fail_io("open", path, errno);
    try {
      wait_for_lock(descriptor_, path);
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
    if (is_named()) return;
    ::close(descriptor_);   // whoever held the lock replaced the file, or took it away
  }
}

bool FileLock::is_named() const {
  struct stat locked {}, named {};
  return ::fstat(descriptor_, &locked) == 0 && ::stat(path_.c_str(), &named) == 0 && locked.st_ino == named.st_ino &&
         locked.st_dev == named.st_dev;
}

// Unlocked by name: a child forked meanwhile holds the same open file, so closing alone would keep the lock.
FileLock::~FileLock() {
  struct stat info {};
  if (made_ && is_named() && ::fstat(descriptor_, &info) == 0 && info.st_size == 0) ::unlink(path_.c_str());
  ::flock(descriptor_, LOCK_UN);
  ::close(descriptor_);
}

}  // namespace tenfold
