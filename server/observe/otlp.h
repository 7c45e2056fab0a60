// OTLP in JSON, and its way to a collector.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "observe/tracer.h"

namespace tenfold::server {

// Spans of requests, named as Triton names them: InferRequest, the model's name, compute; and one for each batch, to which compute is
// linked.
class OtlpSpans {
 public:
  explicit OtlpSpans(const std::map<std::string, std::string>& resource);
  std::string json(const std::deque<std::unique_ptr<RequestTrace>>& traces);  // an ExportTraceServiceRequest

 private:
  void add_batch(std::string& out, const RequestTrace& trace);

  std::string resource_;
  std::deque<std::int64_t> batches_;  // when those that were written began: each is a span once
};

struct TraceUrl {
  std::string host, port, path;
};
// "localhost:4318/v1/traces", also with "http://" in front. Throws Error(invalid_argument).
TraceUrl parse_trace_url(const std::string& url);
// Why it failed; empty: the collector took it. It takes 10 s at most, and does not go on beyond `until`, which may come nearer meanwhile.
std::string post_json(const TraceUrl& url, const std::string& body, const std::atomic<std::chrono::steady_clock::time_point>& until);

}  // namespace tenfold::server
