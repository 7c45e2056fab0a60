// Which of Triton's codes a kind of error has: clients see HTTP's and gRPC's status by it.
#include "errors.h"

#include "newer_api.h"

namespace tenfold::triton {
namespace {

TRITONSERVER_Error_Code code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
    case ErrorKind::invalid_model:
    case ErrorKind::plan_refused: return kTritonInvalidArg;
    case ErrorKind::unsupported: return kTritonUnsupported;
    case ErrorKind::out_of_memory:
    case ErrorKind::device: return kTritonUnavailable;
    case ErrorKind::cancelled: return newer_api().request_is_cancelled ? kTritonCancelled : kTritonUnavailable;
    default: return kTritonInternal;
  }
}

}  // namespace

void log_line(TRITONSERVER_LogLevel level, const std::string& text) noexcept {
  if (TRITONSERVER_Error* error = TRITONSERVER_LogMessage(level, "tenfold", 0, text.c_str())) TRITONSERVER_ErrorDelete(error);
}

LogCallback log_of(std::string who) {
  return [who = std::move(who)](Severity severity, std::string_view line) {
    const TRITONSERVER_LogLevel level = severity == Severity::error     ? kTritonError
                                        : severity == Severity::warning ? kTritonWarn
                                        : severity == Severity::info    ? kTritonInfo
                                                                        : kTritonVerbose;
    if (TRITONSERVER_LogIsEnabled(level)) log_line(level, who + ": " + std::string(line));
  };
}

bool failed(TRITONSERVER_Error* error) noexcept {
  if (!error) return false;
  log_line(kTritonError, TRITONSERVER_ErrorMessage(error));
  TRITONSERVER_ErrorDelete(error);
  return true;
}

void must(TRITONSERVER_Error* error) {
  if (!error) return;
  const std::string message = TRITONSERVER_ErrorMessage(error);
  TRITONSERVER_ErrorDelete(error);
  throw Error(ErrorKind::internal, message);
}

TRITONSERVER_Error* to_triton(const Error& error) noexcept { return TRITONSERVER_ErrorNew(code_of(error.kind()), error.what()); }

}  // namespace tenfold::triton
