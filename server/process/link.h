// What a supervisor and its worker say to each other: a packet for each message, with words where people are to read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model_change.h"
#include "process/sockets.h"

namespace tenfold::server {

enum class Message : char {
  // From the worker.
  status = 'T',     // in words: what it does
  ready = 'R',      // it serves; in words: where
  lost = 'L',       // a device is lost to its process
  reloaded = 'A',   // files were read again, after SIGHUP
  // From the supervisor.
  stop = 'S',       // end as at SIGTERM
  hand_over = 'H',  // end when the connections that there are have their answers, for another worker serves
  // From a worker, and on to others: models that clients have loaded or unloaded, as a file.
  models = 'M',
};

struct Packet {
  Message message;
  std::string words;
  Descriptor file;
};

// Never waits: a message for which the link has no room is lost. Words are cut after 1,000 bytes.
bool send(const Descriptor& link, Message message, std::string_view words = {}) noexcept;
// In a file in memory, for they may be large. Waits for room if it may. Throws std::runtime_error.
void send_changes(const Descriptor& link, const std::vector<ModelChange>& changes, bool may_wait);
// Nothing: there is none now, or, if `ended` is set, there will be none any more.
std::optional<Packet> receive(const Descriptor& link, bool& ended);

// Files in memory, which child processes may have. Both throw std::runtime_error.
Descriptor file_of_changes(const std::vector<ModelChange>& changes);
std::vector<ModelChange> changes_of_file(const Descriptor& file);

}  // namespace tenfold::server
