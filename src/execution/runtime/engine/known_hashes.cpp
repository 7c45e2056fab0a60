#include "runtime/engine/known_hashes.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <ctime>
#include <filesystem>

#include "base/check.h"
#include "base/files/file.h"
#include "base/files/hash_stream.h"
#include "base/files/trust.h"
#include "base/system_error.h"

namespace tenfold::runtime {
namespace {

struct stat examined(const std::string& path) {
  struct stat info {};
  require_system(::stat(path.c_str(), &info) == 0, ErrorKind::io, "cannot examine '", path, "'");
  return info;
}

// A rename brings another inode, and a write another time of the last change, which no call can set.
std::string facts(const struct stat& s) {
  return cat(s.st_dev, " ", s.st_ino, " ", s.st_size, " ", s.st_mtim.tv_sec, ".", s.st_mtim.tv_nsec, " ", s.st_ctim.tv_sec, ".",
             s.st_ctim.tv_nsec);
}

bool is_remembered(const struct stat& s, const RememberedFiles& which) {
  return static_cast<std::uint64_t>(s.st_size) >= which.bytes &&
         std::time(nullptr) - std::max(s.st_mtim.tv_sec, s.st_ctim.tv_sec) > which.seconds;
}

std::string hashed(const std::string& path) {
  constexpr std::uint64_t kPiece = 8 << 20;
  const OpenFile file(path);
  HashStream first(0), second(1);   // as builder::hash_of() has them
  for (std::uint64_t at = 0; at < file.size(); at += kPiece) {
    const std::string piece = file.read(at, std::min(kPiece, file.size() - at));
    first.add(std::as_bytes(std::span(piece))), second.add(std::as_bytes(std::span(piece)));
  }
  char text[40];
  std::snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, first.value(), second.value());
  return cat(file.size(), ":", text);
}

std::string entry_of(const std::string& path, const std::string& folder) {
  char text[24];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash64(path));
  return folder + "/" + text + kHashEnding;
}

// What an entry begins with; the hash and a line end follow.
std::string head_of(const std::string& path, const struct stat& s) { return cat("tenfold file hash 1\n", path, "\n", facts(s), "\n"); }

}  // namespace

std::string hash_of_file(const std::string& path, const std::string& folder, const RememberedFiles& remembered) {
  const struct stat before = examined(path);
  if (!is_remembered(before, remembered)) return hashed(path);
  const std::string whole = std::filesystem::absolute(path).lexically_normal().string(), entry = entry_of(whole, folder);
  const std::string head = head_of(whole, before);
  try {
    std::error_code none;
    if (std::filesystem::is_regular_file(entry, none) && why_others_may_write(entry).empty())
      if (const std::string text = read_file(entry); text.starts_with(head) && text.ends_with("\n"))
        return text.substr(head.size(), text.size() - head.size() - 1);
  } catch (const Error&) {}   // another process replaces it
  std::string hash = hashed(path);
  if (facts(examined(path)) != facts(before)) return hash;
  try {
    AtomicFile file(entry);
    file.write(head + hash + "\n");
    file.commit();
  } catch (const Error&) {}   // a full disk, or a folder that may only be read: the next process hashes again
  return hash;
}

}  // namespace tenfold::runtime
