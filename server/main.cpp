// tenfold-server: from flags to a model that answers, and to the end.
#include <csignal>
#include <cstdio>
#include <exception>
#include <thread>

#include "config/model_options.h"
#include "config/start_table.h"
#include "grpc_front.h"
#include "net/http_server.h"
#include "routes/router.h"
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
  return options.http_threads > 0 ? options.http_threads : std::clamp(processors, 1, 8);
}

GrpcOptions grpc_options(const ServeOptions& options) {
  constexpr int kPort = 8001;
  GrpcOptions grpc;
  grpc.address = options.grpc_address.empty() ? options.http_address : options.grpc_address;
  grpc.port = static_cast<std::uint16_t>(options.grpc_port >= 0 ? options.grpc_port : options.http_port == 0 ? 0 : kPort);
  grpc.max_message_bytes = static_cast<std::size_t>(options.body_bytes);
  grpc.max_connections = static_cast<std::size_t>(options.connections);
  const std::string& level = options.grpc_compression;
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
  std::this_thread::sleep_for(std::chrono::seconds(options.exit_delay_s));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(options.exit_timeout_s);
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

int serve(const ServeOptions& options, const std::string& path) {
  const sigset_t signals = block_stop_signals();
  const auto models = std::make_shared<Models>();
  HttpServer http(network_threads(options));
  HttpLimits limits;
  limits.body_bytes = static_cast<std::size_t>(options.body_bytes);
  limits.connections = static_cast<std::size_t>(options.connections);
  const std::uint16_t port = http.listen(options.http_address, static_cast<std::uint16_t>(options.http_port), make_router(models), limits);
  std::string metrics;
  if (options.metrics) {
    const std::string& address = options.metrics_address.empty() ? options.http_address : options.metrics_address;
    const std::uint16_t opened = http.listen(address, static_cast<std::uint16_t>(options.metrics_port), make_metrics_router(models));
    metrics = ", metrics on http://" + shown_address(address) + ":" + std::to_string(opened) + "/metrics";
  }
  const std::unique_ptr<GrpcFront> grpc = options.grpc ? open_grpc(models, grpc_options(options)) : nullptr;
  if (grpc) metrics += ", gRPC on " + shown_address(grpc_options(options).address) + ":" + std::to_string(grpc->port());
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
  std::fprintf(stderr, "ready on http://%s:%u%s\n", shown_address(options.http_address).c_str(), port, metrics.c_str());
  wait_for(signals);
  static std::atomic<bool> watching = true;
  std::thread(exit_at_signal, signals, std::cref(watching)).detach();
  std::fputs("stopping: accepted requests are answered\n", stderr);
  if (drain(*models, http, grpc.get(), options)) return 0;
  std::fputs("stopped before all accepted requests were answered: --exit-timeout-secs passed\n", stderr);
  std::fflush(stderr);
  std::_Exit(1);
}

int run(int count, char** values) {
  ServeOptions options;
  const cli::Flags flags = cli::make_serve_flags(options);
  const auto words = flags.parse({values + (count > 0), values + count});
  if (options.help) return std::fputs(flags.help(options.full_help).c_str(), stdout), 0;
  if (words.size() != 1) throw cli::UsageError("it takes one model: tenfold serve model.onnx");
  return serve(options, words[0]);
}

}  // namespace
}  // namespace tenfold::server

int main(int count, char** values) {
  try {
    return tenfold::server::run(count, values);
  } catch (const tenfold::cli::UsageError& error) {
    std::fprintf(stderr, "tenfold-server: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenfold-server: %s\n", error.what());
    return 1;
  }
}
