// The samples run one by one; a histogram for each value is all that is kept of them.
#include "builder/precision/calibrate.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/files/file.h"
#include "base/log.h"
#include "builder/precision/observed_runs.h"
#include "builder/precision/samples.h"
#include "builder/stopwatch.h"
#include "passes/pipeline.h"
#include "quant/calibration_cache.h"

namespace tenfold::builder {
namespace {

constexpr const char* kAuto = "auto";
using Histograms = std::map<std::string, quant::Histogram, std::less<>>;

int run_samples(ObservedRuns& runs, const Calibration& calibration, Histograms& seen) {
  const auto look = [&seen](std::string_view name, const Tensor& t) {
    if (const auto at = seen.find(name); at != seen.end() && t.dtype() == DType::f32)
      at->second.add({t.data<float>(), static_cast<std::size_t>(t.size())});
  };
  std::set<std::string, std::less<>> values;
  for (const auto& [name, histogram] : seen) values.insert(name);
  int done = 0;
  for_each_sample(calibration, 0, [&](const InputSet& sample) { runs.run(sample, look, values), ++done; });
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
  constexpr int kFew = 25;
  if (report.samples > 0 && report.samples < kFew)
    log(Severity::warning, "calibration took ranges from ", report.samples, " samples only (every second one of those given): ", kFew,
        " or more make ranges that hold for other data");
  std::string names;
  for (const std::string& name : report.without_range) names += (names.empty() ? "'" : ", '") + name + "'";
  if (!names.empty())
    log(Severity::warning, "calibration knows nothing but zeros, or nothing at all, of ", names, ": products of them stay in floats");
  log(Severity::info, "calibration: ", report.values, " values by ", report.method, ", ", report.samples, " samples in ", report.seconds,
      " s");
}

// Of the values that were seen; what the samples never reach has none.
quant::Ranges ranges_of(const ir::Graph& graph, const Histograms& seen, const quant::Calibrator& calibrator,
                        const quant::Placing& placing) {
  quant::Ranges result;
  for (const auto& value : graph.values()) {
    if (!seen.count(value->name)) continue;
    const quant::Histogram* histogram = histogram_of(seen, value.get());
    const quant::Grid grid = histogram && histogram->low() < 0 && !placing.zero_points ? quant::Grid{255, true} : quant::Grid{};
    const quant::Range range = histogram ? calibrator.range(*histogram, grid) : quant::Range{};
    if (range.high > range.low) result[value->name] = range;
  }
  return result;
}

// That with the least error of all outputs together, on the first of the samples that gave the ranges. The graph with Q/DQ is run in
// floats, in which the plan's integers are exact but for the order of sums.
std::string best_calibrator(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const Histograms& seen,
                            const quant::Placing& placing, const BuildConfig& config, ObservedRuns& floats) {
  constexpr int kTried = 8;
  Calibration few = *config.calibration;
  few.samples = std::min(few.samples, 2 * kTried);
  std::vector<std::vector<RuntimeValue>> wanted;
  for_each_sample(few, 0, [&](const InputSet& sample) { wanted.push_back(floats.run(sample)); });
  std::string best, told;
  double least = std::numeric_limits<double>::infinity();
  for (const quant::Calibrator& calibrator : quant::calibrators()) {
    ir::Graph quantised = graph.clone();
    place_qdq(quantised, ranges_of(graph, seen, calibrator, placing), placing);
    passes::run(quantised, {passes::find_pass("lower_qdq"), passes::find_pass("fuse_regions")});   // it is run by kernels then
    ObservedRuns runs(std::move(quantised), ranges, config);
    double error = 0, size = 0;
    std::size_t at = 0;
    for_each_sample(few, 0, [&](const InputSet& sample) {
      const std::vector<RuntimeValue> got = runs.run(sample);
      for (std::size_t o = 0; o < got.size(); ++o) add_difference(got[o], wanted[at][o], error, size);
      ++at;
    });
    const double relative = size > 0 ? std::sqrt(error / size) : 0;
    told += cat(told.empty() ? "" : ", ", calibrator.name, " ", relative);
    if (relative < least) least = relative, best = calibrator.name;
  }
  Log(config.log)(Severity::info, "calibrators by their relative l2 error on ", wanted.size(), " samples: ", told);
  return best;
}

// Of the values that samples show.
quant::Ranges ranges_by_samples(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const std::set<std::string>& wanted,
                                const quant::Placing& placing, const BuildConfig& config, CalibrationReport& report) {
  const Calibration& calibration = *config.calibration;
  require(calibration.sample != nullptr, ErrorKind::invalid_argument, "Calibration::sample is empty: it gives the data",
          calibration.cache.empty() ? "" : ", and there is no cache '" + calibration.cache + "' yet");
  require(calibration.samples > 0, ErrorKind::invalid_argument, "Calibration::samples is ", calibration.samples, ", at least 1 is needed");
  const bool tries_all = calibration.method == kAuto;
  if (!tries_all) quant::calibrator(calibration.method);   // an unknown one is refused before anything runs
  Histograms seen;
  for (const std::string& name : wanted) seen[name];
  ObservedRuns runs(graph.clone(), ranges, config);
  report.samples = run_samples(runs, calibration, seen);
  require(report.samples > 0, ErrorKind::invalid_argument, "the calibration's data gave no sample");
  report.method = tries_all ? best_calibrator(graph, ranges, seen, placing, config, runs) : calibration.method;
  quant::Ranges result = ranges_of(graph, seen, quant::calibrator(report.method), placing);
  if (!calibration.cache.empty()) {
    AtomicFile file(calibration.cache);
    file.write(write_calibration_cache(quant::cache_of(result, report.method)));
    file.commit();
  }
  return result;
}

quant::Ranges ranges_in_cache(const ir::Graph& graph, const std::set<std::string>& wanted, const std::string& path,
                              CalibrationReport& report) {
  const auto file = MappedFile::open(path);
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  const quant::CalibrationCache cache = quant::read_calibration_cache(text, path);
  quant::Ranges ranges = quant::ranges_of(cache, graph, wanted);
  std::set<std::string_view> named;
  for (const auto& [name, scale] : cache.scales) named.insert(name);
  const auto found = std::count_if(wanted.begin(), wanted.end(), [&](const std::string& name) { return named.count(name) > 0; });
  require(2 * static_cast<std::size_t>(found) >= wanted.size(), ErrorKind::invalid_argument, "the calibration cache '", path, "' names ",
          found, " of the ", wanted.size(), " values that need ranges, '", *wanted.begin(), "' among them: it is another model's");
  report.method = "cache";
  return ranges;
}

}  // namespace

quant::Ranges calibrated(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const backends::DeviceInfo& device,
                         const BuildConfig& config, CalibrationReport& report) {
  Stopwatch watch;
  const quant::Placing placing = passes::placing_for(device);
  const std::set<std::string> wanted = values_to_observe(graph, placing);
  const Log log(config.log);
  if (wanted.empty()) {
    log(Severity::warning, "calibration found no product that 8 bits could stand for on this device: nothing was run");
    return {};
  }
  const std::string& cache = config.calibration->cache;
  const bool kept = !cache.empty() && std::filesystem::exists(cache);
  quant::Ranges result = kept ? ranges_in_cache(graph, wanted, cache, report)
                              : ranges_by_samples(graph, ranges, wanted, placing, config, report);
  for (const std::string& name : wanted)
    if (!result.count(name)) report.without_range.push_back(name);
  report.values = static_cast<int>(result.size()), report.seconds = watch.seconds();
  tell(report, log);
  return result;
}

}  // namespace tenfold::builder
