// System shared memory: segments of this machine that clients have registered by name, for tensors that they do not send.
//
// A client may cut a segment short at any time, so none is mapped: it is read and written as the file that it is, and what is missing is
// an error of the request.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace tenfold::server {

inline constexpr std::string_view kNoCudaSharedMemory =
    "this server has no CUDA shared memory: serve the model by Triton and libtriton_tenfold.so, or use system shared memory";

class SharedRegion {
 public:
  // Opens the segment. Throws RequestError for a key that is no name of a segment, and for one that is not there or is too short.
  SharedRegion(std::string name, std::string key, std::uint64_t offset, std::uint64_t bytes);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  const std::string& name() const { return name_; }
  const std::string& key() const { return key_; }
  std::uint64_t offset() const { return offset_; }
  std::uint64_t bytes() const { return bytes_; }
  // Throws RequestError for what does not lie inside the region.
  void check(std::uint64_t offset, std::uint64_t bytes) const;
  // Throw RequestError where the segment has become shorter than that. `offset` is the region's.
  void read(std::uint64_t offset, std::span<std::byte> to) const;
  void write(std::uint64_t offset, std::span<const std::byte> from) const;

 private:
  [[noreturn]] void shrunk() const;

  const std::string name_, key_;
  const std::uint64_t offset_, bytes_;
  int file_ = -1;
};

// Thread safe. Errors are RequestError, as Triton words them.
class SharedMemory {
 public:
  explicit SharedMemory(bool allowed) : allowed_(allowed) {}
  bool allowed() const { return allowed_; }
  void add(const std::string& name, const std::string& key, std::uint64_t offset, std::uint64_t bytes);
  void remove(const std::string& name);          // "": all. One that requests use is closed behind them
  std::vector<std::shared_ptr<const SharedRegion>> list(const std::string& name) const;   // "": all
  std::shared_ptr<const SharedRegion> find(const std::string& name) const;   // for a tensor

 private:
  const bool allowed_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const SharedRegion>> regions_;
};

}  // namespace tenfold::server
