// What `tenfold latency` runs: a plan with the ways to do without it, a model, or LSTMs of known sizes.
#include <cmath>

#include "latency/latency.h"
#include "tenfold/device.h"
#include "tenfold/network.h"

namespace tenfold::cli {
namespace {

// Sizes that are public for STAC-ML Markets (Inference): windows of rows and features, LSTM layers and their units, then
// one dense unit. Only the sizes are theirs: weights here are random.
struct LstmSize {
  const char* name;
  std::int64_t rows, features;
  int layers;
  std::int64_t units;
  double published_us[3];  // of kPublishers
};
// Their p99 for one instance, where windows slide by one row and only the newest is timed.
constexpr const char* kPublishers[] = {"GH200, fp16, 2026", "A100, 2023", "FPGA (VOLLO), 2023"};
constexpr LstmSize kSizes[] = {{"A", 50, 100, 2, 100, {4.70, 35.2, 5.07}},
                               {"B", 100, 250, 3, 200, {7.10, 68.5, 6.89}},
                               {"C", 100, 500, 4, 1000, {15.8, 640, 31.0}}};

Tensor random(const Shape& shape, double bound, unsigned& seed) {
  Tensor t(DType::f32, shape);
  for (std::int64_t i = 0; i < t.size(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    t.mutable_data<float>()[i] = static_cast<float>((seed >> 8) / double(1 << 23) - 1) * static_cast<float>(bound);
  }
  return t;
}

Engine build_lstm(const LstmSize& size, const BuildConfig& config) {
  Network net(std::string("lstm_") + size.name);
  unsigned seed = 1;
  const double bound = 1 / std::sqrt(static_cast<double>(size.units));
  NetworkTensor x = net.input("x", DType::f32, {1, size.rows, size.features});
  x = net.shuffle(x, {1, 0, 2});
  std::int64_t width = size.features;
  for (int layer = 0; layer < size.layers; ++layer, width = size.units) {
    const auto w = net.constant(random({1, 4 * size.units, width}, bound, seed)),
               r = net.constant(random({1, 4 * size.units, size.units}, bound, seed)),
               b = net.constant(random({1, 8 * size.units}, bound, seed));
    x = net.shuffle(net.add_node("LSTM", {x, w, r, b}, {{"hidden_size", size.units}}).at(0), {}, Shape{size.rows, 1, size.units});
  }
  x = net.shuffle(net.slice(x, {size.rows - 1, 0, 0}, {1, 1, size.units}), {}, Shape{1, size.units});
  x = net.elementwise(Elementwise::sum, net.matrix_multiply(x, net.constant(random({size.units, 1}, bound, seed))),
                      net.constant(random({1}, bound, seed)));
  net.mark_output(x, "y");
  return build(net, config);
}

LatencyCase lstm_case(const std::string& name, const BuildConfig& config) {
  for (const LstmSize& size : kSizes)
    if (size.name == name) {
      LatencyCase one = {"LSTM " + name, {{"engine", [&size, config] { return build_lstm(size, config); }}}, {}};
      for (std::size_t i = 0; i < std::size(kPublishers); ++i) one.published.push_back({kPublishers[i], size.published_us[i]});
      return one;
    }
  throw UsageError("--sizes: '" + name + "' is none of A, B and C");
}

EngineCandidate named(std::string name, EngineCandidate candidate) {
  candidate.name = std::move(name);
  return candidate;
}

EngineCandidate untimed(const std::string& name, const LatencyWish& w, const std::string& device) {
  BuildConfig config = w.build;
  config.optimization_level = 0, config.device = device;
  return named(name, model_candidate(w.onnx, config));
}

// Weights in huge pages, or locked: a plan is loaded so, and one that was just built is loaded again.
LoadOptions load_options(const LatencyWish& w) {
  LoadOptions options;
  options.threads = w.build.threads, options.cpu_features = w.build.cpu_features, options.plugins = w.build.plugins;
  options.log = w.build.log;
  if (w.machine.lock_memory) options.weights = WeightsMode::lock;
  else if (w.huge_pages) options.weights = WeightsMode::copy;
  return options;
}

EngineCandidate first_candidate(const LatencyWish& w, bool device_given) {
  LoadOptions options = load_options(w);
  if (!w.plan.empty()) return named("engine", compatible_candidate(w.plan, device_given ? w.build.device : "", options));
  options.device = w.build.device;
  return {"engine", [w, options] {
            const Engine built = build_file(w.onnx, w.build);
            return options.weights == WeightsMode::automatic ? built : Engine::load(built.serialize(), options);
          }};
}

}  // namespace

std::vector<LatencyCase> latency_cases(const LatencyWish& w) {
  const bool model = !w.onnx.empty(), plan = !w.plan.empty();
  if (w.sizes.empty() == (!model && !plan))
    throw UsageError("say what to run: --onnx=FILE, --loadEngine=FILE, both of one model, or --sizes=A,B,C");
  std::vector<LatencyCase> cases;
  for (const std::string& size : w.sizes) cases.push_back(lstm_case(size, w.build));
  if (!cases.empty()) return cases;
  const bool gpu = is_gpu(w.build.device);
  std::vector<EngineCandidate> candidates = {first_candidate(w, gpu)};
  if (model && gpu) candidates.push_back(untimed("direct", w, w.build.device));
  if (model && (gpu || plan)) candidates.push_back(untimed("cpu", w, "cpu"));
  return {{plan ? w.plan : w.onnx, std::move(candidates), {}}};
}

}  // namespace tenfold::cli
