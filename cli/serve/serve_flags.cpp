#include "serve/serve_flags.h"

#include "serve/flags/rows.h"

namespace tenfold::cli {

Flags make_serve_flags(ServeOptions& options) {
  Flags flags("tenfold serve model.onnx [--flags]",
              "Answers requests of the KServe v2 protocol over HTTP and gRPC, as Triton does; those of several clients run as one batch.\n"
              "The program tenfold-server does it, which stands beside this one.");
  add_model_rows(flags, options.model);
  add_queue_rows(flags, options.queue);
  add_http_rows(flags, options.http);
  add_grpc_rows(flags, options.grpc);
  add_limit_rows(flags, options.limits);
  add_security_rows(flags, options.security);
  add_shutdown_rows(flags, options.shutdown);
  flags.group("Help");
  flags.add({"help", "[all]", "this text; =all: a line for every flag", [&options](const std::string& text) {
               if (!text.empty() && text != "all") throw UsageError("--help or --help=all");
               options.help = true, options.full_help = text == "all";
             }});
  add_refused_rows(flags);
  return flags;
}

}  // namespace tenfold::cli
