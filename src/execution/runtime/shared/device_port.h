// A runtime's way to the memory of a device beside its engines: one backend and one stream for each device, made at first use.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backends/backend.h"

namespace tenfold::runtime {

std::string numbered(backends::Backend& backend);   // "cpu", "cuda:0"

class DevicePort {
 public:
  DevicePort(std::string_view device, const backends::Resources& shared);
  const std::string& device() const { return device_; }   // with its number
  backends::Backend& backend() const { return *backend_; }
  bool on_gpu() const { return !backend_->memory().host_reads(); }
  // One after the other; they wait. `stream`: of the caller's, behind whose work this comes; null: none. Throw device, invalid_argument.
  void copy(void* to, const void* from, std::int64_t bytes, void* stream);
  void clear(void* memory, std::int64_t bytes);
  void wait_for(void* stream);

 private:
  template <class Act>
  void on(void* stream, const char* what, Act act);

  std::shared_ptr<backends::Backend> backend_;
  std::string device_;
  std::mutex mutex_;
  std::unique_ptr<backends::Stream> stream_;
};

class DevicePorts {
 public:
  std::shared_ptr<DevicePort> port(const std::string& device, const backends::Resources& shared);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<DevicePort>, std::less<>> ports_;   // by the name that was asked for
};

}  // namespace tenfold::runtime
