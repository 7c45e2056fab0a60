// Reading and mapping of regular files.
#include "base/files/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/files/lock_wait.h"
#include "base/files/trust.h"
#include "base/memory_limit.h"
#include "base/threads/spread.h"

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
  const std::span bytes(static_cast<const std::byte*>(start), size);
  return std::shared_ptr<const MappedFile>(new MappedFile(bytes, bytes));
}

namespace {

// Throws where the file ends before.
void read_piece(int descriptor, const std::string& path, std::uint64_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t got = ::pread(descriptor, to.data(), to.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io("read", path, errno);
    require(got > 0, ErrorKind::io, "cannot read '", path, "': it became shorter while it was read");
    to = to.subspan(static_cast<std::size_t>(got)), offset += static_cast<std::uint64_t>(got);
  }
}

struct Unmap {
  std::size_t bytes;
  void operator()(void* start) const { ::munmap(start, bytes); }
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::read(const std::string& path) {
  Descriptor file{-1};
  open_regular(path, file);
  return read(file.number, path);
}

// Fresh pages have to be cleared, which takes the system as long as copying: several threads share both, where they may.
std::shared_ptr<const MappedFile> MappedFile::read(int descriptor, const std::string& path) {
  constexpr std::size_t kHugePage = 2 << 20;
  struct stat before {}, after {};
  const std::size_t size = regular_size(descriptor, path);
  if (size == 0) return std::shared_ptr<const MappedFile>(new MappedFile({}, {}));
  if (::fstat(descriptor, &before) != 0) fail_io("examine", path, errno);
  const std::size_t room = size < kHugePage ? size : size + kHugePage;
  require(size < SIZE_MAX - kHugePage, ErrorKind::out_of_memory, "cannot read '", path, "': it has ", size, " bytes");
  expect_memory(static_cast<std::int64_t>(size), "memory for a file");
  void* const start = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) fail_io("allocate memory for", path, errno);
  std::unique_ptr<void, Unmap> guard(start, Unmap{room});
  auto* first = static_cast<std::byte*>(start);
  if (room > size) {
    first += (kHugePage - reinterpret_cast<std::uintptr_t>(start) % kHugePage) % kHugePage;
    ::madvise(first, size, MADV_HUGEPAGE);   // advice: kernels without huge pages refuse it, harmlessly
  }
  const std::span<std::byte> bytes(first, size);
  const auto pieces = static_cast<std::int64_t>((size + kHugePage - 1) / kHugePage);
  spread(pieces, static_cast<std::int64_t>(size), [&](std::int64_t i) {
    const std::size_t at = static_cast<std::size_t>(i) * kHugePage;
    read_piece(descriptor, path, at, bytes.subspan(at, std::min(kHugePage, size - at)));
  });
  if (::fstat(descriptor, &after) != 0) fail_io("examine", path, errno);
  require(after.st_size == before.st_size && after.st_mtim.tv_sec == before.st_mtim.tv_sec &&
              after.st_mtim.tv_nsec == before.st_mtim.tv_nsec, ErrorKind::io, "cannot read '", path, "': it changed while it was read");
  ::mprotect(start, room, PROT_READ);   // shared and immutable; best effort
  std::shared_ptr<const MappedFile> file(new MappedFile(bytes, {static_cast<const std::byte*>(start), room}));
  guard.release();
  return file;
}

MappedFile::~MappedFile() {
  if (!mapping_.empty()) ::munmap(const_cast<std::byte*>(mapping_.data()), mapping_.size());
}

OpenFile::OpenFile(const std::string& path) : path_(path) {
  Descriptor file{-1};
  size_ = open_regular(path, file);
  descriptor_ = std::exchange(file.number, -1);
}

OpenFile::~OpenFile() { ::close(descriptor_); }

std::string OpenFile::read(std::uint64_t offset, std::uint64_t bytes) const {
  std::string text(bytes, '\0');
  read_piece(descriptor_, path_, offset, std::as_writable_bytes(std::span(text)));
  return text;
}

FileLock::FileLock(const std::string& path, const Log& log, std::chrono::milliseconds patience) : path_(past_own_links(path)) {
  constexpr int kHow = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  for (;;) {
    descriptor_ = ::open(path_.c_str(), kHow | O_EXCL, 0666);
    made_ = descriptor_ >= 0;
    if (!made_) descriptor_ = ::open(path_.c_str(), kHow, 0666);
    if (descriptor_ < 0) fail_io("open", path, errno);
    try {
      regular_size(descriptor_, path);   // writing to a named pipe would wait for its reader for ever
      wait_for_lock(descriptor_, path, log, patience);
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
  return ::fstat(descriptor_, &locked) == 0 && ::lstat(path_.c_str(), &named) == 0 && locked.st_ino == named.st_ino &&
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
