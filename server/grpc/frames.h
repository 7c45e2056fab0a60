// What gRPC puts into HTTP/2: messages behind a prefix of 5 bytes, and values of headers. It knows no sockets.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "grpc/status.h"

namespace tenfold::server::grpc {

inline constexpr std::size_t kPrefixBytes = 5;  // compressed or not, and the length, big endian

struct Frame {
  bool compressed = false;
  std::string bytes;
};

// Puts frames together from pieces. At most one is held whole: what follows stays as it arrived until next() has taken that one.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  void push(std::string_view piece);
  bool next(Frame& frame);                                                   // false: no whole frame is there
  bool waiting();                                                            // a whole frame is there
  bool partial() const { return prefix_filled_ != 0 || at_ < raw_.size(); }  // bytes of a frame are there; a whole one counts
  const std::optional<CallStatus>& fault() const { return fault_; }          // nothing is read after it

 private:
  std::size_t consume(std::string_view piece);

  std::size_t max_bytes_;
  unsigned char prefix_[kPrefixBytes] = {};
  std::size_t prefix_filled_ = 0, length_ = 0;
  bool whole_ = false;
  Frame frame_;
  std::string raw_;  // what came after the frame
  std::size_t at_ = 0;
  std::optional<CallStatus> fault_;
};

// The prefix and the message, compressed if `level` (1 to 9) is not 0 and that makes it smaller.
std::string write_frame(std::string message, int level = 0);

// gzip or zlib. Nothing: it is damaged. `too_long`: it is longer than max_bytes, and no more of it was read.
std::optional<std::string> inflate(std::string_view bytes, std::size_t max_bytes, bool& too_long);
std::string gzip(std::string_view bytes, int level);

// grpc-message: printable ASCII but '%' stands for itself, all else as %XX.
std::string percent_encode(std::string_view text);
// grpc-timeout: at most 8 digits and a unit of H, M, S, m, u, n.
std::optional<std::chrono::nanoseconds> parse_timeout(std::string_view text);
// Whether a list as grpc-accept-encoding has it ("identity, gzip") names the item.
bool list_has(std::string_view list, std::string_view item);

}  // namespace tenfold::server::grpc
