// SIGHUP: files are read again.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace tenfold::server {

// To be made before other threads, which inherit that the signal is blocked. `called` runs in a thread of its own, at each signal.
class HangUp {
 public:
  explicit HangUp(std::function<void()> called);
  ~HangUp();

 private:
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace tenfold::server
