// A calibrated plan beside the model that it was made from.
#include <cmath>

#include "base/log.h"
#include "builder/model/profiles.h"
#include "builder/precision/calibrate.h"
#include "builder/precision/observed_runs.h"
#include "builder/precision/odd_answers.h"
#include "builder/precision/samples.h"
#include "builder/stopwatch.h"
#include "tenfold/bindings.h"

namespace tenfold::builder {

void add_difference(const RuntimeValue& got, const RuntimeValue& expected, double& error, double& size) {
  if (!expected.is_tensor() || !got.is_tensor() || !is_float(expected.tensor().dtype())) return;
  const Tensor &x = got.tensor(), &y = expected.tensor();
  const bool alike = x.shape() == y.shape();
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const double requested = y.as_double(i), found = alike ? x.as_double(i) : 0;
    if (alike && (found == requested || (std::isnan(found) && std::isnan(requested)))) {   // infinities and NaN that are kept are no error
      size += std::isfinite(requested) ? requested * requested : 0;
      continue;
    }
    const double difference = found - requested;
    error += difference * difference, size += requested * requested;
  }
}

namespace {
void compare(const ir::Graph& source, const Engine& engine, const BuildConfig& config, CalibrationReport& report) {
  const std::vector<plan::Range> ranges = symbol_ranges(source, profile_of_samples(config), {});
  ir::Graph graph = source.clone();
  specialize(graph, ranges);
  lower_for_kernels(graph);
  const auto context = engine.create_context();
  std::vector<std::string> inputs, outputs;
  for (const BindingInfo& b : engine.bindings()) (b.is_input ? inputs : outputs).push_back(b.name);
  std::vector<double> error(outputs.size()), size(outputs.size());
  std::optional<ObservedRuns> floats;
  constexpr std::size_t kBatch = 32;
  const Log log(config.log);
  for_each_batch(*config.calibration, 1, kBatch, [&](const Batch& batch) {
    if (!floats) floats.emplace(std::move(graph), ranges, config, ObservedRuns::Processors::side_by_side);
    const std::vector<std::vector<RuntimeValue>> expected = floats->run_all(batch);
    for (std::size_t i = 0; i < batch.samples.size(); ++i) {
      if (const auto odd = odd_answer(batch.samples[i], floats->outputs(), expected[i])) {
        log(Severity::warning, "sample ", batch.number(i), " of the calibration does not count for the plan's error: ", odd->text);
        continue;
      }
      in_sample(batch.number(i), [&] {
        const std::vector<RuntimeValue> got = run_values(*context, in_order(batch.samples[i], inputs));
        for (std::size_t o = 0; o < outputs.size(); ++o) add_difference(got[o], expected[i][o], error[o], size[o]);
      });
      ++report.compared;
    }
  });
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (size[o] == 0) continue;   // no floats, or nothing but zeros
    report.errors.push_back({outputs[o], std::sqrt(error[o] / size[o])});
    log(Severity::info, "the plan's relative l2 error of '", outputs[o], "', on ", report.compared, " other samples: ",
        report.errors.back().relative_l2);
  }
}
}  // namespace

void compare_with_floats(const ir::Graph& source, const Engine& engine, const BuildConfig& config, CalibrationReport& report) {
  if (!config.calibration->sample || (report.values == 0 && report.method != quant::kDynamic)) return;
  Stopwatch watch;
  try {
    compare(source, engine, config, report);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::cancelled) throw;
    // The plan is good; what it costs is not known.
    Log(config.log)(Severity::warning, "the plan's error is not known, for the run beside the f32 model failed: ", e.what());
  }
  report.seconds += watch.seconds();
}

}  // namespace tenfold::builder
