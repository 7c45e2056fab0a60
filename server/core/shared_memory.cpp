#include "core/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace tenfold::server {
namespace {

constexpr std::size_t kMaxRegions = 1024, kMaxName = 1024;
// Segments that processes keep for themselves: semaphores of the C library, Triton's models in Python.
constexpr std::string_view kPrivate[] = {"sem.", "triton_python_backend_shm_region_"};

[[noreturn]] void refuse(const std::string& why) { throw RequestError(Code::invalid_argument, why); }

// The name of the segment as shm_open() takes it: one part of a path.
std::string segment_of(const std::string& region, const std::string& key) {
  const std::string_view part = std::string_view(key).substr(key.starts_with('/') ? 1 : 0);
  const bool is_name = !part.empty() && part != "." && part != ".." && part.size() <= 255 &&
                       part.find('/') == std::string_view::npos && part.find('\0') == std::string_view::npos;
  const bool is_private = std::any_of(std::begin(kPrivate), std::end(kPrivate), [&](std::string_view p) { return part.starts_with(p); });
  if (!is_name || is_private)
    refuse("failed to register shared memory region '" + region + "': its key is no name of a client's segment, such as '/input'");
  return "/" + std::string(part);
}

std::uint64_t size_of(int file) {
  struct stat info {};
  return ::fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
}

}  // namespace

SharedRegion::SharedRegion(std::string name, std::string key, std::uint64_t offset, std::uint64_t bytes)
    : name_(std::move(name)), key_(std::move(key)), offset_(offset), bytes_(bytes) {
  const std::string segment = segment_of(name_, key_);
  if (bytes == 0) refuse("failed to register shared memory region '" + name_ + "': invalid args: its byte_size is 0");
  file_ = ::shm_open(segment.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
  if (file_ < 0) refuse("Unable to open shared memory region: '" + key_ + "'");
  const std::uint64_t size = size_of(file_);
  if (offset <= size && bytes <= size - offset) return;
  ::close(file_);
  refuse("failed to register shared memory region '" + name_ + "': invalid args: it is to end at byte " + std::to_string(offset) + " + " +
         std::to_string(bytes) + ", but the segment has " + std::to_string(size));
}

SharedRegion::~SharedRegion() {
  if (file_ >= 0) ::close(file_);
}

void SharedRegion::check(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset > bytes_) refuse("Invalid offset for shared memory region: '" + name_ + "'");
  if (bytes > bytes_ - offset) refuse("Invalid offset + byte size for shared memory region: '" + name_ + "'");
}

void SharedRegion::shrunk() const { refuse("the segment of shared memory region '" + name_ + "' is shorter than when it was registered"); }

void SharedRegion::read(std::uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t got = ::pread(file_, to.data(), to.size(), static_cast<off_t>(offset_ + offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) shrunk();
    offset += static_cast<std::uint64_t>(got);
    to = to.subspan(static_cast<std::size_t>(got));
  }
}

void SharedRegion::write(std::uint64_t offset, std::span<const std::byte> from) const {
  if (size_of(file_) < offset_ + offset + from.size()) shrunk();   // a write would make it longer again
  while (!from.empty()) {
    const ssize_t put = ::pwrite(file_, from.data(), from.size(), static_cast<off_t>(offset_ + offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) shrunk();
    offset += static_cast<std::uint64_t>(put);
    from = from.subspan(static_cast<std::size_t>(put));
  }
}

void SharedMemory::add(const std::string& name, const std::string& key, std::uint64_t offset, std::uint64_t bytes) {
  if (!allowed_) refuse("shared memory is off: start the server with --allow-client-shm, or send the tensors");
  if (name.empty() || name.size() > kMaxName) refuse("the name of a shared memory region has 1 to " + std::to_string(kMaxName) + " bytes");
  {
    const std::lock_guard lock(mutex_);
    if (regions_.contains(name)) refuse("shared memory region '" + name + "' already in manager");
    if (regions_.size() >= kMaxRegions) refuse("there are " + std::to_string(kMaxRegions) + " shared memory regions: unregister one");
  }
  auto region = std::make_shared<const SharedRegion>(name, key, offset, bytes);
  const std::lock_guard lock(mutex_);
  if (!regions_.emplace(name, std::move(region)).second) refuse("shared memory region '" + name + "' already in manager");
}

void SharedMemory::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (name.empty()) regions_.clear();
  else regions_.erase(name);
}

std::vector<std::shared_ptr<const SharedRegion>> SharedMemory::list(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const SharedRegion>> listed;
  for (const auto& [key, region] : regions_)
    if (name.empty() || key == name) listed.push_back(region);
  if (!name.empty() && listed.empty()) throw RequestError(Code::not_found, "Unable to find system shared memory region: '" + name + "'");
  return listed;
}

std::shared_ptr<const SharedRegion> SharedMemory::find(const std::string& name) const {
  if (!allowed_) refuse("the request names shared memory, which is off: start the server with --allow-client-shm, or send the tensors");
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(name);
  if (found == regions_.end()) throw RequestError(Code::not_found, "Unable to find shared memory region: '" + name + "'");
  return found->second;
}

}  // namespace tenfold::server
