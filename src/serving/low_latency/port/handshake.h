// What a server of ports tells a client: which messages its rings hold, and the file that they lie in.
#pragma once

#include <sys/un.h>

#include <string>

#include "low_latency/port/port.h"

namespace tenfold::low_latency {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return number_; }
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_;
};

// A file in memory of this size that nobody can shorten.
Descriptor shared_file(std::size_t bytes);
// Throws invalid_argument for a file that is shorter, or that another process may shorten.
std::shared_ptr<void> map_shared(int file, std::size_t bytes);

struct Offer {
  std::string refusal;   // empty: there is a port
  MessageLayout layout;
  PortOptions port;
};
std::string written(const Offer& offer);
// Throws invalid_argument for what no server of this version writes.
Offer read_offer(const std::string& bytes);

// Whole messages. `file` -1: none. False: the other side is gone.
bool send_offer(int socket, const std::string& bytes, int file) noexcept;
std::string receive_offer(int socket, Descriptor& file);   // throws io
// A socket and where it is to be. Throws invalid_argument for a path that is too long.
Descriptor socket_for(const std::string& path, sockaddr_un& address);

}  // namespace tenfold::low_latency
