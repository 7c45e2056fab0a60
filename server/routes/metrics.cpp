// The text of /metrics: Prometheus' text, with Triton's names, units and labels, and what Tenfold adds under `tenfold_`.
#include <algorithm>
#include <array>
#include <atomic>

#include "observe/metrics_options.h"
#include "observe/prometheus_text.h"
#include "routes/metrics_parts.h"

namespace tenfold::server {
namespace {

using S = const QueueStatistics&;

std::uint64_t us(const DurationSum& sum) { return sum.ns / 1000; }

struct Family {
  const char *name, *type, *help;
  std::uint64_t (*value)(S);
};

// Triton's, in its words.
constexpr Family kTriton[] = {
    {"nv_inference_request_success", "counter", "Number of successful inference requests, all batch sizes",
     [](S s) { return s.success.count; }},
    {"nv_inference_count", "counter", "Number of inferences performed (does not include cached requests)",
     [](S s) { return s.inferences; }},
    {"nv_inference_exec_count", "counter", "Number of model executions performed (does not include cached requests)",
     [](S s) { return s.executions; }},
    {"nv_inference_request_duration_us", "counter", "Cumulative inference request duration in microseconds (includes cached requests)",
     [](S s) { return us(s.success); }},
    {"nv_inference_queue_duration_us", "counter", "Cumulative inference queuing duration in microseconds (includes cached requests)",
     [](S s) { return us(s.queue); }},
    {"nv_inference_compute_input_duration_us", "counter",
     "Cumulative compute input duration in microseconds (does not include cached requests)", [](S s) { return us(s.compute_input); }},
    {"nv_inference_compute_infer_duration_us", "counter",
     "Cumulative compute inference duration in microseconds (does not include cached requests)", [](S s) { return us(s.compute_infer); }},
    {"nv_inference_compute_output_duration_us", "counter",
     "Cumulative inference compute output duration in microseconds (does not include cached requests)",
     [](S s) { return us(s.compute_output); }},
    {"nv_inference_pending_request_count", "gauge", "Instantaneous number of pending requests awaiting execution per-model.",
     [](S s) { return s.waiting; }},
};
constexpr Family kMemory = {"tenfold_model_memory_bytes", "gauge", "Memory that the model's instances held after their last runs",
                            [](S s) { return static_cast<std::uint64_t>(s.memory_bytes); }};

struct HistogramFamily {
  const char *name, *help;
  DurationHistogram RequestHistograms::*histogram;
  DurationSum QueueStatistics::*sum;
};
constexpr HistogramFamily kHistograms[] = {
    {"tenfold_request_duration_us", "Duration of requests that succeeded, in microseconds", &RequestHistograms::request,
     &QueueStatistics::success},
    {"tenfold_queue_duration_us", "How long requests waited in the queue, in microseconds", &RequestHistograms::queue,
     &QueueStatistics::queue},
    {"tenfold_compute_input_duration_us", "How long the copy of inputs took, in microseconds", &RequestHistograms::compute_input,
     &QueueStatistics::compute_input},
    {"tenfold_compute_infer_duration_us", "How long the run of the model took, in microseconds", &RequestHistograms::compute_infer,
     &QueueStatistics::compute_infer},
    {"tenfold_compute_output_duration_us", "How long the copy of outputs took, in microseconds", &RequestHistograms::compute_output,
     &QueueStatistics::compute_output},
};

void add(PrometheusText& text, const std::vector<SampledModel>& models, const Family& family) {
  text.family(family.name, family.type, family.help);
  for (const SampledModel& model : models) text.sample(family.name, model.labels, family.value(model.statistics));
}

void add_failures(PrometheusText& text, const std::vector<SampledModel>& models) {
  text.family("nv_inference_request_failure", "counter", "Number of failed inference requests, all batch sizes");
  for (const SampledModel& model : models) {
    const std::array<std::pair<const char*, std::uint64_t>, 4> reasons = {{{"reason=\"REJECTED\"", model.statistics.rejected},
                                                                           {"reason=\"CANCELED\"", model.statistics.cancelled},
                                                                           {"reason=\"BACKEND\"", model.statistics.failed},
                                                                           {"reason=\"OTHER\"", model.refused}}};
    for (const auto& [reason, count] : reasons) text.sample("nv_inference_request_failure", model.labels, reason, count);
  }
}

void add_received(PrometheusText& text, const std::vector<SampledModel>& models) {
  text.family("tenfold_request_received_total", "counter", "Requests to the model: those that succeeded, failed, and are under way");
  for (const SampledModel& model : models)
    text.sample("tenfold_request_received_total", model.labels, model.statistics.received + model.refused);
}

void add_closed(PrometheusText& text, const std::vector<SampledModel>& models) {
  text.family("tenfold_batch_closed_total", "counter", "Batches by why they took no more requests");
  std::array<std::string, kBatchClosedReasons> reasons;
  for (std::size_t i = 0; i < kBatchClosedReasons; ++i)
    reasons[i] = "reason=\"" + std::string(tenfold::name(static_cast<BatchClosed>(i))) + "\"";
  for (const SampledModel& model : models)
    for (std::size_t i = 0; i < kBatchClosedReasons; ++i)
      text.sample("tenfold_batch_closed_total", model.labels, reasons[i], model.statistics.closed[i]);
}

void add_fallbacks(PrometheusText& text, const std::vector<SampledModel>& models) {
  text.family("tenfold_fallback", "counter", "Requests that another engine answered because theirs failed");
  for (const SampledModel& model : models)
    for (const FallbackCount& fallback : model.fallbacks)
      text.sample("tenfold_fallback", model.labels,
                  "from=\"" + label_value(fallback.from) + "\",to=\"" + label_value(fallback.to) + "\",reason=\"" +
                      label_value(fallback.reason) + "\"",
                  fallback.requests);
}

// Of models whose answers are cached, as Triton has them.
constexpr Family kCache[] = {
    {"nv_cache_num_hits_per_model", "counter", "Number of cache hits per model", [](S s) { return s.cache_hit.count; }},
    {"nv_cache_hit_duration_per_model", "counter", "Total cache hit duration per model, in microseconds",
     [](S s) { return us(s.cache_hit); }},
    {"nv_cache_num_misses_per_model", "counter", "Number of cache misses per model", [](S s) { return s.cache_miss.count; }},
    {"nv_cache_miss_duration_per_model", "counter", "Total cache miss (insert+lookup) duration per model, in microseconds",
     [](S s) { return us(s.cache_miss); }},
};

void add_cache(PrometheusText& text, const std::vector<SampledModel>& models) {
  const auto is_cached = [](const SampledModel& model) { return model.cached; };
  if (std::none_of(models.begin(), models.end(), is_cached)) return;
  for (const Family& family : kCache) {
    text.family(family.name, family.type, family.help);
    for (const SampledModel& model : models)
      if (model.cached) text.sample(family.name, model.labels, family.value(model.statistics));
  }
}

void add_histograms(PrometheusText& text, const std::vector<SampledModel>& models) {
  for (const HistogramFamily& family : kHistograms) {
    text.family(family.name, "histogram", family.help);
    for (const SampledModel& model : models)
      text.histogram(family.name, model.labels, model.statistics.histograms.*family.histogram, (model.statistics.*family.sum).ns);
  }
}

}  // namespace

std::string metrics_text(const std::vector<SampledModel>& models) {
  static std::atomic<std::size_t> last_bytes = 0;  // so that a text is not copied while it grows
  PrometheusText text(last_bytes + 4096);
  for (const Family& family : kTriton) add(text, models, family);
  add_failures(text, models);
  add_received(text, models);
  add_closed(text, models);
  add_fallbacks(text, models);
  add_cache(text, models);
  add_histograms(text, models);
  add(text, models, kMemory);
  if (metrics_options().summaries) add_summaries(text, models);
  if (metrics_options().tei) add_tei_metrics(text, models);
  add_server_metrics(text);
  std::string taken = text.take();
  last_bytes = taken.size();
  return taken;
}

}  // namespace tenfold::server
