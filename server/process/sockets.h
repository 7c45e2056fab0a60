// The sockets that the server listens on, opened before anything else, so that a process can have them from another.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "serve/serve_flags.h"

namespace tenfold::server {

// A file descriptor, closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Descriptor(std::move(other)).swap(*this);
    return *this;
  }
  ~Descriptor();
  int number() const { return number_; }         // -1: there is none
  explicit operator bool() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  void swap(Descriptor& other) noexcept { std::swap(number_, other.number_); }

 private:
  int number_ = -1;
};

struct Sockets {
  Descriptor http, metrics, grpc;                // of those that the flags permit
};

std::string http_address(const cli::ServeOptions& options);
std::string metrics_address(const cli::ServeOptions& options);
std::string grpc_address(const cli::ServeOptions& options);

// Throws Error(io), which names address and port, or Error(invalid_argument).
Sockets open_sockets(const cli::ServeOptions& options, bool with_grpc);

}  // namespace tenfold::server
