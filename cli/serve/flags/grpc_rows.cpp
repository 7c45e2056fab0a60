// The rows of `tenfold serve`'s flags that are about gRPC.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_grpc_rows(Flags& flags, GrpcFlags& options) {
  flags.group("gRPC");
  add_listener(flags, "grpc", "gRPC", {options.enabled, options.address, options.port}, "default: that of HTTP", "0: a free one (8001)");
  add_choice(flags, "grpc-infer-response-compression-level", options.compression, {"none", "low", "medium", "high"},
             "of answers, for clients that accept gzip; default: none");
}

}  // namespace tenfold::cli
