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

int run_samples(ObservedRuns& runs, const Calibration& calibration, std::map<std::string, Moments, std::less<>>& moments) {
  std::set<std::string, std::less<>> values;
  for (const auto& [name, m] : moments) values.insert(name);
  int done = 0;
  for_each_sample(calibration, 0, [&](const InputSet& sample) {
    runs.run(sample,
             [&](std::string_view name, const Tensor& t) {
               const auto at = moments.find(name);
               if (at != moments.end() && t.dtype() == DType::f32 && t.size() % at->second.size == 0) add_rows(at->second, t);
             },
             values);
    ++done;
  });
  return done;
}

}  // namespace

const ir::Value& stored_value(const ir::Value& value) {
  const ir::Value* v = &value;
  while (v->producer && !v->producer->body && v->producer->def->traits.movement == ir::Movement::reshape && v->producer->in(0) &&
         v->producer->in(0)->dtype() == v->dtype())
    v = v->producer->in(0);
  return *v;
}

int each_moments(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const BuildConfig& config,
                 const std::map<std::string, std::int64_t>& sizes, const std::function<void(const std::string&, const Moments&)>& use) {
  const MaySpread may;
  ir::Graph runnable = graph.clone();
  lower_for_kernels(runnable);
  ObservedRuns runs(std::move(runnable), ranges, config);
  int samples = 0;
  for (auto next = sizes.begin(); next != sizes.end();) {
    std::map<std::string, Moments, std::less<>> moments;
    for (std::int64_t bytes = 0; next != sizes.end() && (moments.empty() || bytes + next->second * next->second * 4 <= kMostBytes);
         ++next) {
      bytes += next->second * next->second * 4;
      Moments& m = moments[next->first];
      m.size = next->second, m.sums.resize(static_cast<std::size_t>(m.size * m.size));
    }
    samples = run_samples(runs, *config.calibration, moments);
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
