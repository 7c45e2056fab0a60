// GET /ui: a page that shows the models, and /ui/data, which it reads again and again.
#include "observe/machine_gauges.h"
#include "observe/page_files.h"
#include "observe/request_counts.h"
#include "protocol/json_text.h"
#include "routes/metrics_parts.h"
#include "routes/v2_routes.h"
#include "tenfold/version.h"

namespace tenfold::server {
namespace {

using Clock = std::chrono::steady_clock;

std::string list(const std::vector<std::string>& elements) {
  std::string out = "[";
  for (const std::string& element : elements) out += (out.size() > 1 ? "," : "") + element;
  return out + "]";
}

std::string number(double value) {
  char text[32];
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%.6g", value))};
}

std::string precision(const Model& model) {
  const BuildConfig& build = model.options().served.build;
  return build.auto_precision ? "auto" : build.fp16 ? "fp16" : build.bf16 ? "bf16" : build.tf32 ? "tf32" : "fp32";
}

// With the first and the last bound, below and above which nothing is known.
std::string quantiles(const DurationHistogram& histogram) {
  return "{\"p50\":" + number(histogram.quantile_us(0.5)) + ",\"p99\":" + number(histogram.quantile_us(0.99)) +
         ",\"first\":" + number(histogram.bounds_us.front()) + ",\"last\":" + number(histogram.bounds_us.back()) + "}";
}

std::string times(const RequestHistograms& histograms) {
  std::string out;
  constexpr std::pair<const char*, DurationHistogram RequestHistograms::*> kTimes[] = {{"request", &RequestHistograms::request},
                                                                                       {"queue", &RequestHistograms::queue},
                                                                                       {"input", &RequestHistograms::compute_input},
                                                                                       {"infer", &RequestHistograms::compute_infer},
                                                                                       {"output", &RequestHistograms::compute_output}};
  for (const auto& [name, histogram] : kTimes) {
    out += (out.empty() ? "{\"" : ",\"") + std::string(name);
    out += "\":" + quantiles(histograms.*histogram);
  }
  return out + "}";
}

std::string closed(const QueueStatistics& statistics) {
  std::string out;
  for (std::size_t i = 0; i < kBatchClosedReasons; ++i)
    out += (out.empty() ? "{\"" : ",\"") + std::string(tenfold::name(static_cast<BatchClosed>(i))) +
           "\":" + std::to_string(statistics.closed[i]);
  return out + "}";
}

std::string errors(const Model& model) {
  std::vector<std::string> out;
  const auto now = std::chrono::system_clock::now();
  for (const LastErrors::Row& row : model.errors().get())
    out.push_back("{\"message\":" + json_string(row.message) + ",\"count\":" + std::to_string(row.count) +
                  ",\"age_s\":" + number(std::chrono::duration<double>(now - row.last).count()) + "}");
  return list(out);
}

std::string fallbacks(const SampledModel& model) {
  std::vector<std::string> out;
  for (const FallbackCount& fallback : model.fallbacks)
    out.push_back("{\"from\":" + json_string(fallback.from) + ",\"to\":" + json_string(fallback.to) +
                  ",\"reason\":" + json_string(fallback.reason) + ",\"count\":" + std::to_string(fallback.requests) + "}");
  return list(out);
}

// Versions that do not serve, and why.
std::string others(const Models& models) {
  std::vector<std::string> out;
  for (const IndexRow& row : models.index())
    if (row.state != ModelState::ready)
      out.push_back("{\"name\":" + json_string(row.name) + ",\"version\":" + json_string(row.version) +
                    ",\"state\":" + json_string(name(row.state)) + ",\"reason\":" + json_string(row.reason) + "}");
  return list(out);
}

std::string devices(const Model& model) {
  std::vector<std::string> names;
  for (const std::string& device : model.devices()) names.push_back(json_string(device));
  return list(names);
}

std::string model_json(const SampledModel& sampled, bool ready) {
  const QueueStatistics& s = sampled.statistics;
  const auto count = [](const char* name, std::uint64_t value) { return std::string(",\"") + name + "\":" + std::to_string(value); };
  const Model& model = *sampled.model;
  return "{\"name\":" + json_string(model.name()) + ",\"version\":" + json_string(model.version()) + ",\"state\":\"" +
         (ready ? "ready" : "not ready") + "\",\"devices\":" + devices(model) + ",\"precision\":\"" + precision(model) + "\"" +
         count("max_batch", static_cast<std::uint64_t>(model.max_batch())) + count("waiting", s.waiting) +
         count("max_waiting", model.options().queue.max_requests) + count("received", s.received + sampled.refused) +
         count("succeeded", s.success.count) + count("refused", sampled.refused) + count("rejected", s.rejected) +
         count("cancelled", s.cancelled) + count("failed", s.failed) + count("inferences", s.inferences) +
         count("executions", s.executions) + count("memory_bytes", static_cast<std::uint64_t>(s.memory_bytes)) +
         ",\"times_us\":" + times(s.histograms) + ",\"closed\":" + closed(s) + ",\"fallbacks\":" + fallbacks(sampled) +
         ",\"errors\":" + errors(model) + "}";
}

std::string gpu_json(const GpuGauges& gpu) {
  std::string out = "{\"uuid\":" + json_string(gpu.uuid);
  if (gpu.utilization) out += ",\"utilization\":" + number(*gpu.utilization);
  if (gpu.memory_used) out += ",\"memory_used\":" + std::to_string(*gpu.memory_used);
  if (gpu.memory_total) out += ",\"memory_total\":" + std::to_string(*gpu.memory_total);
  if (gpu.power_watts) out += ",\"power_watts\":" + number(*gpu.power_watts);
  if (gpu.celsius) out += ",\"celsius\":" + number(*gpu.celsius);
  return out + "}";
}

HttpResponse ui_data(const Models& models, Clock::time_point started) {
  std::vector<std::string> rows, gpus;
  for (const SampledModel& sampled : sample_models(models)) rows.push_back(model_json(sampled, models.ready()));
  const MachineGauges machine = machine_sampler().get();
  for (const GpuGauges& gpu : machine.gpus) gpus.push_back(gpu_json(gpu));
  std::uint64_t unassigned = 0;
  for (const auto& count : request_counts().unassigned) unassigned += count;
  std::string json = "{\"version\":" + json_string(version()) + ",\"ready\":" + (models.ready() ? "true" : "false") +
                     ",\"uptime_s\":" + number(std::chrono::duration<double>(Clock::now() - started).count()) +
                     ",\"unassigned\":" + std::to_string(unassigned) + ",\"gpus\":" + list(gpus);
  if (machine.cpu)
    json += ",\"cpu\":{\"utilization\":" + number(machine.cpu->utilization) +
            ",\"memory_used\":" + std::to_string(machine.cpu->memory_used) +
            ",\"memory_total\":" + std::to_string(machine.cpu->memory_total) + "}";
  HttpResponse response = json_response(json + ",\"others\":" + others(models) + ",\"models\":" + list(rows) + "}");
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

HttpResponse page() {
  HttpResponse response{200,
                        {{"Content-Type", "text/html; charset=utf-8"},
                         {"Content-Security-Policy",
                          "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
                          "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"Referrer-Policy", "no-referrer"}},
                        {}};
  response.body.push_back(body_part(ui_page()));
  return response;
}

}  // namespace

void add_ui_routes(RouteFamily& family, const std::shared_ptr<Models>& models) {
  family.get("/ui", [](const RoutedRequest&) { return page(); });
  family.get("/ui/data", [models, started = Clock::now()](const RoutedRequest&) { return ui_data(*models, started); });
}

}  // namespace tenfold::server
