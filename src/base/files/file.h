// Files: read whole, map read-only, replace atomically. Errors have kind io (or out_of_memory) and name the path and the system's reason.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "tenfold/internal/file.h"

namespace tenfold {

std::string read_file(const std::string& path);

// A regular file mapped read-only; the bytes stay valid until the object dies, even if the path is replaced.
class MappedFile {
 public:
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  // The file behind an open descriptor, which stays the caller's; `path` names it in errors.
  static std::shared_ptr<const MappedFile> map(int descriptor, const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

// A file being written: unseen until commit(), which puts it in the place of `path` in one move after it reached the disk. Without
// a commit nothing is left behind, also if the process is killed (where the file system supports unnamed files). Killed while another file
// is replaced it may leave PATH.PROCESS.NUMBER.tmp, which the next to write that path removes.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit();

 private:
  [[noreturn]] void fail_write(const char* doing) const;
  void take_place();
  std::string path_;         // where the bytes go in the end; links are followed
  std::string temporary_;    // beside it; empty while the file has no name
  int descriptor_ = -1;
  bool direct_ = false;      // the path names a device or a pipe, which cannot be replaced
};

// An exclusive lock between processes, held while the object lives. It may be on the very file that its holder replaces with an
// AtomicFile. The file is made, empty, if absent, and goes away with the lock if nobody put anything there. Who waits for it can be
// interrupted (tenfold/internal/interrupts.h).
class FileLock {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  bool is_named() const;     // is the locked file the one at the path?
  std::string path_;
  int descriptor_ = -1;
  bool made_ = false;
};

}  // namespace tenfold
