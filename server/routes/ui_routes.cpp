// GET /ui: a page that shows the models, and /ui/data, which it reads again and again.
#include "observe/json_writer.h"
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
  return JsonObject()
      .raw("p50", number(histogram.quantile_us(0.5)))
      .raw("p99", number(histogram.quantile_us(0.99)))
      .raw("first", number(histogram.bounds_us.front()))
      .raw("last", number(histogram.bounds_us.back()))
      .text();
}

std::string times(const RequestHistograms& histograms) {
  JsonObject out;
  constexpr std::pair<const char*, DurationHistogram RequestHistograms::*> kTimes[] = {{"request", &RequestHistograms::request},
                                                                                       {"queue", &RequestHistograms::queue},
                                                                                       {"input", &RequestHistograms::compute_input},
                                                                                       {"infer", &RequestHistograms::compute_infer},
                                                                                       {"output", &RequestHistograms::compute_output}};
  for (const auto& [name, histogram] : kTimes) out.raw(name, quantiles(histograms.*histogram));
  return out.text();
}

std::string errors(const Model& model) {
  JsonList out;
  const auto now = std::chrono::system_clock::now();
  for (const LastErrors::Row& row : model.errors().get())
    out.add(JsonObject()
                .add("message", row.message)
                .add("count", row.count)
                .raw("age_s", number(std::chrono::duration<double>(now - row.last).count())));
  return out.text();
}

std::string fallbacks(const SampledModel& model) {
  JsonList out;
  for (const FallbackCount& f : model.fallbacks)
    out.add(JsonObject().add("from", f.from).add("to", f.to).add("reason", f.reason).add("count", f.requests));
  return out.text();
}

// Versions that do not serve, and why.
std::string others(const Models& models) {
  JsonList out;
  for (const IndexRow& row : models.index())
    if (row.state != ModelState::ready)
      out.add(JsonObject().add("name", row.name).add("version", row.version).add("state", name(row.state)).add("reason", row.reason));
  return out.text();
}

std::string devices(const Model& model) {
  JsonList names;
  for (const std::string& device : model.devices()) names.add(device);
  return names.text();
}

JsonObject model_json(const SampledModel& sampled, bool ready) {
  const QueueStatistics& s = sampled.statistics;
  const Model& model = *sampled.model;
  return JsonObject()
      .add("name", model.name())
      .add("version", model.version())
      .add("state", ready ? "ready" : "not ready")
      .raw("devices", devices(model))
      .add("precision", precision(model))
      .add("max_batch", model.max_batch())
      .add("waiting", s.waiting)
      .add("max_waiting", model.options().queue.max_requests)
      .add("received", s.received + sampled.refused)
      .add("succeeded", s.success.count)
      .add("refused", sampled.refused)
      .add("rejected", s.rejected)
      .add("cancelled", s.cancelled)
      .add("failed", s.failed)
      .add("inferences", s.inferences)
      .add("executions", s.executions)
      .add("memory_bytes", s.memory_bytes)
      .raw("times_us", times(s.histograms))
      .raw("closed", batches_closed(s))
      .raw("fallbacks", fallbacks(sampled))
      .raw("errors", errors(model));
}

JsonObject gpu_json(const GpuGauges& gpu) {
  JsonObject out;
  out.add("uuid", gpu.uuid);
  if (gpu.utilization) out.raw("utilization", number(*gpu.utilization));
  if (gpu.memory_used) out.add("memory_used", *gpu.memory_used);
  if (gpu.memory_total) out.add("memory_total", *gpu.memory_total);
  if (gpu.power_watts) out.raw("power_watts", number(*gpu.power_watts));
  if (gpu.celsius) out.raw("celsius", number(*gpu.celsius));
  return out;
}

HttpResponse ui_data(const Models& models, Clock::time_point started) {
  JsonList rows, gpus;
  for (const SampledModel& sampled : sample_models(models)) rows.add(model_json(sampled, models.ready()));
  const MachineGauges machine = machine_sampler().get();
  for (const GpuGauges& gpu : machine.gpus) gpus.add(gpu_json(gpu));
  std::uint64_t unassigned = 0;
  for (const auto& count : request_counts().unassigned) unassigned += count;
  JsonObject json;
  json.add("version", version())
      .add("ready", models.ready())
      .raw("uptime_s", number(std::chrono::duration<double>(Clock::now() - started).count()))
      .add("unassigned", unassigned)
      .raw("gpus", gpus.text());
  if (machine.cpu)
    json.raw("cpu", JsonObject()
                        .raw("utilization", number(machine.cpu->utilization))
                        .add("memory_used", machine.cpu->memory_used)
                        .add("memory_total", machine.cpu->memory_total)
                        .text());
  HttpResponse response = json_response(json.raw("others", others(models)).raw("models", rows.text()).text());
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
