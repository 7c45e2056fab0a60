#include "process/serve.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "config/observe_options.h"
#include "config/pattern_candidates.h"
#include "config/start_table.h"
#include "core/response_cache.h"
#include "core/shared_memory.h"
#include "observe/log.h"
#include "observe/request_counts.h"
#include "process/end_watch.h"
#include "process/free_memory.h"
#include "process/guards.h"
#include "process/hang_up.h"
#include "process/other_workers.h"
#include "process/ports.h"
#include "process/report.h"
#include "repository/start.h"
#include "tenfold/device_error.h"

namespace tenfold::server {
namespace {

using cli::ServeOptions;

using Clock = std::chrono::steady_clock;

constexpr int kTurn = 50;                              // milliseconds
constexpr std::chrono::seconds kSoon{5};               // Accept::soon
constexpr std::chrono::seconds kIdleAtHandover{5};     // until a connection without requests is closed

// Not ready at once, which balancers have --exit-delay-secs to see; then what was accepted is answered; false: not within the time for it.
bool drain(Models& models, Ports& ports, const ServeOptions& options) {
  GrpcFront* const grpc = ports.grpc();
  models.set_leaving();
  if (grpc) grpc->ready_changed();
  std::this_thread::sleep_for(std::chrono::seconds(options.shutdown.delay_s));
  models.set_ready(false);
  const auto until = Clock::now() + std::chrono::seconds(options.shutdown.timeout_s);
  std::atomic<bool> stopped = false;
  std::thread stopping([&] { models.stop(), stopped = true; });
  while (!stopped && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!stopped) return stopping.detach(), false;
  stopping.join();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  const auto patience = std::max(left, std::chrono::milliseconds(100));
  const bool calls_ended = !grpc || grpc->stop(patience);
  return ports.http().stop(patience) && calls_ended;
}

// Another worker takes new connections. Those that there are have their answers, also to requests that come now.
void finish_connections(Ports& ports, const ServeOptions& options) {
  HttpServer& http = ports.http();
  GrpcFront* const grpc = ports.grpc();
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

// Tells the supervisor what clients load and unload.
std::function<void(const ModelChange&)> teller(const Descriptor& link) {
  if (!link) return nullptr;
  return [&link](const ModelChange& change) { send_changes(link, {change}, true); };
}

// Signals while models load end the process.
std::vector<StartRow> load(const std::function<std::vector<StartRow>()>& load_all, EndWatch& end,
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
    rows = load_all();
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
  Report report(start.link, options);
  const HangUp hang_up([&guards, &report] {
    report.reading_files();
    guards.read_files_again();
    report.read_files();
  });
  request_counts().worker_starts = start.number;
  const Observing observing(options.observe);
  const FreeMemory free_memory;
  const auto models = std::make_shared<Models>();
  models->set_shared_memory(std::make_shared<SharedMemory>(options.memory.client_shm));
  if (options.memory.cache_bytes > 0)
    models->set_cache(std::make_shared<ResponseCache>(static_cast<std::size_t>(options.memory.cache_bytes)));
  if (!start.link) start.sockets = open_sockets(options, has_grpc());
  report.watch(start.sockets);
  const std::shared_ptr<PatternEngine> pattern = pattern_engine(options);
  Ports ports(options, guards, models, pattern);
  if (start.accept == Accept::at_once) ports.listen(start.sockets);
  report.loading(*models);
  const auto soon = Clock::now() + kSoon;
  const auto others = std::make_shared<OtherWorkers>(models);
  end.on_changes([others](const std::vector<ModelChange>& changes) { others->take(changes); });
  const auto load_all = [&] {
    if (pattern) pattern->open();
    std::vector<ModelChange> before;
    if (start.models) before = changes_of_file(start.models);
    std::vector<StartRow> rows = load_models(*models, options, path, std::move(before), teller(start.link));
    others->follow();
    return rows;
  };
  const std::vector<StartRow> rows = load(load_all, end, [&] {
    if (start.accept == Accept::soon && !ports.listening() && Clock::now() > soon) ports.listen(start.sockets);
    report.loading(*models);
  });
  if (!rows.empty()) log_table(start_table(rows));
  const bool failed = std::any_of(rows.begin(), rows.end(), [](const StartRow& row) { return !row.ready && row.required; });
  if (failed && options.repository.exit_on_error) return 1;
  models->set_ready(true);
  if (!ports.listening()) ports.listen(start.sockets);
  if (ports.grpc()) ports.grpc()->ready_changed();
  report.ready(ports.line());
  log_info(ports.line());
  const End how = wait_for_end(end, *models, start.link);
  end.watch_on([models] { models->set_ready(false); });
  if (how == End::hand_over) {
    finish_connections(ports, options);
    models->stop();
    return 0;
  }
  report.stopping();
  log_info("stopping: accepted requests are answered");
  if (drain(*models, ports, options)) return 0;
  log_error("stopped before all accepted requests were answered: --exit-timeout-secs passed");
  std::_Exit(1);
}

}  // namespace tenfold::server
