// FreeMemory: gives memory that was freed back to the system, which malloc keeps otherwise: after a flood of clients for good.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace tenfold::server {

class FreeMemory {
 public:
  FreeMemory();
  ~FreeMemory();
  FreeMemory(const FreeMemory&) = delete;
  FreeMemory& operator=(const FreeMemory&) = delete;

 private:
  void watch();
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace tenfold::server
