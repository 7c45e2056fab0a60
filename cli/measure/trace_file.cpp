// exec's timeline, in the format of chrome://tracing, which Perfetto opens, too: Trace Event Format, complete events ("X") in microseconds.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "measure/report.h"
#include "tenfold/internal/file.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;

enum Process { kRuns = 1, kLayers = 2 };

Json named(const char* what, int process, int thread, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

struct Track { Process process; int thread; };

Json event(const std::string& name, const char* category, Track on, double start_ms, double ms, Json arguments = Json::object()) {
  return {{"ph", "X"},     {"name", name},       {"cat", category},   {"pid", on.process},
          {"tid", on.thread}, {"ts", start_ms * 1e3}, {"dur", ms * 1e3}, {"args", std::move(arguments)}};
}

// A run, and below it its copies and its computing, which follow each other.
void add_run(Json& events, const Sample& run, std::size_t number) {
  const double total = run.end_ms - run.start_ms;
  events.push_back(event("run " + std::to_string(number), "run", {kRuns, run.stream}, run.start_ms, total,
                         {{"enqueue_ms", run.parts.enqueue_ms}}));
  double at = run.start_ms;
  const std::pair<const char*, double> parts[] = {{"copy to device", run.parts.host_to_device_ms},
                                                  {"compute", run.parts.compute_ms},
                                                  {"copy to host", run.parts.device_to_host_ms}};
  for (const auto& [name, ms] : parts) {
    if (ms > 0) events.push_back(event(name, "part", {kRuns, run.stream}, at, std::min(ms, run.end_ms - at)));
    at += ms;
  }
}

// The layers of the run whose total is in the middle.
std::size_t middle_run(const std::vector<LayerTimes>& layers) {
  std::vector<std::pair<double, std::size_t>> totals;
  for (const LayerTimes& layer : layers) {
    if (totals.size() < layer.ms.size()) totals.resize(layer.ms.size());
    for (std::size_t run = 0; run < layer.ms.size(); ++run) totals[run].first += layer.ms[run], totals[run].second = run;
  }
  if (totals.empty()) return 0;
  std::nth_element(totals.begin(), totals.begin() + static_cast<std::ptrdiff_t>(totals.size() / 2), totals.end());
  return totals[totals.size() / 2].second;
}

}  // namespace

void export_trace(const std::string& path, const Trace& trace, const std::vector<LayerTimes>& layers) {
  Json events = Json::array();
  events.push_back(named("process_name", kRuns, 0, "measured runs"));
  int streams = 0;
  for (const Sample& run : trace.samples) streams = std::max(streams, run.stream + 1);
  for (int s = 0; s < streams; ++s) events.push_back(named("thread_name", kRuns, s, "stream " + std::to_string(s)));
  for (std::size_t i = 0; i < trace.samples.size(); ++i) add_run(events, trace.samples[i], i);

  events.push_back(named("process_name", kLayers, 0, "layers of one more run, step by step"));
  events.push_back(named("thread_name", kLayers, 0, "steps"));
  const std::size_t run = middle_run(layers);
  for (const LayerTimes& layer : layers)
    if (run < layer.ms.size())
      events.push_back(event(layer.name, layer.reference ? "reference kernel" : "layer", {kLayers, 0}, layer.start_ms[run], layer.ms[run],
                             {{"nodes", layer.nodes}}));
  const Json all{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  write_file(path, all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace tenfold::cli
