// Statistics as Triton's extension has them, and what Tenfold adds under "tenfold".
#include "observe/json_writer.h"
#include "protocol/json_text.h"
#include "routes/v2_routes.h"

namespace tenfold::server {
namespace {

std::string duration(const DurationSum& sum) { return JsonObject().add("count", sum.count).add("ns", sum.ns).text(); }

std::string batches(const QueueStatistics& statistics) {
  JsonList out;
  for (const auto& [rows, of_size] : statistics.batches)
    out.add(JsonObject()
                .add("batch_size", rows)
                .raw("compute_input", duration(of_size.compute_input))
                .raw("compute_infer", duration(of_size.compute_infer))
                .raw("compute_output", duration(of_size.compute_output)));
  return out.text();
}

std::string inferences(const QueueStatistics& s, std::uint64_t refused) {
  DurationSum failure = s.failure;
  failure.count += refused;
  return JsonObject()
      .raw("success", duration(s.success))
      .raw("fail", duration(failure))
      .raw("queue", duration(s.queue))
      .raw("compute_input", duration(s.compute_input))
      .raw("compute_infer", duration(s.compute_infer))
      .raw("compute_output", duration(s.compute_output))
      .raw("cache_hit", duration(s.cache_hit))
      .raw("cache_miss", duration(s.cache_miss))
      .text();
}

std::string own(const QueueStatistics& s, std::uint64_t refused) {
  return JsonObject()
      .add("received", s.received + refused)
      .add("waiting", s.waiting)
      .add("refused", refused)
      .add("failed", s.failed)
      .add("rejected", s.rejected)
      .add("cancelled", s.cancelled)
      .raw("batch_closed", batches_closed(s))
      .text();
}

JsonObject statistics_of(const Model& model) {
  const std::uint64_t refused = model.refused();
  const QueueStatistics s = model.queue().statistics();
  return JsonObject()
      .add("name", model.name())
      .add("version", model.version())
      .add("last_inference", std::chrono::duration_cast<std::chrono::milliseconds>(s.last_inference.time_since_epoch()).count())
      .add("inference_count", s.inferences)
      .add("execution_count", s.executions)
      .raw("inference_stats", inferences(s, refused))
      .raw("batch_stats", batches(s))
      .raw("memory_usage", "[]")
      .raw("tenfold", own(s, refused));
}

}  // namespace

std::string batches_closed(const QueueStatistics& statistics) {
  JsonObject out;
  for (std::size_t i = 0; i < kBatchClosedReasons; ++i) out.add(tenfold::name(static_cast<BatchClosed>(i)), statistics.closed[i]);
  return out.text();
}

HttpResponse model_statistics(const std::vector<std::shared_ptr<Model>>& models) {
  JsonList out;
  for (const auto& model : models) out.add(statistics_of(*model));
  return json_response(JsonObject().raw("model_stats", out.text()).text());
}

}  // namespace tenfold::server
