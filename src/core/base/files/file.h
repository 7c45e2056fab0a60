// Files: read whole, map read-only, replace atomically. Errors have kind io (or out_of_memory) and name the path and the system's reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/log.h"
#include "tenfold/internal/file.h"

namespace tenfold {

std::string read_file(const std::string& path);

// The bytes of a regular file, which stay valid until the object dies, even if the path is replaced. Those of read() also stay as they are
// if the file itself is written over or cut off: a mapped one then changes, or ends the process at the next access (SIGBUS).
class MappedFile {
 public:
  // Memory of its own, in huge pages where it is large. Throws io if the file changes meanwhile.
  static std::shared_ptr<const MappedFile> read(const std::string& path);
  static std::shared_ptr<const MappedFile> read(int descriptor, const std::string& path);
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  // The file behind an open descriptor, which stays the caller's; `path` names it in errors.
  static std::shared_ptr<const MappedFile> map(int descriptor, const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedFile(std::span<const std::byte> bytes, std::span<const std::byte> mapping) : bytes_(bytes), mapping_(mapping) {}
  std::span<const std::byte> bytes_, mapping_;
};

// Pieces of a regular file that is too large to be read whole.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  std::uint64_t size() const { return size_; }   // when it was opened
  std::string read(std::uint64_t offset, std::uint64_t bytes) const;   // throws io if the file ends before

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
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
// AtomicFile. The file is made, empty, if absent, and goes away with the lock if nobody put anything there. Links of other users are not
// followed (trust.h). Who waits for it can be interrupted (tenfold/internal/interrupts.h), is told in the log after a second whom it waits
// for, and gives up with an error of kind io once the holder has done nothing for `patience` (it is stopped, or in a container that is).
class FileLock {
 public:
  explicit FileLock(const std::string& path, const Log& log = {}, std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  bool is_named() const;     // is the locked file the one at the path?
  std::string path_;
  int descriptor_ = -1;
  bool made_ = false;
};

// What was found at `path` in the place of a `kind` of this version (it is damaged, or is another program's) goes to PATH.damaged, and the
// log says so: the caller writes a new one. Under the lock of `path`.
void keep_damaged(const std::string& path, std::string_view content, std::string_view kind, const Log& log);

}  // namespace tenfold
