// The errors and status codes of builder and runtime.
//
// While a model is imported, built or loaded, failures are `Error` exceptions. Once an ExecutionContext exists, running
// returns a `Status` and does not throw.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "tenfold/export.h"

namespace tenfold {

enum class ErrorKind : std::uint8_t {
  invalid_argument,  // the caller passed a wrong shape, name or flag
  invalid_model,     // the model breaks the ONNX standard or contradicts itself
  unsupported,       // the model is legal, but Tenfold has no implementation
  out_of_memory,
  plan_refused,      // the plan is damaged, of another version, or for another machine
  io,                // a file could not be read or written
  device,            // the device failed
  cancelled,         // a callback or the caller asked to stop
  internal,          // a bug in Tenfold
};

TENFOLD_API std::string_view name(ErrorKind kind);

// An error. Its message begins with what Tenfold was doing: "importing node 'conv1' (Conv, opset 11): pads has 3
// values".
class TENFOLD_API Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  // Puts "context: " in front of the message. To be called while the exception travels up.
  Error& within(std::string_view context);
  ErrorKind kind() const noexcept { return kind_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorKind kind_;
  std::string message_;
};

// The result of a run: a code, and the step that it concerns. ExecutionContext::describe() says it in words.
struct Status {
  enum Code : std::int32_t {
    ok = 0,
    not_ready,         // an input is not bound or has no shape yet
    invalid_shape,     // a shape is outside the profile or disagrees with another
    invalid_binding,   // null or overlapping memory
    bad_index,         // an index in the data lay outside a tensor (Gather, Scatter, Slice ...)
    too_large,         // a size that depends on data is above its bound
    out_of_memory,
    cancelled,
    device,
    failed,            // a kernel failed, whatever its data are; `step` says which
    deadline,          // the run's deadline passed before its last step
    invalid_input,     // a value in the data that the step cannot compute with: a negative size, an axis that is not there
  };
  Code code = ok;
  std::int32_t step = -1;   // index of the step or binding concerned; -1: none
  bool operator==(const Status&) const = default;
  explicit operator bool() const noexcept { return code == ok; }
};
TENFOLD_API std::string_view name(Status::Code code);

}  // namespace tenfold
