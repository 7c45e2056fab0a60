// DeviceMemory: where memory of a device comes from, and how the host stands to it.
#pragma once

#include <cstdint>
#include <memory>

namespace tenfold::backends {

// Where memory lies for a device that has its own: pinned is the host's, but fixed in place, so that the device reads it directly.
enum class MemoryKind : std::uint8_t { pageable, pinned, device };

// Thread safe: contexts of one engine are made in several threads. Sizes are in bytes.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual std::shared_ptr<void> allocate(std::int64_t bytes) = 0;   // throws out_of_memory naming bytes wanted
  virtual std::shared_ptr<void> allocate_host(std::int64_t bytes) { return allocate(bytes); }   // quick to copy from and to
  // Constants where tactics can read them: as they are, or a copy.
  virtual std::shared_ptr<const void> place_constants(const void* data, std::int64_t /*bytes*/) {
    return {std::shared_ptr<const void>(), data};
  }
  virtual std::int64_t allocated_bytes() const { return 0; }   // of what allocate() gave; 0 where host and device share memory
  // False: the host cannot read what allocate() gives. The runtime then copies the operands of host steps and the caller's bindings.
  virtual bool host_reads() const { return true; }
  virtual bool device_reads_pinned() const { return false; }   // tactics may be given what allocate_host() gave
  virtual MemoryKind kind_of(const void* /*memory*/) const noexcept { return MemoryKind::device; }
};

}  // namespace tenfold::backends
