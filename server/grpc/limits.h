// What a client may take of the server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "net/byte_budget.h"

namespace tenfold::server::grpc {

struct Limits {
  std::size_t max_message_bytes = 64 << 20;  // of a request, also once it is decompressed
  std::size_t max_header_bytes = 16 << 10;
  std::size_t max_headers = 100;
  std::uint32_t max_streams = 256;                      // calls of a connection at a time; cancelled ones count until their work has ended
  std::uint32_t stream_window = 1 << 20;                // bytes of a call that may be on their way
  std::size_t max_messages_in_work = 64;                // of a stream of requests; the next ones wait in the window
  std::size_t max_unread_bytes = 16 << 20;              // answers of a stream that its client has not read, before requests of it wait
  int compression_level = 0;                            // of answers, for clients that accept gzip; 0: none
  std::chrono::milliseconds handshake_timeout{10'000};  // until the client's SETTINGS are there
  std::chrono::milliseconds read_timeout{30'000};       // of a message that has begun, and of a unary request
  std::chrono::milliseconds write_timeout{30'000};      // without any progress
  std::chrono::milliseconds keepalive_time{7'200'000};  // without a byte from the client, until it is pinged
  std::chrono::milliseconds keepalive_timeout{20'000};  // until it has to answer
};

// A count that refills with time: floods of frames that cost the client less than the server.
class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;
  TokenBucket(double capacity, double per_second) : tokens_(capacity), capacity_(capacity), per_second_(per_second) {}
  bool take(Clock::time_point now) {
    const double refill = std::chrono::duration<double>(now - last_).count() * per_second_;
    tokens_ = last_ == Clock::time_point() ? capacity_ : tokens_ + refill < capacity_ ? tokens_ + refill : capacity_;
    last_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  double tokens_, capacity_, per_second_;
  Clock::time_point last_;
};

}  // namespace tenfold::server::grpc
