// How a request ended, in the terms that all protocols map to theirs (HTTP's status, gRPC's code).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "tenfold/error.h"

namespace tenfold::server {

enum class Code : std::uint8_t { ok, internal, not_found, invalid_argument, unavailable, unsupported, cancelled, deadline };

struct Status {
  Code code = Code::ok;
  std::string message;
  explicit operator bool() const noexcept { return code == Code::ok; }
};

// What code of the server throws. Its message is for clients.
struct RequestError : std::runtime_error {
  RequestError(Code code, std::string message) : std::runtime_error(without_nul(std::move(message))), code(code) {}
  Code code;

 private:
  // Clients' names may have a NUL, at which what() would end.
  static std::string without_nul(std::string text) {
    for (std::size_t at = text.find('\0'); at != std::string::npos; at = text.find('\0', at)) text.replace(at, 1, "\\0");
    return text;
  }
};

Code code_of(ErrorKind kind);

}  // namespace tenfold::server
