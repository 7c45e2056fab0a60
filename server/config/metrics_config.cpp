#include "config/metrics_config.h"

#include <string>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

struct Family {
  const char* name;
  std::vector<double> DurationBounds::*bounds;
  double microseconds;  // of the unit in which the family's bounds are
};
// The last one is Triton's only histogram. It has it for decoupled models alone; here it names the time of requests.
constexpr Family kFamilies[] = {{"tenfold_request_duration_us", &DurationBounds::request, 1},
                                {"tenfold_queue_duration_us", &DurationBounds::queue, 1},
                                {"tenfold_compute_input_duration_us", &DurationBounds::compute_input, 1},
                                {"tenfold_compute_infer_duration_us", &DurationBounds::compute_infer, 1},
                                {"tenfold_compute_output_duration_us", &DurationBounds::compute_output, 1},
                                {"nv_inference_first_response_histogram_ms", &DurationBounds::request, 1000}};

const Family& family_of(const std::string& name) {
  std::string known;
  for (const Family& family : kFamilies) {
    if (name == family.name) return family;
    known += (known.empty() ? "" : ", ") + std::string(family.name);
  }
  throw Error(ErrorKind::invalid_argument,
              "model_metrics.metric_control.metric_identifier.family '" + name + "' is no histogram of the server's: it has " + known);
}

}  // namespace

void set_metrics(const inference::ModelConfig& config, QueueOptions& queue) {
  for (const auto& control : config.model_metrics().metric_control()) {
    const Family& family = family_of(control.metric_identifier().family());
    std::vector<double> bounds;
    double last = 0;
    for (const double bucket : control.histogram_options().buckets()) {
      if (!(bucket > last))
        throw Error(ErrorKind::invalid_argument, "model_metrics: the buckets of '" + control.metric_identifier().family() +
                                                     "' must rise and lie above 0, but " + std::to_string(bucket) + " stands behind " +
                                                     std::to_string(last));
      bounds.push_back((last = bucket) * family.microseconds);
    }
    if (bounds.empty())
      throw Error(ErrorKind::invalid_argument,
                  "model_metrics: '" + control.metric_identifier().family() + "' has no histogram_options.buckets");
    queue.histogram_bounds.*family.bounds = std::move(bounds);
  }
}

}  // namespace tenfold::server
