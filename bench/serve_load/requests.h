// Requests as they go over the wire, made before the load begins, and what their answers must be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::load {

struct Request {
  std::string bytes;               // HTTP: head and body; gRPC: the message
  std::string tag;                 // the answer has it; empty: not looked at
  std::uint32_t timeout_us = 0;    // after which the server has to refuse it; 0: never
  std::vector<float> expected;     // the last floats of the answer, within 1e-5 of the largest; empty: not looked at
};

// The file, little endian: a count, and for each request the length and bytes of `bytes` and of `tag`, `timeout_us`, and the count and
// values of `expected`; all numbers are u32 and f32. Throws std::runtime_error.
std::vector<Request> read_requests(const std::string& path);

// Whether an answer's body is the request's.
bool answers(const Request& request, std::string_view body);

}  // namespace tenfold::load
