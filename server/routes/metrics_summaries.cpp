// Metrics on request: Triton's summaries, and the names of text-embeddings-inference.
#include <cmath>
#include <tuple>

#include "observe/metrics_options.h"
#include "observe/prometheus_text.h"
#include "routes/metrics_parts.h"

namespace tenfold::server {
namespace {

struct SummaryFamily {
  const char *name, *help;
  DurationHistogram RequestHistograms::*histogram;
  DurationSum QueueStatistics::*sum;
};
constexpr SummaryFamily kSummaries[] = {
    {"nv_inference_request_summary_us", "Summary of inference request duration in microseconds (includes cached requests)",
     &RequestHistograms::request, &QueueStatistics::success},
    {"nv_inference_queue_summary_us", "Summary of inference queuing duration in microseconds (includes cached requests)",
     &RequestHistograms::queue, &QueueStatistics::queue},
    {"nv_inference_compute_input_summary_us", "Summary of compute input duration in microseconds (does not include cached requests)",
     &RequestHistograms::compute_input, &QueueStatistics::compute_input},
    {"nv_inference_compute_infer_summary_us", "Summary of compute inference duration in microseconds (does not include cached requests)",
     &RequestHistograms::compute_infer, &QueueStatistics::compute_infer},
    {"nv_inference_compute_output_summary_us",
     "Summary of inference compute output duration in microseconds (does not include cached requests)", &RequestHistograms::compute_output,
     &QueueStatistics::compute_output},
};

std::string quantile_label(double quantile) {
  std::string text = std::to_string(quantile);
  text.erase(text.find_last_not_of('0') + 1);
  return ",quantile=\"" + (text.ends_with('.') ? text + "0" : text) + "\"";
}

void add_counter(PrometheusText& text, const std::vector<SampledModel>& models, const char* name, const char* help,
                 std::uint64_t (*value)(const SampledModel&)) {
  text.family(name, "counter", help);
  for (const SampledModel& model : models) text.sample(name, model.labels, value(model));
}

constexpr double kSeconds = 1e-6;  // of a microsecond

// How many rows batches had: bounds of powers of 2.
DurationHistogram batch_sizes(const QueueStatistics& statistics) {
  DurationHistogram sizes;
  for (double bound = 1; bound <= 1024; bound *= 2) sizes.bounds_us.push_back(bound);
  sizes.counts.resize(sizes.bounds_us.size() + 1);
  for (const auto& [rows, of_size] : statistics.batches) {
    const auto place = static_cast<std::size_t>(std::ceil(std::log2(std::max<double>(static_cast<double>(rows), 1))));
    sizes.counts[std::min(place, sizes.bounds_us.size())] += of_size.compute_infer.count;
  }
  return sizes;
}

// Of models that take text.
void add_text_metrics(PrometheusText& text, const std::vector<SampledModel>& models) {
  std::vector<std::pair<std::string, TextCounts::Counts>> counts;
  for (const SampledModel& model : models)
    if (model.model && model.model->encoder()) counts.emplace_back(model.labels, model.model->texts()->get());
  using Counts = TextCounts::Counts;
  constexpr std::tuple<const char*, const char*, std::uint64_t Counts::*> kCounters[] = {
      {"te_embed_count", "Texts to be vectors", &Counts::embed},
      {"te_embed_success", "Texts that became vectors", &Counts::embed_success},
      {"te_predict_count", "Texts to be scored", &Counts::predict},
      {"te_predict_success", "Texts that were scored", &Counts::predict_success}};
  for (const auto& [name, help, member] : kCounters) {
    text.family(name, "counter", help);
    for (const auto& [labels, one] : counts) text.sample(name, labels, one.*member);
  }
  constexpr std::tuple<const char*, const char*, TextCounts::Histogram Counts::*, std::uint64_t, double> kHistograms[] = {
      {"te_request_input_length", "Tokens of texts", &Counts::lengths, 1000, 1},
      {"te_batch_next_tokens", "Tokens of batches", &Counts::batches, 1000, 1},
      {"te_request_tokenization_duration", "Seconds that texts of a request were tokenized", &Counts::tokenization, 1, kSeconds}};
  for (const auto& [name, help, member, to_sum, unit] : kHistograms) {
    text.family(name, "histogram", help);
    for (const auto& [labels, one] : counts) text.histogram(name, labels, (one.*member).counts, (one.*member).sum * to_sum, unit);
  }
}

}  // namespace

void add_summaries(PrometheusText& text, const std::vector<SampledModel>& models) {
  for (const SummaryFamily& family : kSummaries) {
    const std::string name = family.name;
    text.family(name, "summary", family.help);
    for (const SampledModel& model : models) {
      const DurationSum& sum = model.statistics.*family.sum;
      text.sample(name + "_count", model.labels, sum.count);
      text.sample(name + "_sum", model.labels, sum.ns / 1000);
      for (const double q : metrics_options().quantiles)
        text.sample(name, model.labels + quantile_label(q), (model.statistics.histograms.*family.histogram).quantile_us(q));
    }
  }
}

void add_tei_metrics(PrometheusText& text, const std::vector<SampledModel>& models) {
  add_counter(text, models, "te_request_count", "Requests", [](const SampledModel& m) { return m.statistics.received + m.refused; });
  add_counter(text, models, "te_request_success", "Requests that succeeded",
              [](const SampledModel& m) { return m.statistics.success.count; });
  text.family("te_request_failure", "counter", "Requests that failed, by why");
  for (const SampledModel& model : models) {
    text.sample("te_request_failure", model.labels + ",err=\"validation\"", model.refused);
    text.sample("te_request_failure", model.labels + ",err=\"overloaded\"", model.statistics.rejected);
    text.sample("te_request_failure", model.labels + ",err=\"dropped\"", model.statistics.cancelled);
    text.sample("te_request_failure", model.labels + ",err=\"backend\"", model.statistics.failed);
  }
  constexpr SummaryFamily kTimes[] = {
      {"te_request_duration", "Seconds that requests took", &RequestHistograms::request, &QueueStatistics::success},
      {"te_request_queue_duration", "Seconds that requests waited", &RequestHistograms::queue, &QueueStatistics::queue},
      {"te_request_inference_duration", "Seconds that the model ran", &RequestHistograms::compute_infer, &QueueStatistics::compute_infer},
  };
  for (const SummaryFamily& family : kTimes) {
    text.family(family.name, "histogram", family.help);
    for (const SampledModel& model : models)
      text.histogram(family.name, model.labels, model.statistics.histograms.*family.histogram, (model.statistics.*family.sum).ns, kSeconds);
  }
  text.family("te_batch_next_size", "histogram", "Rows of batches");
  for (const SampledModel& model : models)
    text.histogram("te_batch_next_size", model.labels, batch_sizes(model.statistics), model.statistics.inferences * 1000);
  text.family("te_queue_size", "gauge", "Requests that wait");
  for (const SampledModel& model : models) text.sample("te_queue_size", model.labels, model.statistics.waiting);
  add_text_metrics(text, models);
}

}  // namespace tenfold::server
