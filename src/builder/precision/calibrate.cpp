// The samples run one by one; a histogram for each value is all that is kept of them.
#include "builder/precision/calibrate.h"

#include <unordered_map>

#include "base/log.h"
#include "builder/precision/observed_runs.h"
#include "builder/stopwatch.h"
#include "passes/pipeline.h"

namespace tenfold::builder {
namespace {

using Histograms = std::map<std::string, quant::Histogram, std::less<>>;

int run_samples(ObservedRuns& runs, const Calibration& calibration, Histograms& seen) {
  const auto look = [&seen](std::string_view name, const Tensor& t) {
    if (const auto at = seen.find(name); at != seen.end() && t.dtype() == DType::f32)
      at->second.add({t.data<float>(), static_cast<std::size_t>(t.size())});
  };
  std::set<std::string, std::less<>> values;
  for (const auto& [name, histogram] : seen) values.insert(name);
  int done = 0;
  for (; done < calibration.samples; ++done) {
    const std::optional<InputSet> sample = calibration.sample(done);
    if (!sample) break;
    try {
      runs.run(*sample, look, values);
    } catch (Error& e) {
      throw e.within(cat("sample ", done + 1, " of the calibration"));
    }
  }
  return done;
}

// What only moves another value's elements may be a view that no run shows; that other value tells of it.
const quant::Histogram* histogram_of(const Histograms& seen, const ir::Value* value) {
  for (const ir::Value* v = value; v; v = v->producer && !v->producer->inputs.empty() ? v->producer->in(0) : nullptr) {
    const auto at = seen.find(v->name);
    if (at == seen.end()) return nullptr;
    if (at->second.count() > 0) return &at->second;
  }
  return nullptr;
}

void tell(const CalibrationReport& report, const Log& log) {
  constexpr int kFew = 50;
  if (report.samples < kFew)
    log(Severity::warning, "calibration ran ", report.samples, " samples only: ", kFew, " or more make ranges that hold for other data");
  std::string names;
  for (const std::string& name : report.without_range) names += (names.empty() ? "'" : ", '") + name + "'";
  if (!names.empty()) log(Severity::warning, "calibration saw nothing but zeros, or nothing at all, of ", names, ": products of them stay in floats");
  log(Severity::info, "calibration: ", report.values, " values by ", report.method, ", ", report.samples, " samples in ", report.seconds,
      " s");
}

}  // namespace

quant::Ranges calibrated(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const backends::DeviceInfo& device,
                         const BuildConfig& config, CalibrationReport& report) {
  const Calibration& calibration = *config.calibration;
  Stopwatch watch;
  require(calibration.sample != nullptr, ErrorKind::invalid_argument, "Calibration::sample is empty: it gives the data");
  require(calibration.samples > 0, ErrorKind::invalid_argument, "Calibration::samples is ", calibration.samples, ", at least 1 is needed");
  const quant::Calibrator& calibrator = quant::calibrator(calibration.method);
  const quant::Placing placing = passes::placing_for(device);
  Histograms seen;
  for (const std::string& name : values_to_observe(graph, placing)) seen[name];
  report.method = calibration.method;
  if (seen.empty()) {
    Log(config.log)(Severity::warning, "calibration found no product that 8 bits could stand for on this device: nothing was run");
    return {};
  }
  ObservedRuns runs(graph.clone(), ranges, config);
  report.samples = run_samples(runs, calibration, seen);
  require(report.samples > 0, ErrorKind::invalid_argument, "the calibration's data gave no sample");
  quant::Ranges result;
  for (const auto& value : graph.values()) {
    if (!seen.count(value->name)) continue;
    const quant::Histogram* histogram = histogram_of(seen, value.get());
    const quant::Grid grid = histogram && histogram->low() < 0 && !placing.zero_points ? quant::Grid{255, true} : quant::Grid{};
    const quant::Range range = histogram ? calibrator.range(*histogram, grid) : quant::Range{};
    if (range.high > range.low) result[value->name] = range;
    else report.without_range.push_back(value->name);
  }
  report.values = static_cast<int>(result.size()), report.seconds = watch.seconds();
  tell(report, Log(config.log));
  return result;
}

}  // namespace tenfold::builder
