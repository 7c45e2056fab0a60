// The rows of `tenfold serve`'s flags that are about gRPC.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_grpc_rows(Flags& flags, GrpcFlags& options) {
  flags.group("gRPC");
  add_bool(flags, "allow-grpc", options.enabled, "whether the port of gRPC is opened (true)");
  flags.add_text("grpc-address", options.address, "ADDRESS", "default: that of HTTP");
  add_number(flags, "grpc-port", options.port, 0, kMaxPort, "0: a free one (8001)");
  add_choice(flags, "grpc-infer-response-compression-level", options.compression, {"none", "low", "medium", "high"},
             "of answers, for clients that accept gzip; default: none");
}

}  // namespace tenfold::cli
