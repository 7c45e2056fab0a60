#include "core/status.h"

namespace tenfold::server {

Code code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
    case ErrorKind::invalid_model:
    case ErrorKind::plan_refused: return Code::invalid_argument;
    case ErrorKind::unsupported: return Code::unsupported;
    case ErrorKind::out_of_memory:
    case ErrorKind::device: return Code::unavailable;
    case ErrorKind::cancelled: return Code::cancelled;
    default: return Code::internal;
  }
}

}  // namespace tenfold::server
