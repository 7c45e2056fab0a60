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
#include "quant/ranges.h"

namespace tenfold::builder {
namespace {

constexpr const char* kAuto = "auto";
constexpr std::size_t kTried = 8;   // samples on which "auto" compares

// A sample and what the model in f32 makes of it.
struct Answered {
  InputSet sample;
  std::vector<RuntimeValue> wanted;
};

// Their number; the first of them are kept with their answers.
int run_samples(ObservedRuns& runs, const Calibration& calibration, quant::Histograms& seen, std::vector<Answered>& first) {
  const auto look = [&seen](std::string_view name, const Tensor& t) {
    if (const auto at = seen.find(name); at != seen.end() && t.dtype() == DType::f32)
      at->second.add({t.data<float>(), static_cast<std::size_t>(t.size())});
  };
  std::set<std::string, std::less<>> values;
  for (const auto& [name, histogram] : seen) values.insert(name);
  int done = 0;
  for_each_sample(calibration, 0, [&](const InputSet& sample) {
    std::vector<RuntimeValue> answer = runs.run(sample, look, values);
    if (first.size() < kTried) first.push_back({sample, std::move(answer)});
    ++done;
  });
  return done;
}

void tell(const CalibrationReport& report, const Log& log) {
  constexpr int kFew = 25;
  if (report.samples > 0 && report.samples < kFew)
    log(Severity::warning, "calibration took ranges from ", report.samples, " samples only: ", kFew,
        " or more make ranges that hold for other data (of samples that are to check as well, every second one gives ranges: 50)");
  std::string names;
  for (const std::string& name : report.without_range) names += (names.empty() ? "'" : ", '") + name + "'";
  if (!names.empty())
    log(Severity::warning, "calibration knows nothing but zeros, or nothing at all, of ", names, ": products of them stay in floats");
  log(Severity::info, "calibration: ", report.values, " values by ", report.method, ", ", report.samples, " samples in ", report.seconds,
      " s");
}

// That with the least error of all outputs together, on the first of the samples that gave the ranges. The graph with Q/DQ is run in
// floats, in which the plan's integers are exact but for the order of sums.
std::string best_calibrator(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const quant::Histograms& seen,
                            const quant::Placing& placing, const BuildConfig& config, const std::vector<Answered>& tried) {
  std::string best, told;
  double least = std::numeric_limits<double>::infinity();
  for (const quant::Calibrator& calibrator : quant::calibrators()) {
    ir::Graph quantised = graph.clone();
    place_qdq(quantised, ranges_of(graph, seen, calibrator, placing), placing);
    passes::run(quantised, {passes::find_pass("lower_qdq")});   // it is run by kernels then
    lower_for_kernels(quantised);
    passes::run(quantised, {passes::find_pass("fuse_regions")});
    ObservedRuns runs(std::move(quantised), ranges, config);
    double error = 0, size = 0;
    for (const Answered& one : tried) {
      const std::vector<RuntimeValue> got = runs.run(one.sample);
      for (std::size_t o = 0; o < got.size(); ++o) add_difference(got[o], one.wanted[o], error, size);
    }
    const double relative = size > 0 ? std::sqrt(error / size) : 0;
    told += cat(told.empty() ? "" : ", ", calibrator.name, " ", relative);
    if (best.empty() || relative < least) least = relative, best = calibrator.name;
  }
  Log(config.log)(Severity::info, "calibrators by their relative l2 error on ", tried.size(), " samples: ", told);
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
  quant::Histograms seen;
  for (const std::string& name : wanted) seen[name];
  std::vector<Answered> first;
  ir::Graph runnable = graph.clone();
  lower_for_kernels(runnable);
  ObservedRuns runs(std::move(runnable), ranges, config);
  report.samples = run_samples(runs, calibration, seen, first);
  require(report.samples > 0, ErrorKind::invalid_argument, "the calibration's data gave no sample");
  report.method = tries_all ? best_calibrator(graph, ranges, seen, placing, config, first) : calibration.method;
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
  std::vector<std::string> missing;
  for (const std::string& name : wanted)
    if (!named.count(name)) missing.push_back(name);
  require(2 * missing.size() <= wanted.size(), ErrorKind::invalid_argument, "the calibration cache '", path, "' does not name ",
          missing.size(), " of the ", wanted.size(), " values that need ranges ('", missing.empty() ? "" : missing.front(),
          "' is one): it is another model's");
  report.method = "cache";
  return ranges;
}

}  // namespace

quant::Ranges calibrated(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const quant::Placing& placing,
                         const BuildConfig& config, CalibrationReport& report) {
  if (config.calibration->method == quant::kDynamic) {
    require(config.calibration->cache.empty(), ErrorKind::invalid_argument, "a calibration '", quant::kDynamic,
            "' takes no ranges, and has no use for the cache '", config.calibration->cache, "'");
    report.method = quant::kDynamic;
    return {};
  }
  Stopwatch watch;
  const std::set<std::string> wanted = values_to_observe(graph, placing);
  const Log log(config.log);
  if (wanted.empty()) {
    log(Severity::warning, "calibration found no product that 8 bits could stand for: nothing was run");
    return {};
  }
  const std::string& cache = config.calibration->cache;
  std::error_code cannot_look;
  const bool kept = !cache.empty() && std::filesystem::exists(cache, cannot_look);
  quant::Ranges result = kept ? ranges_in_cache(graph, wanted, cache, report)
                              : ranges_by_samples(graph, ranges, wanted, placing, config, report);
  for (const std::string& name : wanted)
    if (!result.count(name)) report.without_range.push_back(name);
  report.values = static_cast<int>(result.size()), report.seconds = watch.seconds();
  tell(report, log);
  return result;
}

}  // namespace tenfold::builder
