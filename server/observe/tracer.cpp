#include "observe/tracer.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "observe/log.h"
#include "observe/otlp.h"

namespace tenfold::server {

using Clock = std::chrono::steady_clock;
using Traces = std::deque<std::unique_ptr<RequestTrace>>;

// The queue, and the thread that empties it.
struct Tracer::Exporter {
  explicit Exporter(const TraceOptions& options) : options(options), spans(options.resource), target(parse_trace_url(options.url)) {}

  void push(std::unique_ptr<RequestTrace> trace) {
    const std::lock_guard lock(mutex);
    if (stopping || waiting.size() >= options.queue) return void(++counts.queue_full);
    if (!thread.joinable()) thread = std::thread([this] { work(); });
    waiting.push_back(std::move(trace));
    if (waiting.size() == options.batch) changed.notify_one();
  }

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait_for(lock, options.delay, [&] { return stopping || waiting.size() >= options.batch; });
      while (!waiting.empty() && Clock::now() < until.load()) {
        Traces batch;
        for (; !waiting.empty() && batch.size() < options.batch; waiting.pop_front()) batch.push_back(std::move(waiting.front()));
        lock.unlock();
        const std::string failed = post_json(target, spans.json(batch), until);
        tell(failed);
        lock.lock();
        (failed.empty() ? counts.exported : counts.export_failed) += batch.size();
      }
      if (!stopping) continue;
      counts.export_failed += waiting.size();
      return;
    }
  }

  // Once, until one succeeds again.
  void tell(const std::string& failed) {
    if (!failed.empty() && last_failure.empty()) log_warning("traces are lost: " + failed);
    if (failed.empty() && !last_failure.empty()) log_info("traces go to " + options.url + " again");
    last_failure = failed;
  }

  const TraceOptions options;
  OtlpSpans spans;
  const TraceUrl target;
  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  Traces waiting;
  TraceCounts counts;
  bool stopping = false;
  std::atomic<Clock::time_point> until = Clock::time_point::max();  // of the last messages
  std::thread thread;
  std::string last_failure;  // the thread's own
};

Tracer::Tracer() : exporter_(std::make_unique<Exporter>(options_)) {}
Tracer::~Tracer() { stop(std::chrono::milliseconds(0)); }

void Tracer::start(TraceOptions options, const TraceSettings::Values& settings) {
  exporter_ = std::make_unique<Exporter>(options);
  options_ = std::move(options);
  settings_.start(settings);
  may_trace_ = settings.timestamps.value_or(false);
}

void Tracer::stop(std::chrono::milliseconds patience) {
  {
    const std::lock_guard lock(exporter_->mutex);
    exporter_->stopping = true;
    exporter_->until = Clock::now() + patience;
    exporter_->changed.notify_one();
  }
  if (exporter_->thread.joinable()) exporter_->thread.join();
}

std::unique_ptr<RequestTrace> Tracer::begin(const TraceOrigin& origin, const std::string& model, const std::string& version) noexcept {
  if (!may_trace_.load(std::memory_order_relaxed)) return nullptr;
  try {
    const std::optional<TraceContext> parent = parse_traceparent(origin.traceparent);
    if (!settings_.sample(model, parent && parent->sampled)) return nullptr;
    auto trace = std::make_unique<RequestTrace>();
    trace->parent = parent;
    trace->request = parent ? *parent : new_trace();
    trace->request.span = new_span();
    if (parent) trace->tracestate = origin.tracestate;
    trace->model = model, trace->version = version, trace->protocol = origin.protocol;
    trace->queued = Clock::now();
    trace->received = origin.received == Clock::time_point() ? trace->queued : origin.received;
    return trace;
  } catch (const std::exception&) {  // no memory for it: the request goes on
    return nullptr;
  }
}

void Tracer::end(std::unique_ptr<RequestTrace> trace) noexcept {
  try {
    exporter_->push(std::move(trace));
  } catch (const std::exception& error) {
    log_warning(std::string("a trace is lost: ") + error.what());
  }
}

void Tracer::update(const std::string& model, const TraceUpdate& update) {
  if (update.empty()) return;
  settings_.update(model, update);
  may_trace_ = true;
}

TraceCounts Tracer::counts() const {
  const std::lock_guard lock(exporter_->mutex);
  return exporter_->counts;
}

Tracer& tracer() {
  static Tracer& tracer = *new Tracer;  // requests may end until the process does
  return tracer;
}

}  // namespace tenfold::server
