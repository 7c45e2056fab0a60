// The rows of `tenfold serve`'s flags that are about what Triton has and this server does not.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_refused_rows(Flags& flags) {
  for (const char* name : {"http-restricted-api", "grpc-restricted-protocol", "api-key-file", "http-use-ssl", "grpc-use-ssl",
                           "grpc-use-ssl-mutual"})
    flags.refuse(name, "it has neither keys nor TLS: put a proxy with them in front of it");
  for (const char* name : {"http-header-forward-pattern"})
    flags.refuse(name, "serve the model by Triton and libtriton_tenfold.so");
}

}  // namespace tenfold::cli
