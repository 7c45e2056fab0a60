// Metrics of the server and its machine, which are no model's.
#include "observe/machine_gauges.h"
#include "observe/metrics_options.h"
#include "observe/prometheus_text.h"
#include "observe/request_counts.h"
#include "observe/tracer.h"
#include "routes/metrics_parts.h"
#include "tenfold/version.h"

namespace tenfold::server {
namespace {

void add_gauge(PrometheusText& text, const char* name, const char* help, double value) {
  text.family(name, "gauge", help);
  text.sample(name, "", value);
}

struct GpuFamily {
  const char *name, *type, *help;
  std::optional<double> (*value)(const GpuGauges&);
};
std::optional<double> number(const std::optional<std::uint64_t>& value) {
  return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}
constexpr GpuFamily kGpu[] = {
    {"nv_gpu_utilization", "gauge", "GPU utilization rate [0.0 - 1.0)", [](const GpuGauges& g) { return g.utilization; }},
    {"nv_gpu_memory_total_bytes", "gauge", "GPU total memory, in bytes", [](const GpuGauges& g) { return number(g.memory_total); }},
    {"nv_gpu_memory_used_bytes", "gauge", "GPU used memory, in bytes", [](const GpuGauges& g) { return number(g.memory_used); }},
    {"nv_gpu_power_usage", "gauge", "GPU power usage in watts", [](const GpuGauges& g) { return g.power_watts; }},
    {"nv_gpu_power_limit", "gauge", "GPU power management limit in watts", [](const GpuGauges& g) { return g.power_limit_watts; }},
    {"nv_energy_consumption", "counter", "GPU energy consumption in joules since the Triton Server started",
     [](const GpuGauges& g) { return g.energy_joules; }},
    {"tenfold_gpu_temperature_celsius", "gauge", "Temperature of the GPU", [](const GpuGauges& g) { return g.celsius; }},
};

void add_gpus(PrometheusText& text, const std::vector<GpuGauges>& gpus) {
  for (const GpuFamily& family : kGpu) {
    bool named = false;
    for (const GpuGauges& gpu : gpus) {
      const std::optional<double> value = family.value(gpu);
      if (!value) continue;
      if (!named) text.family(family.name, family.type, family.help);
      named = true;
      text.sample(family.name, "gpu_uuid=\"" + label_value(gpu.uuid) + "\"", *value);
    }
  }
}

void add_requests(PrometheusText& text) {
  text.family("tenfold_request_unassigned_total", "counter", "Requests for inference that are no model's, by why");
  for (std::size_t i = 0; i < kUnassignedNames.size(); ++i)
    text.sample("tenfold_request_unassigned_total", "reason=\"" + std::string(kUnassignedNames[i]) + "\"",
                request_counts().unassigned[i].load());
  text.family("tenfold_response_unwritten_total", "counter", "Answers of models that cannot be written in the form that was asked for");
  text.sample("tenfold_response_unwritten_total", "", request_counts().unwritten.load());
}

void add_traces(PrometheusText& text) {
  const TraceCounts counts = tracer().counts();
  text.family("tenfold_trace_exported_total", "counter", "Requests whose spans the collector took");
  text.sample("tenfold_trace_exported_total", "", counts.exported);
  text.family("tenfold_trace_dropped_total", "counter", "Requests whose spans were dropped, by why");
  text.sample("tenfold_trace_dropped_total", "reason=\"queue_full\"", counts.queue_full);
  text.sample("tenfold_trace_dropped_total", "reason=\"export_failed\"", counts.export_failed);
}

}  // namespace

void add_server_metrics(PrometheusText& text) {
  const MachineGauges gauges = machine_sampler().get();
  // There is no such pool: results of GPUs come to memory of each instance's own.
  add_gauge(text, "nv_pinned_memory_pool_total_bytes", "Pinned memory pool total memory size, in bytes", 0);
  add_gauge(text, "nv_pinned_memory_pool_used_bytes", "Pinned memory pool used memory size, in bytes", 0);
  if (gauges.cpu) {
    add_gauge(text, "nv_cpu_utilization", "CPU utilization rate [0.0 - 1.0]", gauges.cpu->utilization);
    add_gauge(text, "nv_cpu_memory_total_bytes", "CPU total memory (RAM), in bytes", static_cast<double>(gauges.cpu->memory_total));
    add_gauge(text, "nv_cpu_memory_used_bytes", "CPU used memory (RAM), in bytes", static_cast<double>(gauges.cpu->memory_used));
  }
  add_gpus(text, gauges.gpus);
  add_requests(text);
  add_traces(text);
  text.family("tenfold_worker_starts_total", "counter", "Workers that this server has started, the one that answers among them");
  text.sample("tenfold_worker_starts_total", "", request_counts().worker_starts.load());
  text.family("tenfold_build_info", "gauge", "1; the version is a label");
  text.sample("tenfold_build_info", "version=\"" + label_value(version()) + "\"", std::uint64_t{1});
}

}  // namespace tenfold::server
