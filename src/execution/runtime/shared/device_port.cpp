// Copies beside engines: each waits, one after the other.
#include "runtime/shared/device_port.h"

#include "base/check.h"

namespace tenfold::runtime {

std::string numbered(backends::Backend& backend) {
  return backend.memory().host_reads() ? std::string(backend.name()) : cat(backend.name(), ":", backend.info().ordinal);
}

DevicePort::DevicePort(std::string_view device, const backends::Resources& shared)
    : backend_(backends::open_backend(device, 0, shared)), device_(numbered(*backend_)), stream_(backend_->open_stream({.threads = 1})) {}

template <class Act>
void DevicePort::on(void* stream, const char* what, Act act) {
  const std::lock_guard lock(mutex_);
  backends::CallersStreams* const callers = stream_->callers();
  require(callers ? callers->use(stream) : !stream, ErrorKind::invalid_argument, "a stream is given with memory of ", device_,
          ", which has no streams");
  Status::Code code = act(*stream_);
  if (const Status::Code waited = stream_->wait(); code == Status::ok) code = waited;
  if (callers) callers->use(nullptr);
  require(code == Status::ok, ErrorKind::device, what, " on ", device_, " failed: ", stream_->error());
}

void DevicePort::copy(void* to, const void* from, std::int64_t bytes, void* stream) {
  on(stream, "a copy", [&](backends::Stream& s) { return s.copy(to, from, bytes); });
}
void DevicePort::clear(void* memory, std::int64_t bytes) {
  on(nullptr, "writing zeros", [&](backends::Stream& s) { return s.fill(memory, 0, bytes); });
}
void DevicePort::wait_for(void* stream) {
  on(stream, "work of the caller's stream", [](backends::Stream&) { return Status::ok; });
}

std::shared_ptr<DevicePort> DevicePorts::port(const std::string& device, const backends::Resources& shared) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<DevicePort>& known = ports_[device];
  if (!known) {
    try {
      known = std::make_shared<DevicePort>(device, shared);
    } catch (...) {
      ports_.erase(device);   // words that are no device are not kept
      throw;
    }
  }
  return known;
}

}  // namespace tenfold::runtime
