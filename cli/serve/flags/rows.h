// The flags of `tenfold serve`, a file for each group of rows. A new group: a struct in options.h, a file here, a line in
// serve_flags.cpp.
#pragma once

#include "flags/flags.h"
#include "serve/flags/options.h"

namespace tenfold::cli {

inline constexpr int kMaxPort = 65535;

void add_number(Flags& flags, const std::string& name, int& target, int min, int max, const std::string& help);
void add_choice(Flags& flags, const std::string& name, std::string& target, const std::vector<std::string>& choices,
                const std::string& help);
void add_bool(Flags& flags, const std::string& name, bool& target, const std::string& help);
// --allow-NAME, --NAME-address and --NAME-port of a port that listens; `what` is what people call it.
struct Listener {
  bool& enabled;
  std::string& address;
  int& port;
};
void add_listener(Flags& flags, const std::string& name, const std::string& what, const Listener& target, const std::string& address_help,
                  const std::string& port_help);

void add_model_rows(Flags& flags, ModelFlags& options);
void add_repository_rows(Flags& flags, RepositoryFlags& options);
void add_queue_rows(Flags& flags, QueueFlags& options);
void add_text_rows(Flags& flags, TextFlags& options);
void add_tei_rows(Flags& flags, ServeOptions& options);
void add_http_rows(Flags& flags, HttpFlags& options);
void add_grpc_rows(Flags& flags, GrpcFlags& options);
void add_limit_rows(Flags& flags, LimitFlags& options);
void add_security_rows(Flags& flags, SecurityFlags& options);
void add_memory_rows(Flags& flags, MemoryFlags& options);
void add_shutdown_rows(Flags& flags, ShutdownFlags& options);
void add_observe_rows(Flags& flags, ObserveFlags& options);
void add_pattern_rows(Flags& flags, PatternFlags& options);
void add_process_rows(Flags& flags, ProcessFlags& options);
void add_triton_rows(Flags& flags, ServeOptions& options);   // those that change nothing here
void add_refused_rows(Flags& flags);

}  // namespace tenfold::cli
