#include "observe/otlp.h"

#include <algorithm>

#include "observe/json_string.h"
#include "tenfold/version.h"

namespace tenfold::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kInternal = 1, kServer = 2;  // kinds of spans

// In the clock of the world, as a string: JSON's numbers do not hold 64 bits.
std::string unix_ns(Clock::time_point at) {
  using std::chrono::nanoseconds;
  static const nanoseconds offset =
      nanoseconds(std::chrono::system_clock::now().time_since_epoch()) - nanoseconds(Clock::now().time_since_epoch());
  return "\"" + std::to_string((nanoseconds(at.time_since_epoch()) + offset).count()) + "\"";
}

std::string text(std::string_view key, std::string_view value) {
  return "{\"key\":" + json_string(key) + ",\"value\":{\"stringValue\":" + json_string(value) + "}}";
}
std::string number(std::string_view key, std::int64_t value) {
  return "{\"key\":" + json_string(key) + ",\"value\":{\"intValue\":\"" + std::to_string(value) + "\"}}";
}
std::string event(const char* name, Clock::time_point at) {
  return std::string("{\"name\":\"") + name + "\",\"timeUnixNano\":" + unix_ns(at) + "}";
}

struct Span {
  std::string name, parent;  // the parent's number, empty: none
  TraceContext context;
  int kind = kInternal;
  Clock::time_point start, end;
  std::string attributes, events, links;  // of JSON arrays, without brackets
  std::string error, state;
};

void append(std::string& out, const Span& span) {
  if (!out.empty()) out += ',';
  out += "{\"traceId\":\"" + hex(span.context.trace) + "\",\"spanId\":\"" + hex(span.context.span) + "\"";
  if (!span.parent.empty()) out += ",\"parentSpanId\":\"" + span.parent + "\"";
  if (!span.state.empty()) out += ",\"traceState\":" + json_string(span.state);
  out += ",\"name\":" + json_string(span.name) + ",\"kind\":" + std::to_string(span.kind) +
         ",\"startTimeUnixNano\":" + unix_ns(span.start) + ",\"endTimeUnixNano\":" + unix_ns(span.end);
  if (!span.attributes.empty()) out += ",\"attributes\":[" + span.attributes + "]";
  if (!span.events.empty()) out += ",\"events\":[" + span.events + "]";
  if (!span.links.empty()) out += ",\"links\":[" + span.links + "]";
  out += span.error.empty() ? ",\"status\":{}}" : ",\"status\":{\"code\":2,\"message\":" + json_string(span.error) + "}}";
}

std::string model_attributes(const RequestTrace& trace) {
  return text("triton.model_name", trace.model) + "," + text("triton.model_version", trace.version);
}

TraceContext batch_of(const RequestTrace& trace) {
  return batch_context(trace.model, trace.version, trace.run->start.time_since_epoch().count());
}

void add_compute(std::string& out, const RequestTrace& trace, const Span& model) {
  const BatchRun& run = *trace.run;
  const TraceContext batch = batch_of(trace);
  Span compute{"compute", hex(model.context.span), trace.request, kInternal, run.start, run.end, {}, {}, {}, {}, trace.tracestate};
  compute.context.span = new_span();
  compute.events = event("COMPUTE_START", run.start) + "," + event("COMPUTE_INPUT_END", run.compute_start) + "," +
                   event("COMPUTE_OUTPUT_START", run.compute_end) + "," + event("COMPUTE_END", run.end);
  compute.links = "{\"traceId\":\"" + hex(batch.trace) + "\",\"spanId\":\"" + hex(batch.span) + "\"}";
  append(out, compute);
}

void add_request(std::string& out, const RequestTrace& trace) {
  Span request{"InferRequest",
               trace.parent ? hex(trace.parent->span) : "",
               trace.request,
               kServer,
               trace.received,
               trace.end,
               {},
               {},
               {},
               trace.error,
               trace.tracestate};
  request.attributes = text("rpc.system", trace.protocol);
  request.events = event("INFER_RESPONSE_COMPLETE", trace.end);
  append(out, request);
  Span model{trace.model, hex(trace.request.span), trace.request, kInternal, trace.queued, trace.end, model_attributes(trace), {}, {},
             trace.error, trace.tracestate};
  model.context.span = new_span();
  if (!trace.id.empty()) model.attributes += "," + text("triton.request_id", trace.id);
  model.events = event("REQUEST_START", trace.queued) + "," + event("QUEUE_START", trace.queued) + "," + event("REQUEST_END", trace.end);
  append(out, model);
  if (trace.run) add_compute(out, trace, model);
}

}  // namespace

OtlpSpans::OtlpSpans(const std::map<std::string, std::string>& resource) {
  resource_ =
      text("telemetry.sdk.name", "tenfold") + "," + text("telemetry.sdk.language", "cpp") + "," + text("service.version", version());
  for (const auto& [key, value] : resource) resource_ += "," + text(key, value);
}

void OtlpSpans::add_batch(std::string& out, const RequestTrace& trace) {
  constexpr std::size_t kRemembered = 1024;
  const std::int64_t start = trace.run->start.time_since_epoch().count();
  if (std::find(batches_.begin(), batches_.end(), start) != batches_.end()) return;
  batches_.push_back(start);
  if (batches_.size() > kRemembered) batches_.pop_front();
  Span batch{"batch", "", batch_of(trace), kInternal, trace.run->start, trace.run->end, model_attributes(trace), {}, {}, {}, {}};
  batch.attributes += "," + number("tenfold.batch.requests", trace.run->requests) + "," + number("tenfold.batch.rows", trace.run->rows);
  append(out, batch);
}

std::string OtlpSpans::json(const std::deque<std::unique_ptr<RequestTrace>>& traces) {
  std::string spans;
  for (const auto& trace : traces) {
    add_request(spans, *trace);
    if (trace->run) add_batch(spans, *trace);
  }
  return "{\"resourceSpans\":[{\"resource\":{\"attributes\":[" + resource_ +
         "]},\"scopeSpans\":[{\"scope\":{\"name\":\"tenfold-server\"},"
         "\"spans\":[" +
         spans + "]}]}]}";
}

}  // namespace tenfold::server
