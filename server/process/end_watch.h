// What ends the server: SIGTERM, SIGINT, or its supervisor.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "process/sockets.h"

namespace tenfold::server {

enum class End : std::uint8_t {
  stop,        // new requests are refused
  hand_over,   // another worker serves: connections that there are have their answers
};

class EndWatch {
 public:
  // Blocks the signals of this thread, and so of all that it starts from now on. `link` is that to the supervisor, if there is one, whose
  // end ends this process at once.
  explicit EndWatch(const Descriptor& link);
  ~EndWatch();
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;
  // Nothing: not within `milliseconds`.
  std::optional<End> wait(int milliseconds);
  // From now on, in a thread of its own: a second signal ends the process at once, unless there is a supervisor, whose matter that is.
  // `stopped` is called where a handover becomes a stop.
  void watch_on(std::function<void()> stopped);

 private:
  std::optional<End> of_link();

  const Descriptor& link_;
  Descriptor signals_;
  std::atomic<bool> done_ = false;
  std::thread watching_;
};

}  // namespace tenfold::server
