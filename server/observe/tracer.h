// Traces of requests: spans that a thread of its own sends to a collector of OpenTelemetry, as OTLP's JSON over HTTP.
//
//   std::unique_ptr<RequestTrace> trace = tracer().begin(origin, model, version);   // null: this request is not traced
//   trace->run = outcome.run...; trace->end = Clock::now();
//   tracer().end(std::move(trace));
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "observe/trace_settings.h"
#include "observe/traceparent.h"
#include "tenfold/serving/served_request.h"

namespace tenfold::server {

// What a protocol knows of a request that may be traced.
struct TraceOrigin {
  std::string traceparent, tracestate;  // as they came; empty: none
  const char* protocol = "";            // "HTTP", "GRPC"
  std::chrono::steady_clock::time_point received{};
};

struct RequestTrace {
  std::optional<TraceContext> parent;
  TraceContext request;  // of its outermost span
  std::string tracestate, model, version, id;
  const char* protocol = "";
  std::chrono::steady_clock::time_point received, queued, end;
  std::optional<BatchRun> run;  // not there: it ended before one
  std::string error;            // empty: it succeeded
};

struct TraceOptions {
  std::string url = "localhost:4318/v1/traces";
  std::size_t batch = 512, queue = 2048;  // requests that go in one message; that wait, beyond which traces are dropped
  std::chrono::milliseconds delay{5000};  // between messages
  std::map<std::string, std::string> resource = {{"service.name", "tenfold"}};
};

struct TraceCounts {
  std::uint64_t exported = 0, queue_full = 0, export_failed = 0;  // requests
};

// Thread safe but for start().
class Tracer {
 public:
  Tracer();
  ~Tracer();
  void start(TraceOptions options, const TraceSettings::Values& settings);  // throws Error(invalid_argument) for the URL
  // Sends what waits, for at most so long, and ends the thread.
  void stop(std::chrono::milliseconds patience);
  std::unique_ptr<RequestTrace> begin(const TraceOrigin& origin, const std::string& model, const std::string& version) noexcept;
  void end(std::unique_ptr<RequestTrace> trace) noexcept;

  const TraceOptions& options() const { return options_; }
  void update(const std::string& model, const TraceUpdate& update);  // as TraceSettings has it
  TraceSettings::Shown settings(const std::string& model) const { return settings_.get(model); }
  TraceCounts counts() const;

 private:
  struct Exporter;
  TraceOptions options_;
  TraceSettings settings_;
  std::atomic<bool> may_trace_ = false;  // whether any level was ever set: all that requests pay while there is none
  std::unique_ptr<Exporter> exporter_;
};
Tracer& tracer();  // of the process

}  // namespace tenfold::server
