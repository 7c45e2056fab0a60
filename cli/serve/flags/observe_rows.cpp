// The rows of `tenfold serve`'s flags that are about metrics, logs and traces.
#include "serve/flags/rows.h"

namespace tenfold::cli {
namespace {

// NAME=VALUE, or SECTION,NAME=VALUE.
Setting setting(const std::string& flag, const std::string& text) {
  const std::size_t equals = text.find('='), comma = text.substr(0, equals).find(',');
  if (equals == std::string::npos || equals == 0)
    throw UsageError("--" + flag + " takes NAME=VALUE or SECTION,NAME=VALUE, not '" + text + "'");
  Setting made;
  if (comma != std::string::npos) made.section = text.substr(0, comma);
  const std::size_t start = comma == std::string::npos ? 0 : comma + 1;
  made.name = text.substr(start, equals - start), made.value = text.substr(equals + 1);
  return made;
}

void add_trace_row(Flags& flags, ObserveFlags& options) {
  flags.add({"trace-config", "[SECTION,]NAME=VALUE",
             "spans of requests for OpenTelemetry: level=TIMESTAMPS, rate=N, count=N, opentelemetry,url=HOST:PORT/PATH; may be given "
             "several times",
             [&options](const std::string& text) {
               const Setting one = setting("trace-config", text);
               if ((one.section.empty() && one.name == "mode" && one.value != "opentelemetry") || one.section == "triton")
                 throw UsageError("--trace-config=" + text + ": this server writes no trace files; take mode=opentelemetry and "
                                  "opentelemetry,url=HOST:PORT/PATH");
               options.trace.push_back(one);
             }});
}

void add_log_rows(Flags& flags, ObserveFlags& options) {
  add_choice(flags, "log-format", options.log_format, {"default", "ISO8601", "json"}, "default: as Triton's lines");
  flags.add_text("log-file", options.log_file, "FILE", "where lines go, behind what is there; default: stderr");
  add_bool(flags, "log-info", options.log_info, "whether lines that inform are written (true)");
  add_bool(flags, "log-warning", options.log_warning, "whether warnings are written (true)");
  add_bool(flags, "log-error", options.log_error, "whether errors are written (true)");
  add_number(flags, "log-verbose", options.log_verbose, 0, 1000, "1: a line for each request; 0: none (0)");
}

}  // namespace

void add_observe_rows(Flags& flags, ObserveFlags& options) {
  flags.group("Logs, metrics, traces");
  add_log_rows(flags, options);
  add_bool(flags, "allow-gpu-metrics", options.gpu_metrics, "whether metrics have the GPUs' state (true)");
  add_bool(flags, "allow-cpu-metrics", options.cpu_metrics, "whether metrics have the CPU's state (true)");
  add_number(flags, "metrics-interval-ms", options.metrics_interval_ms, 1, 3'600'000, "how often GPUs and CPU are looked at (2000)");
  flags.add({"metrics-config", "NAME=VALUE",
             "summary_latencies=true: quantiles beside the histograms; tei=true: also the names of text-embeddings-inference; may be given "
             "several times",
             [&options](const std::string& text) { options.metrics.push_back(setting("metrics-config", text)); }});
  add_trace_row(flags, options);
}

}  // namespace tenfold::cli
