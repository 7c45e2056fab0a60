#include "process/serve.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "config/observe_options.h"
#include "config/start_table.h"
#include "config/text_defaults.h"
#include "core/response_cache.h"
#include "core/shared_memory.h"
#include "grpc_front.h"
#include "net/http_server.h"
#include "observe/log.h"
#include "process/end_watch.h"
#include "process/guards.h"
#include "process/hang_up.h"
#include "repository/start.h"
#include "routes/repository_routes.h"
#include "routes/text_routes.h"
#include "routes/v2_routes.h"
#include "tenfold/device_error.h"

namespace tenfold::server {
namespace {

using cli::ServeOptions;

using Clock = std::chrono::steady_clock;

constexpr int kTurn = 50;                              // milliseconds
constexpr std::chrono::seconds kSoon{5};               // Accept::soon
constexpr std::chrono::seconds kIdleAtHandover{5};     // until a connection without requests is closed

// Not ready at once; what was accepted is answered; false: not within the time for it.
bool drain(Models& models, HttpServer& http, GrpcFront* grpc, const ServeOptions& options) {
  models.set_ready(false);
  if (grpc) grpc->ready_changed();
  std::this_thread::sleep_for(std::chrono::seconds(options.shutdown.delay_s));
  const auto until = Clock::now() + std::chrono::seconds(options.shutdown.timeout_s);
  std::atomic<bool> stopped = false;
  std::thread stopping([&] { models.stop(), stopped = true; });
  while (!stopped && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!stopped) return stopping.detach(), false;
  stopping.join();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  const auto patience = std::max(left, std::chrono::milliseconds(100));
  const bool calls_ended = !grpc || grpc->stop(patience);
  return http.stop(patience) && calls_ended;
}

// Another worker takes new connections. Those that there are have their answers, also to requests that come now.
void finish_connections(HttpServer& http, GrpcFront* grpc, const ServeOptions& options) {
  http.stop_accepting();
  if (grpc) grpc->stop_accepting();
  log_info("another worker serves now: accepted requests are answered");   // only now: who reads it relies on it
  const std::chrono::seconds patience(options.shutdown.timeout_s);
  std::thread calls([&] {
    if (grpc) grpc->stop(patience);
  });
  http.wait_for_connections(std::min(patience, kIdleAtHandover));
  http.stop(patience);
  calls.join();
}

Router routes_of_metrics(const std::shared_ptr<Models>& models) {
  Router router;
  add_metrics_routes(router, models);
  return router;
}

Router routes_of_models(const std::shared_ptr<Models>& models, const ServeOptions& options) {
  Router router;
  add_v2_routes(router, models);
  add_repository_routes(router, models);
  add_metrics_routes(router, models);
  add_text_routes(router, models, text_options(options));
  return router;
}

// All that listens, and the line that says where.
struct Ports {
  Ports(const ServeOptions& options, const Guards& guards, std::shared_ptr<Models> models)
      : options(options), guards(guards), models(std::move(models)), http(guards.network_threads()) {}
  void listen(Sockets& sockets);
  std::uint16_t listen(int socket, Router router) {
    HttpPortOptions port = guards.http_port(router);
    return http.listen(socket, router.handler(), std::move(port));
  }
  bool listening() const { return !line.empty(); }

  const ServeOptions& options;
  const Guards& guards;
  const std::shared_ptr<Models> models;
  HttpServer http;
  std::unique_ptr<GrpcFront> grpc;
  std::string line;
};

void Ports::listen(Sockets& sockets) {
  const std::string scheme = guards.http_scheme() + "://";
  const auto url = [](const std::string& address, int port) { return shown_address(address) + ":" + std::to_string(port); };
  line = "ready";
  if (sockets.http)
    line += " on " + scheme + url(http_address(options), listen(sockets.http.release(), routes_of_models(models, options)));
  if (sockets.metrics)
    line += ", metrics on " + scheme +
            url(metrics_address(options), listen(sockets.metrics.release(), routes_of_metrics(models))) + "/metrics";
  if (!sockets.grpc) return;
  grpc = open_grpc(models, guards.grpc_port(sockets.grpc.release()));
  line += ", gRPC on " + url(grpc_address(options), grpc->port());
}

// Signals while the model loads end the process.
std::vector<StartRow> load(Models& models, const ServeOptions& options, const std::string& path, EndWatch& end,
                           const std::function<void()>& each_turn) {
  std::atomic<bool> loading = true;
  std::thread watcher([&] {
    while (loading) {
      if (end.wait(kTurn)) std::_Exit(0);
      each_turn();
    }
  });
  std::vector<StartRow> rows;
  std::exception_ptr failure;
  try {
    rows = load_models(models, options, path);
  } catch (...) {
    failure = std::current_exception();
  }
  loading = false;
  watcher.join();
  if (failure) std::rethrow_exception(failure);
  return rows;
}

// The reason of a GPU that only a new process can use again; empty: there is none.
std::string lost_device(const Models& models) {
  for (const auto& model : models.all())
    for (const std::string& device : model->devices())
      if (const DeviceHealth health = device_health(device); !health) return device + ": " + health.reason;
  return {};
}

End wait_for_end(EndWatch& end, const Models& models, const Descriptor& link) {
  constexpr int kLook = 200;                     // milliseconds
  for (bool lost = false;;) {
    if (const auto ended = end.wait(link && !lost ? kLook : -1)) return *ended;
    if (!link || lost) continue;
    const std::string reason = lost_device(models);
    if (lost = !reason.empty(); lost) {
      log_error("a device is lost to this process, so another worker takes its place: " + reason);
      send(link, Message::lost);
    }
  }
}

}  // namespace

int serve(const ServeOptions& options, const std::string& path, WorkerStart start) {
  Guards guards(options);
  EndWatch end(start.link);                      // first, so that no thread can take its signals
  const HangUp hang_up([&guards] { guards.read_files_again(); });
  const Observing observing(options.observe);
  const auto models = std::make_shared<Models>();
  models->set_shared_memory(std::make_shared<SharedMemory>(options.memory.client_shm));
  if (options.memory.cache_bytes > 0)
    models->set_cache(std::make_shared<ResponseCache>(static_cast<std::size_t>(options.memory.cache_bytes)));
  if (!start.link) start.sockets = open_sockets(options, has_grpc());
  Ports ports(options, guards, models);
  if (start.accept == Accept::at_once) ports.listen(start.sockets);
  const auto soon = Clock::now() + kSoon;
  const std::vector<StartRow> rows = load(*models, options, path, end, [&] {
    if (start.accept == Accept::soon && !ports.listening() && Clock::now() > soon) ports.listen(start.sockets);
  });
  log_table(start_table(rows));
  const bool failed = std::any_of(rows.begin(), rows.end(), [](const StartRow& row) { return !row.ready; });
  if (failed && options.repository.exit_on_error) return 1;
  models->set_ready(true);
  if (!ports.listening()) ports.listen(start.sockets);
  if (ports.grpc) ports.grpc->ready_changed();
  if (start.link) send(start.link, Message::ready);
  log_info(ports.line);
  const End how = wait_for_end(end, *models, start.link);
  end.watch_on([models] { models->set_ready(false); });
  if (how == End::hand_over) {
    finish_connections(ports.http, ports.grpc.get(), options);
    models->stop();
    return 0;
  }
  log_info("stopping: accepted requests are answered");
  if (drain(*models, ports.http, ports.grpc.get(), options)) return 0;
  log_error("stopped before all accepted requests were answered: --exit-timeout-secs passed");
  std::_Exit(1);
}

}  // namespace tenfold::server
