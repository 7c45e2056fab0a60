// systemd, if it has started this process as Type=notify: what it is told, by the protocol of sd_notify(3).
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "process/sockets.h"

namespace tenfold::server {

// Thread safe. Where there is none, nothing happens.
class ServiceManager {
 public:
  // Takes NOTIFY_SOCKET and WATCHDOG_* out of the environment: children are not the service.
  ServiceManager();
  void status(const std::string& words) const;
  void loading(const std::string& words) const;  // a status, which gives the start more time
  void ready(const std::string& words) const;    // also after reloading()
  void reloading() const;
  void stopping(std::chrono::seconds patience) const;   // how long that may take
  // How often it wants to hear that the service is well, if it does: half of what it would wait for.
  const std::optional<std::chrono::milliseconds>& watchdog() const { return watchdog_; }
  void is_well() const;

 private:
  void send(const std::string& lines) const;

  Descriptor socket_;                            // connected
  std::optional<std::chrono::milliseconds> watchdog_;
};

// A thread that tells it, as often as it wants, that the service is well, if `answers` is true then. Else it asks again each second.
class Watchdog {
 public:
  Watchdog(const ServiceManager& manager, std::function<bool()> answers);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;                           // none: it does not want to hear
};

}  // namespace tenfold::server
