// The parts of /metrics, a file each, and the statistics of all models at one moment, which /ui shows, too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/models.h"
#include "observe/prometheus_text.h"

namespace tenfold::server {

struct SampledModel {
  std::string labels;  // of Prometheus, without braces
  QueueStatistics statistics;
  std::uint64_t refused = 0;
  std::vector<FallbackCount> fallbacks;
  bool cached = false;                           // whether its answers are
  std::shared_ptr<const Model> model;
};
std::vector<SampledModel> sample_models(const Models& models);

std::string metrics_text(const std::vector<SampledModel>& models);
void add_server_metrics(PrometheusText& text);
// nv_inference_*_summary_us. Triton's quantiles are of the last minute; these are of all requests, out of the histograms.
void add_summaries(PrometheusText& text, const std::vector<SampledModel>& models);
// te_*: the names of text-embeddings-inference, in seconds.
void add_tei_metrics(PrometheusText& text, const std::vector<SampledModel>& models);

}  // namespace tenfold::server
