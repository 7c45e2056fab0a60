// Statistics as Triton's extension has them, and what Tenfold adds under "tenfold".
#include "protocol/json_text.h"
#include "routes/v2_routes.h"

namespace tenfold::server {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string duration(const char* name, const DurationSum& sum) {
  return "\"" + std::string(name) + "\":{\"count\":" + number(sum.count) + ",\"ns\":" + number(sum.ns) + "}";
}

std::string batches(const QueueStatistics& statistics) {
  std::string out;
  for (const auto& [rows, of_size] : statistics.batches)
    out += (out.empty() ? "{\"batch_size\":" : ",{\"batch_size\":") + std::to_string(rows) + "," +
           duration("compute_input", of_size.compute_input) + "," + duration("compute_infer", of_size.compute_infer) + "," +
           duration("compute_output", of_size.compute_output) + "}";
  return "[" + out + "]";
}

std::string closed(const QueueStatistics& statistics) {
  std::string out;
  for (std::size_t i = 0; i < kBatchClosedReasons; ++i)
    out += (out.empty() ? "\"" : ",\"") + std::string(tenfold::name(static_cast<BatchClosed>(i))) + "\":" + number(statistics.closed[i]);
  return "{" + out + "}";
}

std::string statistics_of(const Model& model) {
  const std::uint64_t refused = model.refused();
  const QueueStatistics s = model.queue().statistics();
  const auto last = std::chrono::duration_cast<std::chrono::milliseconds>(s.last_inference.time_since_epoch()).count();
  DurationSum failure = s.failure;
  failure.count += refused;
  return "{\"name\":" + json_string(model.name()) + ",\"version\":" + json_string(model.version()) + ",\"last_inference\":" +
         std::to_string(last) + ",\"inference_count\":" + number(s.inferences) + ",\"execution_count\":" + number(s.executions) +
         ",\"inference_stats\":{" + duration("success", s.success) + "," + duration("fail", failure) + "," + duration("queue", s.queue) +
         "," + duration("compute_input", s.compute_input) + "," + duration("compute_infer", s.compute_infer) + "," +
         duration("compute_output", s.compute_output) + "," +
         duration("cache_hit", s.cache_hit) + "," + duration("cache_miss", s.cache_miss) +
         "},\"batch_stats\":" + batches(s) + ",\"memory_usage\":[],\"tenfold\":{\"received\":" + number(s.received + refused) +
         ",\"waiting\":" + number(s.waiting) + ",\"refused\":" + number(refused) + ",\"failed\":" + number(s.failed) +
         ",\"rejected\":" + number(s.rejected) + ",\"cancelled\":" + number(s.cancelled) + ",\"batch_closed\":" + closed(s) + "}}";
}

}  // namespace

HttpResponse model_statistics(const std::vector<std::shared_ptr<Model>>& models) {
  std::string out;
  for (const auto& model : models) out += (out.empty() ? "" : ",") + statistics_of(*model);
  return json_response("{\"model_stats\":[" + out + "]}");
}

}  // namespace tenfold::server
