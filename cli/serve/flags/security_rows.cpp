// The rows of `tenfold serve`'s flags that are about keys and TLS. SIGHUP has the files of all of them read again.
#include "serve/flags/rows.h"

namespace tenfold::cli {
namespace {

void add_tls(Flags& flags, TlsFlags& options, const std::string& port) {
  add_bool(flags, port + "-use-ssl", options.enabled, "TLS 1.2 or newer on the port (false)");
  add_bool(flags, port + "-use-ssl-mutual", options.mutual, "the same, and clients need certificates (false)");
  flags.add_text(port + "-server-cert", options.certificate, "FILE", "PEM: the server's certificate, and those between it and its root");
  flags.add_text(port + "-server-key", options.key, "FILE", "PEM: its key, without a password");
  flags.add_text(port + "-root-cert", options.root, "FILE", "PEM: who signs the certificates of clients");
}

void add_list(Flags& flags, const std::string& name, std::vector<std::string>& target, const std::string& help) {
  flags.add({name, "FAMILIES:KEY=VALUE", help, [&target](const std::string& text) { target.push_back(text); }});
}

}  // namespace

void add_security_rows(Flags& flags, SecurityFlags& options) {
  flags.group("Keys and TLS");
  flags.add_text("api-key-file", options.api_key_file, "FILE",
                 "a key on each line: requests need 'Authorization: Bearer KEY', but for health and metrics");
  add_list(flags, "http-restricted-api", options.http_restricted,
           "requests of these families need the header KEY: VALUE; families: health, metadata, inference, shared-memory, model-config, "
           "model-repository, statistics, trace, logging, metrics. May be given several times");
  add_list(flags, "grpc-restricted-protocol", options.grpc_restricted, "likewise, triton-grpc-protocol-KEY: VALUE in metadata");
  add_tls(flags, options.http, "http");
  add_tls(flags, options.grpc, "grpc");
}

}  // namespace tenfold::cli
