// The samples run one by one; a histogram for each value is all that is kept of them.
#include "builder/precision/calibrate.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/files/file.h"
#include "base/log.h"
#include "builder/precision/observed_runs.h"
#include "builder/precision/odd_answers.h"
#include "builder/precision/range_trials.h"
#include "builder/precision/samples.h"
#include "builder/stopwatch.h"
#include "quant/calibration_cache.h"
#include "quant/ranges.h"
#include "quant/correction_method.h"

namespace tenfold::builder {
namespace {

constexpr const char* kAuto = "auto";
using Channels = std::map<std::string, quant::ChannelStats, std::less<>>;

// What the samples show of the model in f32.
struct Seen {
  quant::Histograms histograms;
  Channels channels;  // of data operands; only where corrections want them
};

// Their number; the first of them are kept with their answers.
int run_samples(ObservedRuns& runs, const Calibration& calibration, const quant::DataOperands& operands, Seen& seen, RangeTrials& trials) {
  std::multimap<std::string_view, const quant::DataOperand*> readers;
  for (const auto& [name, operand] : operands) readers.emplace(operand.seen, &operand), seen.channels[name];
  const auto look = [&](std::string_view name, const Tensor& t) {
    if (t.dtype() != DType::f32) return;
    if (const auto at = seen.histograms.find(name); at != seen.histograms.end())
      at->second.add({t.data<float>(), static_cast<std::size_t>(t.size())});
    for (auto [at, end] = readers.equal_range(name); at != end; ++at)
      seen.channels.find(at->second->value->name)->second.add(t.data<float>(), at->second->view(t));
  };
  std::set<std::string, std::less<>> values;
  for (const auto& [name, histogram] : seen.histograms) values.insert(name);
  int done = 0;
  for_each_batch(calibration, 0, runs.good_batch(), [&](const Batch& batch) {
    std::vector<std::vector<RuntimeValue>> answers = runs.run_all(batch, look, values);
    for (std::size_t i = 0; i < answers.size(); ++i)
      in_sample(batch.number(i), [&] { expect_numbers(batch.samples[i], runs.outputs(), answers[i]); });
    trials.keep(batch, std::move(answers));
    done += static_cast<int>(batch.samples.size());
  });
  return done;
}

void log_calibration(const CalibrationReport& report, const Log& log) {
  constexpr int kFew = 25;
  if (report.samples > 0 && report.samples < kFew)
    log(Severity::warning, "calibration took ranges from ", report.samples, " samples only: ", kFew,
        " or more make ranges that hold for other data (of samples that are to check as well, every second one gives ranges: 50)");
  std::string names;
  for (const std::string& name : report.without_range) names += (names.empty() ? "'" : ", '") + name + "'";
  if (!names.empty())
    log(Severity::warning, "calibration has only zeros, or no values, for ", names, ": layers that read them stay in floats");
  log(Severity::info, "calibration: ", report.values, " values by ", report.method, ", ", report.samples, " samples in ", report.seconds,
      " s");
}

struct Tried {
  std::string name;
  double error = std::numeric_limits<double>::infinity();
};

// That with the least error of all outputs together, on the first of the samples that gave the ranges. But ranges that clip must gain a
// tenth by it: other data reach further than these samples.
Tried best_calibrator(const std::function<quant::Ranges(const quant::Calibrator&)>& ranges_by, const RangeTrials& trials, const Log& log) {
  constexpr std::string_view kWhole = "minmax";
  constexpr double kGain = 0.9;
  Tried best, whole;
  std::string reported;
  for (const quant::Calibrator& calibrator : quant::calibrators()) {
    const double error = trials.error(ranges_by(calibrator));
    reported += cat(reported.empty() ? "" : ", ", calibrator.name, " ", error);
    if (best.name.empty() || error < best.error) best = {std::string(calibrator.name), error};
    if (calibrator.name == kWhole) whole = {std::string(kWhole), error};
  }
  if (best.error > kGain * whole.error) best = whole;
  log(Severity::info, "calibrators by their relative l2 error on ", trials.count(), " samples: ", reported);
  return best;
}

// One after another, each on top of those that were kept.
quant::Ranges corrected(const quant::CorrectionInput& given, const std::vector<std::string>& names, const RangeTrials& trials, double error,
                       const Log& log, CalibrationReport& report) {
  quant::Ranges best = given.ranges;
  for (const std::string& name : names) {
    const quant::CorrectionInput now{given.graph, best, given.placing, given.calibrator, given.channels, given.run};
    std::optional<quant::Ranges> changed = quant::correction_method(name).apply(now);
    if (!changed) continue;
    const double after = trials.error(*changed);
    report.corrections.push_back({name, error, after, after < error});
    log(Severity::info, "correction '", name, "': relative l2 error ", error, " before, ", after, " after, on ", trials.count(),
        " samples: ", after < error ? "kept" : "left out");
    if (after < error) best = std::move(*changed), error = after;
  }
  return best;
}

// Of the values that samples show.
quant::Ranges ranges_by_samples(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const std::set<std::string>& requested,
                                const quant::Placing& placing, const BuildConfig& config, CalibrationReport& report) {
  const Calibration& calibration = *config.calibration;
  require(calibration.sample != nullptr, ErrorKind::invalid_argument, "Calibration::sample is empty: it gives the data",
          calibration.cache.empty() ? "" : ", and there is no cache '" + calibration.cache + "' yet");
  require(calibration.samples > 0, ErrorKind::invalid_argument, "Calibration::samples is ", calibration.samples, ", at least 1 is needed");
  const bool tries_all = calibration.method == kAuto && !placing.float8;
  if (calibration.method != kAuto) quant::calibrator(calibration.method);  // an unknown one is refused before anything runs
  const Log log(config.log);
  Seen seen;
  for (const std::string& name : requested) seen.histograms[name];
  const bool corrections = !calibration.corrections.empty();
  const quant::DataOperands operands = corrections ? data_operands(graph, placing) : quant::DataOperands{};
  RangeTrials trials(graph, ranges, placing, config);
  ir::Graph runnable = graph.clone();
  lower_for_kernels(runnable);
  ObservedRuns runs(std::move(runnable), ranges, config, ObservedRuns::Processors::side_by_side);
  report.samples = run_samples(runs, calibration, operands, seen, trials);
  require(report.samples > 0, ErrorKind::invalid_argument, "the calibration's data gave no sample");
  const auto known = std::make_shared<quant::KnownWeights>();
  const auto ranges_by = [&](const quant::Calibrator& calibrator) {
    quant::Ranges found = ranges_of(graph, seen.histograms, calibrator, placing);
    found.known = known;
    return found;
  };
  const Tried best = tries_all ? best_calibrator(ranges_by, trials, log)
                               : Tried{placing.float8 && calibration.method == kAuto ? "minmax" : calibration.method};
  report.method = best.name;
  const quant::Calibrator& calibrator = quant::calibrator(report.method);
  const quant::Ranges result = ranges_by(calibrator);
  if (!calibration.cache.empty()) {  // as they are without corrections, which a cache does not hold
    AtomicFile file(calibration.cache);
    file.write(write_calibration_cache(quant::cache_of(result, report.method)));
    file.commit();
  }
  if (!corrections || result.empty()) return result;
  const quant::RunAgain again = [&](const quant::Look& look, const std::set<std::string, std::less<>>& values, std::size_t max) {
    Batch batch = trials.aside();
    batch.samples.resize(std::min(max, batch.samples.size()));
    runs.run_all(batch, look, values);
  };
  return corrected({graph, result, placing, calibrator, seen.channels, again}, calibration.corrections, trials,
                  tries_all ? best.error : trials.error(result), log, report);
}

quant::Ranges ranges_in_cache(const ir::Graph& graph, const std::set<std::string>& requested, const Calibration& calibration,
                              const Log& log, CalibrationReport& report) {
  const std::string& path = calibration.cache;
  const auto file = MappedFile::read(path);
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  const quant::CalibrationCache cache = quant::read_calibration_cache(text, path);
  quant::Ranges ranges = quant::ranges_of(cache, graph, requested);
  std::set<std::string_view> named;
  for (const auto& [name, scale] : cache.scales) named.insert(name);
  std::vector<std::string> missing;
  for (const std::string& name : requested)
    if (!named.count(name)) missing.push_back(name);
  require(2 * missing.size() <= requested.size(), ErrorKind::invalid_argument, "the calibration cache '", path, "' does not name ",
          missing.size(), " of the ", requested.size(), " values that need ranges ('", missing.empty() ? "" : missing.front(),
          "' is one): it is another model's");
  report.method = "cache";
  if (!calibration.corrections.empty()) log(Severity::info, "corrections need samples: none is tried, for the ranges come from a cache");
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
  const std::set<std::string> requested = values_to_observe(graph, placing);
  const Log log(config.log);
  if (requested.empty()) {
    log(Severity::warning, "calibration found no layer that int8 could compute: nothing was run");
    return {};
  }
  for (const std::string& name : config.calibration->corrections)
    quant::correction_method(name);  // an unknown one is refused before anything runs
  const std::string& cache = config.calibration->cache;
  std::error_code cannot_look;
  const bool kept = !cache.empty() && std::filesystem::exists(cache, cannot_look);
  quant::Ranges result = kept ? ranges_in_cache(graph, requested, *config.calibration, log, report)
                              : ranges_by_samples(graph, ranges, requested, placing, config, report);
  for (const std::string& name : requested)
    if (!result.count(name)) report.without_range.push_back(name);
  report.values = static_cast<int>(result.size()), report.seconds = watch.seconds();
  log_calibration(report, log);
  return result;
}

}  // namespace tenfold::builder
