// The rows of `tenfold serve`'s flags that are about what Triton has and this server does not.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_refused_rows(Flags& flags) {
  const std::string backend =
      "serve repositories by Triton and libtriton_tenfold.so; this server takes one model file: tenfold serve model.onnx";
  for (const char* name : {"model-repository", "model-store", "model-control-mode", "load-model", "repository-poll-secs",
                           "model-config-name", "strict-readiness", "exit-on-error", "disable-auto-complete-config",
                           "backend-directory", "backend-config"})
    flags.refuse(name, backend);
  for (const char* name : {"trace-config", "log-file", "log-format", "log-verbose"}) flags.refuse(name, "it writes few lines, to stderr");
  for (const char* name : {"cache-config", "rate-limit", "allow-client-shm", "http-header-forward-pattern"})
    flags.refuse(name, "serve the model by Triton and libtriton_tenfold.so");
}

}  // namespace tenfold::cli
