// Whom a worker tells how it stands: its supervisor, or, where it has none, the service manager.
#pragma once

#include "core/models.h"
#include "process/link.h"
#include "process/probe.h"
#include "process/service_manager.h"

namespace tenfold::server {

class Report {
 public:
  Report(const Descriptor& link, const cli::ServeOptions& options);   // `link`: to the supervisor, if there is one
  // Starts the watchdog that the service manager wants, if it does. `sockets`: as they were opened, before they are listened on.
  void watch(const Sockets& sockets);
  void loading(const Models& models);            // may be called often: it tells what has changed, every half second at most
  void ready(const std::string& line);
  void reading_files();
  void read_files();
  void stopping();                               // the supervisor knows

 private:
  const Descriptor& link_;
  const cli::ServeOptions& options_;
  std::optional<ServiceManager> manager_;
  std::optional<Watchdog> watchdog_;
  std::string words_;
  std::mutex mutex_;                             // of the line, which two threads use
  std::string ready_line_;
  std::chrono::steady_clock::time_point said_{};
};

// Asks the server as --probe=live does, for a watchdog. Where it has no port that could be asked, it is taken to live.
std::function<bool()> answers_on(const cli::ServeOptions& options, const Sockets& sockets);
// How long the end may take: then the supervisor kills.
std::chrono::seconds patience_at_end(const cli::ServeOptions& options);

}  // namespace tenfold::server
