#include "builder/quantize/moments.h"

#include "base/threads/spread.h"
#include "builder/precision/observed_runs.h"
#include "builder/precision/samples.h"

namespace tenfold::builder {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;   // of moments at once

// to += by * from; -O1 makes no vectors of such loops.
void add(float* to, float by, const float* from, std::int64_t n) {
  using Four [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) *reinterpret_cast<Four*>(to + i) += by * *reinterpret_cast<const Four*>(from + i);
  for (; i < n; ++i) to[i] += by * from[i];
}

void add_rows(Moments& m, const Tensor& data) {
  const std::int64_t n = m.size, rows = data.size() / n;
  const auto* const x = data.data<float>();
  spread_stretches(n, 16, n * n * rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t r = 0; r < rows; ++r)
        if (const float by = x[r * n + i]; by != 0) add(m.sums.data() + i * n + i, by, x + r * n + i, n - i);
  });
}

// The outputs of the runs that are values with moments, by name; inputs are in the samples.
using OutputPlaces = std::map<std::string, std::size_t, std::less<>>;

// What is a view of another value has memory of its own as an output.
OutputPlaces make_outputs(ir::Graph& graph, const std::map<std::string, std::int64_t>& sizes) {
  OutputPlaces places;
  for (const auto& value : graph.values())
    if (sizes.count(value->name) && value->producer) places[value->name] = graph.outputs.size(), graph.outputs.push_back(value.get());
  return places;
}

int run_samples(ObservedRuns& runs, const Calibration& calibration, const OutputPlaces& places, std::map<std::string, Moments>& moments) {
  int done = 0;
  for_each_sample(calibration, 0, [&](const InputSet& sample) {
    const std::vector<RuntimeValue> outputs = runs.run(sample);
    for (auto& [name, m] : moments) {
      const auto output = places.find(name);
      const auto input = sample.find(name);
      if (output == places.end() && input == sample.end()) continue;
      const Tensor& t = output != places.end() ? outputs.at(output->second).tensor() : input->second;
      if (t.dtype() == DType::f32 && t.size() % m.size == 0) add_rows(m, t);
    }
    ++done;
  });
  return done;
}

}  // namespace

int each_moments(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const BuildConfig& config,
                 const std::map<std::string, std::int64_t>& sizes, const std::function<void(const std::string&, const Moments&)>& use) {
  const MaySpread may;
  ir::Graph runnable = graph.clone();
  lower_for_kernels(runnable);
  const OutputPlaces places = make_outputs(runnable, sizes);
  ObservedRuns runs(std::move(runnable), ranges, config);
  int samples = 0;
  for (auto next = sizes.begin(); next != sizes.end();) {
    std::map<std::string, Moments> moments;
    for (std::int64_t bytes = 0; next != sizes.end() && (moments.empty() || bytes + next->second * next->second * 4 <= kMostBytes);
         ++next) {
      bytes += next->second * next->second * 4;
      Moments& m = moments[next->first];
      m.size = next->second, m.sums.resize(static_cast<std::size_t>(m.size * m.size));
    }
    samples = run_samples(runs, *config.calibration, places, moments);
    std::vector<const std::pair<const std::string, Moments>*> list;
    for (const auto& one : moments) list.push_back(&one);
    spread(static_cast<std::int64_t>(list.size()), kMostBytes, [&](std::int64_t i) {
      const auto& [name, m] = *list[static_cast<std::size_t>(i)];
      use(name, m);
    });
  }
  return samples;
}

}  // namespace tenfold::builder
