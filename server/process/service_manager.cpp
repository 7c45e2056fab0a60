#include "process/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace tenfold::server {
namespace {

constexpr std::chrono::microseconds kMoreTime = std::chrono::minutes(2);   // to load, from a sign of progress

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  const std::string text = value ? value : "";
  ::unsetenv(name);
  return text;
}

std::int64_t number(const std::string& text) {   // 0: it is none
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

// A path, or, behind '@', a name in the abstract namespace.
Descriptor connected_to(const std::string& place) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (place.size() < 2 || place.size() >= sizeof address.sun_path || (place[0] != '/' && place[0] != '@')) return {};
  std::memcpy(address.sun_path, place.data(), place.size());
  if (place[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + place.size() + (place[0] == '/'));
  Descriptor made(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!made || ::connect(made.number(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return made;
}

std::string status_line(std::string words) {
  std::replace(words.begin(), words.end(), '\n', ' ');
  return "STATUS=" + words;
}

}  // namespace

ServiceManager::ServiceManager() : socket_(connected_to(variable("NOTIFY_SOCKET"))) {
  const std::int64_t microseconds = number(variable("WATCHDOG_USEC"));
  const std::string process = variable("WATCHDOG_PID");
  if (microseconds > 0 && socket_ && (process.empty() || number(process) == ::getpid()))
    watchdog_ = std::max(std::chrono::milliseconds(1), std::chrono::milliseconds(microseconds / 2000));
}

// Without waiting: a manager that does not read must not stop the service.
void ServiceManager::send(const std::string& lines) const {
  if (socket_) ::send(socket_.number(), lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void ServiceManager::status(const std::string& words) const { send(status_line(words)); }
void ServiceManager::loading(const std::string& words) const {
  send(status_line(words) + "\nEXTEND_TIMEOUT_USEC=" + std::to_string(kMoreTime.count()));
}
void ServiceManager::ready(const std::string& words) const { send("READY=1\n" + status_line(words)); }
void ServiceManager::reloading() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000));
}
void ServiceManager::stopping(std::chrono::seconds patience) const {
  send("STOPPING=1\nSTATUS=stopping: accepted requests are answered\nEXTEND_TIMEOUT_USEC=" +
       std::to_string(std::chrono::microseconds(patience).count()));
}
void ServiceManager::is_well() const { send("WATCHDOG=1"); }

Watchdog::Watchdog(const ServiceManager& manager, std::function<bool()> answers) {
  if (!manager.watchdog()) return;
  thread_ = std::thread([this, &manager, interval = *manager.watchdog(), answers = std::move(answers)] {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      lock.unlock();
      const bool well = answers();
      if (well) manager.is_well();
      lock.lock();
      wake_.wait_for(lock, well ? interval : std::min<std::chrono::milliseconds>(interval, std::chrono::seconds(1)),
                     [this] { return ended_; });
    }
  });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace tenfold::server
