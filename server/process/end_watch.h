// What ends the server: SIGTERM, SIGINT, or its supervisor.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "core/model_change.h"
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
  // What is called for models that clients have loaded or unloaded at another worker. Set it first.
  void on_changes(std::function<void(const std::vector<ModelChange>&)> changes) { changes_ = std::move(changes); }
  // Nothing: not within `milliseconds`.
  std::optional<End> wait(int milliseconds);
  // From now on, in a thread of its own: a second signal ends the process at once, unless there is a supervisor, whose matter that is.
  // `stopped` is called where a handover becomes a stop.
  void watch_on(std::function<void()> stopped);

 private:
  std::optional<End> of_link();

  const Descriptor& link_;
  std::function<void(const std::vector<ModelChange>&)> changes_;
  Descriptor signals_;
  std::atomic<bool> done_ = false;
  std::thread watching_;
};

}  // namespace tenfold::server
