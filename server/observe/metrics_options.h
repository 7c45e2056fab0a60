// What of metrics was asked for beside those that are always there.
#pragma once

#include <vector>

namespace tenfold::server {

struct MetricsOptions {
  bool summaries = false;  // nv_inference_*_summary_us
  std::vector<double> quantiles = {0.5, 0.9, 0.95, 0.99, 0.999};
  bool tei = false;  // te_*
  bool gpu = true, cpu = true;
};
inline MetricsOptions& metrics_options() {  // of the process; set before the first request
  static MetricsOptions options;
  return options;
}

}  // namespace tenfold::server
