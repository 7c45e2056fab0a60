#include "config/observe_options.h"

#include "observe/log.h"
#include "observe/machine_gauges.h"
#include "observe/metrics_options.h"
#include "observe/tracer.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

using cli::Setting;

[[noreturn]] void refuse(const char* flag, const Setting& setting, const std::string& why) {
  throw cli::UsageError(std::string("--") + flag + "=" + (setting.section.empty() ? "" : setting.section + ",") + setting.name + "=" +
                        setting.value + ": " + why);
}

bool truth(const char* flag, const Setting& setting) {
  if (setting.value == "true" || setting.value == "1") return true;
  if (setting.value == "false" || setting.value == "0") return false;
  refuse(flag, setting, "it takes true or false");
}

std::vector<double> quantiles(const Setting& setting) {
  std::vector<double> values;
  std::string rest = setting.value;
  while (!rest.empty()) {
    const std::string one = rest.substr(0, rest.find(','));
    rest = one.size() == rest.size() ? "" : rest.substr(one.size() + 1);
    // Triton's pairs have the error that is allowed behind a colon, which histograms do not need.
    const double value = cli::parse_number("metrics-config=summary_quantiles", one.substr(0, one.find(':')), 0);
    if (value > 1) refuse("metrics-config", setting, "quantiles lie between 0 and 1");
    values.push_back(value);
  }
  return values;
}

void set_metrics(const cli::ObserveFlags& flags) {
  constexpr const char* kFlag = "metrics-config";
  MetricsOptions& options = metrics_options();
  options.gpu = flags.gpu_metrics, options.cpu = flags.cpu_metrics;
  for (const Setting& one : flags.metrics) {
    if (one.name == "summary_latencies")
      options.summaries = truth(kFlag, one);
    else if (one.name == "summary_quantiles")
      options.quantiles = quantiles(one);
    else if (one.name == "tei")
      options.tei = truth(kFlag, one);
    else if (one.name != "counter_latencies" && one.name != "histogram_latencies")
      refuse(kFlag, one, "it takes summary_latencies, summary_quantiles, tei; counters and histograms are always on");
    else if (!truth(kFlag, one))
      refuse(kFlag, one, "counters and histograms are always on");
  }
}

void set_exporter(TraceOptions& options, const Setting& one) {
  const auto number = [&](int min) { return cli::parse_int("trace-config=opentelemetry," + one.name, one.value, min); };
  if (one.name == "url") {
    options.url = one.value;
  } else if (one.name == "resource") {
    const std::size_t equals = one.value.find('=');
    if (equals == std::string::npos) refuse("trace-config", one, "it takes resource=NAME=VALUE");
    options.resource[one.value.substr(0, equals)] = one.value.substr(equals + 1);
  } else if (one.name == "bsp_max_queue_size") {
    options.queue = static_cast<std::size_t>(number(1));
  } else if (one.name == "bsp_max_export_batch_size") {
    options.batch = static_cast<std::size_t>(number(1));
  } else if (one.name == "bsp_schedule_delay") {
    options.delay = std::chrono::milliseconds(number(0));
  } else {
    refuse("trace-config", one, "opentelemetry takes url, resource, bsp_max_queue_size, bsp_max_export_batch_size, bsp_schedule_delay");
  }
}

void start_traces(const cli::ObserveFlags& flags) {
  TraceOptions options;
  TraceSettings start;
  for (const Setting& one : flags.trace) {
    if (one.section == "opentelemetry") {
      set_exporter(options, one);
    } else if (!one.section.empty()) {
      refuse("trace-config", one, "the section is opentelemetry");
    } else if (one.name == "level" || one.name == "rate" || one.name == "count") {
      start.update("", {{"trace_" + one.name, {one.value}}});
    } else if (one.name != "mode") {
      refuse("trace-config", one, "it takes mode, level, rate, count, and opentelemetry,url");
    }
  }
  options.batch = std::min(options.batch, options.queue);
  const TraceSettings::Shown shown = start.get("");
  tracer().start(std::move(options), {shown.timestamps, shown.rate, shown.count});
}

}  // namespace

void set_log_options(const cli::ObserveFlags& flags) {
  set_log_settings({flags.log_info, flags.log_warning, flags.log_error, flags.log_verbose, log_format(flags.log_format), flags.log_file});
}

Observing::Observing(const cli::ObserveFlags& flags) {
  set_log_options(flags);
  set_metrics(flags);
  try {
    start_traces(flags);
  } catch (const Error& error) {
    throw cli::UsageError(std::string("--trace-config: ") + error.what());
  }
  machine_sampler().start(std::chrono::milliseconds(flags.metrics_interval_ms), flags.cpu_metrics, flags.gpu_metrics);
}

Observing::~Observing() {
  constexpr std::chrono::seconds kPatience{2};
  machine_sampler().stop();
  tracer().stop(kPatience);
}

}  // namespace tenfold::server
