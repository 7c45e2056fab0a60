// Names of error kinds and status codes, and the context chain of an Error.
#include "tenfold/error.h"

namespace tenfold {

std::string_view name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument: return "invalid_argument";
    case ErrorKind::invalid_model: return "invalid_model";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::out_of_memory: return "out_of_memory";
    case ErrorKind::plan_refused: return "plan_refused";
    case ErrorKind::io: return "io";
    case ErrorKind::device: return "device";
    case ErrorKind::cancelled: return "cancelled";
    case ErrorKind::internal: return "internal";
  }
  return "unknown";
}

std::string_view name(Status::Code code) {
  switch (code) {
    case Status::ok: return "ok";
    case Status::not_ready: return "not_ready";
    case Status::invalid_shape: return "invalid_shape";
    case Status::invalid_binding: return "invalid_binding";
    case Status::bad_index: return "bad_index";
    case Status::too_large: return "too_large";
    case Status::out_of_memory: return "out_of_memory";
    case Status::cancelled: return "cancelled";
    case Status::device: return "device";
    case Status::failed: return "failed";
    case Status::deadline: return "deadline";
    case Status::invalid_input: return "invalid_input";
  }
  return "unknown";
}

Error& Error::within(std::string_view context) {
  message_ = std::string(context) + ": " + message_;
  return *this;
}

}  // namespace tenfold
