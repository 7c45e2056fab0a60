#include "process/serve.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <thread>

#include "config/start_table.h"
#include "core/response_cache.h"
#include "grpc_front.h"
#include "net/http_server.h"
#include "repository/start.h"
#include "routes/repository_routes.h"
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

int network_threads(const ServeOptions& options) {
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  return options.http.threads > 0 ? options.http.threads : std::clamp(processors, 1, 8);
}

GrpcOptions grpc_options(const ServeOptions& options) {
  constexpr int kPort = 8001;
  GrpcOptions grpc;
  grpc.address = options.grpc.address.empty() ? options.http.address : options.grpc.address;
  grpc.port = static_cast<std::uint16_t>(options.grpc.port >= 0 ? options.grpc.port : options.http.port == 0 ? 0 : kPort);
  grpc.max_message_bytes = static_cast<std::size_t>(options.http.body_bytes);
  grpc.max_connections = static_cast<std::size_t>(options.http.connections);
  const std::string& level = options.grpc.compression;
  grpc.compression_level = level == "low" ? 1 : level == "medium" ? 6 : level == "high" ? 9 : 0;
  return grpc;
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

HttpHandler routes_of_metrics(const std::shared_ptr<Models>& models) {
  Router router;
  add_metrics_routes(router, models);
  return router.handler();
}

HttpHandler routes_of_models(const std::shared_ptr<Models>& models) {
  Router router;
  add_v2_routes(router, models);
  add_repository_routes(router, models);
  add_metrics_routes(router, models);
  return router.handler();
}

struct HttpPorts {
  std::uint16_t models = 0;
  std::string metrics;                           // words for the line that says where it is; empty: nowhere
};

HttpPorts listen(HttpServer& http, const std::shared_ptr<Models>& models, const cli::HttpFlags& options) {
  HttpLimits limits;
  limits.body_bytes = static_cast<std::size_t>(options.body_bytes);
  limits.connections = static_cast<std::size_t>(options.connections);
  HttpPorts ports;
  if (options.enabled)
    ports.models = http.listen(options.address, static_cast<std::uint16_t>(options.port), routes_of_models(models), limits);
  if (!options.metrics) return ports;
  const std::string& address = options.metrics_address.empty() ? options.address : options.metrics_address;
  const std::uint16_t opened = http.listen(address, static_cast<std::uint16_t>(options.metrics_port), routes_of_metrics(models));
  ports.metrics = ", metrics on http://" + shown_address(address) + ":" + std::to_string(opened) + "/metrics";
  return ports;
}

}  // namespace

int serve(const ServeOptions& options, const std::string& path) {
  const sigset_t signals = block_stop_signals();
  const auto models = std::make_shared<Models>();
  if (options.memory.cache_bytes > 0)
    models->set_cache(std::make_shared<ResponseCache>(static_cast<std::size_t>(options.memory.cache_bytes)));
  HttpServer http(network_threads(options));
  const HttpPorts ports = listen(http, models, options.http);
  std::string others = ports.metrics;
  const std::unique_ptr<GrpcFront> grpc = options.grpc.enabled ? open_grpc(models, grpc_options(options)) : nullptr;
  if (grpc) others += ", gRPC on " + shown_address(grpc_options(options).address) + ":" + std::to_string(grpc->port());
  std::vector<StartRow> rows;
  {
    // Signals while the model loads are for a thread that ends with it.
    std::atomic<bool> loading = true;
    std::thread watcher([&] {
      const timespec shortly{0, 50'000'000};
      while (loading)
        if (::sigtimedwait(&signals, nullptr, &shortly) > 0) std::_Exit(0);
    });
    rows = load_models(*models, options, path);
    loading = false;
    watcher.join();
  }
  std::fputs(start_table(rows).c_str(), stderr);
  const bool failed = std::any_of(rows.begin(), rows.end(), [](const StartRow& row) { return !row.ready; });
  if (failed && options.repository.exit_on_error) return 1;
  models->set_ready(true);
  if (grpc) grpc->ready_changed();
  std::fprintf(stderr, "ready on http://%s:%u%s\n", shown_address(options.http.address).c_str(), ports.models, others.c_str());
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
