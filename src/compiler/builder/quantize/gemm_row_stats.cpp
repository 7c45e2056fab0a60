#include "builder/quantize/gemm_row_stats.h"

#include "base/threads/spread.h"
#include "builder/precision/observed_runs.h"
#include "builder/precision/odd_answers.h"
#include "builder/precision/samples.h"

namespace tenfold::builder {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;  // of moments at once

using Named = std::map<std::string, quant::Moments>;

std::int64_t bytes_of(std::int64_t size) { return size * size * static_cast<std::int64_t>(sizeof(float)); }

// The outputs of the runs that are values with moments, by name; inputs are in the samples.
using OutputPlaces = std::map<std::string, std::size_t, std::less<>>;

// What is a view of another value has memory of its own as an output.
OutputPlaces make_outputs(ir::Graph& graph, const std::map<std::string, std::int64_t>& sizes) {
  OutputPlaces places;
  for (const auto& value : graph.values())
    if (sizes.count(value->name) && value->producer) places[value->name] = graph.outputs.size(), graph.outputs.push_back(value.get());
  return places;
}

int run_samples(ObservedRuns& runs, const Calibration& calibration, const OutputPlaces& places, Named& moments) {
  int done = 0;
  for_each_sample(calibration, 0, [&](const InputSet& sample) {
    const std::vector<RuntimeValue> outputs = runs.run(sample);
    expect_numbers(sample, runs.outputs(), outputs);
    for (auto& [name, m] : moments) {
      const auto output = places.find(name);
      const auto input = sample.find(name);
      if (output == places.end() && input == sample.end()) continue;
      const Tensor& t = output != places.end() ? outputs.at(output->second).tensor() : input->second;
      if (t.dtype() == DType::f32 && t.size() % m.size() == 0) m.add(t.data<float>(), t.size() / m.size());
    }
    ++done;
  });
  return done;
}

}  // namespace

int each_moments(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const BuildConfig& config,
                 const std::map<std::string, std::int64_t>& sizes,
                 const std::function<void(const std::string&, const quant::Moments&)>& use) {
  const MaySpread may;
  ir::Graph runnable = graph.clone();
  lower_for_kernels(runnable);
  const OutputPlaces places = make_outputs(runnable, sizes);
  ObservedRuns runs(std::move(runnable), ranges, config);
  int samples = 0;
  for (auto next = sizes.begin(); next != sizes.end();) {
    Named moments;
    for (std::int64_t bytes = 0; next != sizes.end() && (moments.empty() || bytes + bytes_of(next->second) <= kMaxBytes); ++next)
      bytes += bytes_of(next->second), moments.emplace(next->first, quant::Moments(next->second));
    samples = run_samples(runs, *config.calibration, places, moments);
    std::vector<const Named::value_type*> list;
    for (const auto& one : moments) list.push_back(&one);
    spread(static_cast<std::int64_t>(list.size()), kMaxBytes, [&](std::int64_t i) {
      const auto& [name, m] = *list[static_cast<std::size_t>(i)];
      use(name, m);
    });
  }
  return samples;
}

}  // namespace tenfold::builder
