// Names of severities.
#include "base/log.h"

namespace tenfold {

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::verbose: return "verbose";
    case Severity::info: return "info";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return "unknown";
}

}  // namespace tenfold
