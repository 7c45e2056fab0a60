#include "process/serve.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <thread>

#include "config/model_options.h"
#include "config/start_table.h"
#include "grpc_front.h"
#include "net/http_server.h"
#include "process/guards.h"
#include "process/hang_up.h"
#include "routes/v2_routes.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

using cli::ServeOptions;

// SIGTERM and SIGINT of all threads, which are started after it.
sigset_t block_stop_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

void wait_for(const sigset_t& signals) {
  int signal = 0;
  ::sigwait(&signals, &signal);
}

// A signal while models load ends the process at once, as does a second one later.
void exit_at_signal(const sigset_t& signals, const std::atomic<bool>& watching) {
  while (true) {
    wait_for(signals);
    if (watching) std::_Exit(1);
  }
}

// Not ready at once; what was accepted is answered; false: not within the time for it.
bool drain(Models& models, HttpServer& http, GrpcFront* grpc, const ServeOptions& options) {
  models.set_ready(false);
  if (grpc) grpc->ready_changed();
  std::this_thread::sleep_for(std::chrono::seconds(options.shutdown.delay_s));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(options.shutdown.timeout_s);
  std::atomic<bool> stopped = false;
  std::thread stopping([&] { models.stop(), stopped = true; });
  while (!stopped && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!stopped) return stopping.detach(), false;
  stopping.join();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  const auto patience = std::max(left, std::chrono::milliseconds(100));
  const bool calls_ended = !grpc || grpc->stop(patience);
  return http.stop(patience) && calls_ended;
}

Router routes_of_metrics(const std::shared_ptr<Models>& models) {
  Router router;
  add_metrics_routes(router, models);
  return router;
}

Router routes_of_models(const std::shared_ptr<Models>& models) {
  Router router;
  add_v2_routes(router, models);
  add_metrics_routes(router, models);
  return router;
}

struct HttpPorts {
  std::string scheme;                            // "https" under TLS
  std::uint16_t models = 0;
  std::string metrics;                           // words for the line that says where it is; empty: nowhere
};

std::uint16_t listen(HttpServer& http, const Guards& guards, const std::string& address, int port, Router router) {
  HttpPortOptions options = guards.http_port(router);
  return http.listen(address, static_cast<std::uint16_t>(port), router.handler(), std::move(options));
}

HttpPorts listen(HttpServer& http, const Guards& guards, const std::shared_ptr<Models>& models, const cli::ServeOptions& all) {
  const cli::HttpFlags& options = all.http;
  HttpPorts ports{.scheme = all.security.http.enabled || all.security.http.mutual ? "https" : "http", .models = 0, .metrics = {}};
  ports.models = listen(http, guards, options.address, options.port, routes_of_models(models));
  if (!options.metrics) return ports;
  const std::string& address = options.metrics_address.empty() ? options.address : options.metrics_address;
  const std::uint16_t opened = listen(http, guards, address, options.metrics_port, routes_of_metrics(models));
  ports.metrics = ", metrics on " + ports.scheme + "://" + shown_address(address) + ":" + std::to_string(opened) + "/metrics";
  return ports;
}

}  // namespace

int serve(const ServeOptions& options, const std::string& path) {
  const sigset_t signals = block_stop_signals();
  const auto models = std::make_shared<Models>();
  Guards guards(options);
  const HangUp hang_up([&guards] { guards.read_files_again(); });
  HttpServer http(guards.network_threads());
  const HttpPorts ports = listen(http, guards, models, options);
  std::string others = ports.metrics;
  const std::unique_ptr<GrpcFront> grpc = options.grpc.enabled ? open_grpc(models, guards.grpc_port()) : nullptr;
  if (grpc) others += ", gRPC on " + shown_address(guards.grpc_port().address) + ":" + std::to_string(grpc->port());
  StartRow row;
  {
    // Signals while the model loads are for a thread that ends with it.
    std::atomic<bool> loading = true;
    std::thread watcher([&] {
      const timespec shortly{0, 50'000'000};
      while (loading)
        if (::sigtimedwait(&signals, nullptr, &shortly) > 0) std::_Exit(0);
    });
    row = load_model(*models, options, path);
    loading = false;
    watcher.join();
  }
  std::fputs(start_table({row}).c_str(), stderr);
  if (!row.ready) return 1;
  models->set_ready(true);
  if (grpc) grpc->ready_changed();
  std::fprintf(stderr, "ready on %s://%s:%u%s\n", ports.scheme.c_str(), shown_address(options.http.address).c_str(), ports.models,
               others.c_str());
  wait_for(signals);
  static std::atomic<bool> watching = true;
  std::thread(exit_at_signal, signals, std::cref(watching)).detach();
  std::fputs("stopping: accepted requests are answered\n", stderr);
  if (drain(*models, http, grpc.get(), options)) return 0;
  std::fputs("stopped before all accepted requests were answered: --exit-timeout-secs passed\n", stderr);
  std::fflush(stderr);
  std::_Exit(1);
}

}  // namespace tenfold::server
