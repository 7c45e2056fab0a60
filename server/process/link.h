// What a supervisor and its worker say to each other: a packet for each message, with words where people are to read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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
};

struct Packet {
  Message message;
  std::string words;
};

// Never waits: a message for which the link has no room is lost. Words are cut after 1,000 bytes.
bool send(const Descriptor& link, Message message, std::string_view words = {}) noexcept;
// Nothing: there is none now, or, if `ended` is set, there will be none any more.
std::optional<Packet> receive(const Descriptor& link, bool& ended);

}  // namespace tenfold::server
