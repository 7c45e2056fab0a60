#include "builder/budget/sensitivity.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "builder/budget/stored_runs.h"
#include "builder/model/profiles.h"
#include "builder/precision/observed_runs.h"
#include "builder/precision/samples.h"
#include "passes/pipeline.h"

namespace tenfold::builder {
namespace {

constexpr std::size_t kMaxSamples = 8;
constexpr double kShareOfSearch = 1.0 / 30;   // after which no further sample is begun

// One node of a layer in one type.
struct Trial {
  std::size_t layer = 0, cut = 0;
  std::string node;
  DType type = DType::f32;
  std::vector<double> error = {}, size = {};   // squares, by output
};

void round_to(ir::Graph& graph, ir::Node& node, DType type) {
  const auto rounded = [&](ir::Value* v) {
    ir::Value* narrow = graph.make("Cast", {v}, {{"to", std::string(name(type))}});
    return graph.make("Cast", {narrow}, {{"to", std::string(name(DType::f32))}});
  };
  const auto is_wide = [](const ir::Value* v) { return v && v->type.is_tensor() && v->dtype() == DType::f32; };
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (is_wide(node.inputs[i])) graph.set_input(node, static_cast<int>(i), rounded(node.inputs[i]));
  for (ir::Value* v : node.outputs) {
    if (!is_wide(v)) continue;
    ir::Value* result = rounded(v);
    ir::Node* first = result->producer->in(0)->producer;
    graph.replace_uses(v, result);
    graph.set_input(*first, 0, v);
  }
}

class Alone {
 public:
  Alone(Layers& layers, const AloneRuns& runs, const std::function<bool(int, int)>& go_on) : layers_(layers), runs_(runs), go_on_(go_on) {
    for (const auto& node : runs.rewritten.nodes())
      for (std::size_t i = 0; i < layers.list.size(); ++i) add_trials(i, node->name);
    for (const ir::Value* v : runs.source.outputs) {
      const auto own = runs.config.budget->outputs.find(v->name);
      bounds_.push_back(own == runs.config.budget->outputs.end() ? runs.config.budget->max_error : own->second);
    }
    for (Trial& t : trials_) t.error.resize(bounds_.size()), t.size.resize(bounds_.size());
  }

  void run() {
    if (trials_.empty()) return;
    std::vector<InputSet> samples;
    for_each_sample(*runs_.config.calibration, 0, [&](const InputSet& sample) {
      if (samples.size() < kMaxSamples) samples.push_back(sample);
    });
    total_ = static_cast<int>(trials_.size() * samples.size());
    if (can_keep(samples.front())) from_kept(samples);
    else whole(samples);
    report_errors();
  }

 private:
  void add_trials(std::size_t layer, const std::string& node) {
    const Layer& l = layers_.list[layer];
    if (!std::count(l.nodes.begin(), l.nodes.end(), node)) return;
    bool any = false;
    for (const DType type : l.types)
      if (type != DType::f32 && l.types.size() > 1) trials_.push_back({layer, cuts_.size(), node, type}), any = true;
    if (any) cuts_.push_back(node);
  }

  static std::vector<std::pair<std::string, Shape>> shapes_of(const InputSet& sample) {
    std::vector<std::pair<std::string, Shape>> shapes;
    for (const auto& [input, tensor] : sample) shapes.emplace_back(input, tensor.shape());
    return shapes;
  }
  std::unique_ptr<StoredRuns> stored_for(const InputSet& sample) const {
    OptimizationProfile profile;
    for (const auto& [input, shape] : shapes_of(sample)) profile[input] = {shape, shape, shape};
    std::vector<plan::Range> ranges = symbol_ranges(runs_.source, profile, {});
    ir::Graph graph = runs_.rewritten.clone();
    specialize(graph, ranges);
    return std::make_unique<StoredRuns>(std::move(graph), std::move(ranges), cuts_, runs_.config);
  }
  bool can_keep(const InputSet& sample) {
    try {
      const std::optional<std::int64_t> bytes = stored_for(sample)->bytes();
      return bytes && *bytes <= runs_.config.budget->search_memory;
    } catch (const Error&) {   // sizes that only a run knows
      return false;
    }
  }

  void change(ir::Graph& graph, ir::Node& node, const Trial& trial) const {
    if (bits(trial.type) > 8) return round_to(graph, node, trial.type);
    quant::Placing alone = runs_.placing;
    alone.takes = [&](const ir::Node& product) {
      return product.name == trial.node && (!runs_.placing.takes || runs_.placing.takes(product));
    };
    alone.other = [&](const ir::Node&) { return (trial.type == DType::f8e4m3fn) != runs_.placing.float8; };
    place_qdq(graph, runs_.ranges, alone);
    passes::run(graph, {passes::find_pass("lower_qdq")});
  }

  bool step() { return go_on_(++done_, total_); }
  bool time_for_more() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() <
           kShareOfSearch * runs_.config.budget->search_seconds;
  }
  static void judge(Trial& trial, const std::vector<RuntimeValue>& got, const std::vector<RuntimeValue>& expected) {
    for (std::size_t o = 0; o < expected.size(); ++o) add_difference(got[o], expected[o], trial.error[o], trial.size[o]);
  }

  void from_kept(const std::vector<InputSet>& samples) {
    std::vector<std::pair<std::string, Shape>> shapes;
    std::unique_ptr<StoredRuns> stored;
    std::vector<StoredRuns::Other> others;
    for (std::size_t s = 0; s < samples.size() && (s == 0 || time_for_more()); ++s) {
      if (shapes_of(samples[s]) != shapes) stored = stored_for(samples[s]), shapes = shapes_of(samples[s]), others.clear();
      const std::vector<RuntimeValue> expected = stored->take(samples[s]);
      for (std::size_t t = 0; t < trials_.size(); ++t) {
        Trial& trial = trials_[t];
        if (others.size() == t)
          others.push_back(stored->other(trial.cut, [&](ir::Graph& piece, ir::Node& node) { change(piece, node, trial); }));
        judge(trial, stored->outputs_with(trial.cut, others[t]), expected);
        known_ = std::max(known_, t + 1);
        if (!step()) return;
      }
    }
  }
  void whole(const std::vector<InputSet>& samples) {
    const std::vector<plan::Range> ranges = symbol_ranges(runs_.source, profile_of_samples(runs_.config), {});
    const auto runs_of = [&](ir::Graph graph) {
      passes::run(graph, {passes::find_pass("fold_constants"), passes::find_pass("fuse_regions")});
      return ObservedRuns(std::move(graph), ranges, runs_.config);
    };
    constexpr std::size_t kFew = 2;
    const std::size_t count = std::min(samples.size(), kFew);
    total_ = static_cast<int>(trials_.size() * count);
    ObservedRuns floats = runs_of(runs_.rewritten.clone());
    std::vector<std::vector<RuntimeValue>> expected;
    for (std::size_t s = 0; s < count; ++s) expected.push_back(floats.run(samples[s]));
    for (Trial& trial : trials_) {
      ir::Graph graph = runs_.rewritten.clone();
      for (ir::Node* node : graph.node_list())
        if (node->name == trial.node) change(graph, *node, trial);
      graph.sort();
      ObservedRuns runs = runs_of(std::move(graph));
      for (std::size_t s = 0; s < count; ++s) {
        judge(trial, runs.run(samples[s]), expected[s]);
        if (!step()) return;
      }
      ++known_;
    }
  }

  // Nodes of one layer add up in their squares.
  void report_errors() {
    constexpr double kBroken = 1e3;   // infinities and NaN
    double largest = 0;
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      const Trial& trial = trials_[t];
      double error = 0;
      for (std::size_t o = 0; o < bounds_.size(); ++o)
        if (trial.size[o] > 0)
          error = std::max(error, std::sqrt(trial.error[o] / trial.size[o]) * runs_.config.budget->max_error / bounds_[o]);
      double& sum = layers_.list[trial.layer].error[trial.type];
      sum = std::isfinite(error) ? std::hypot(sum, error) : kBroken;
      if (t < known_) largest = std::max(largest, sum);
    }
    for (std::size_t t = known_; t < trials_.size(); ++t) layers_.list[trials_[t].layer].error[trials_[t].type] = largest;
  }

  Layers& layers_;
  const AloneRuns& runs_;
  const std::function<bool(int, int)>& go_on_;
  std::vector<Trial> trials_;        // in the order of the graph
  std::vector<std::string> cuts_;
  std::vector<double> bounds_;
  std::size_t known_ = 0;            // trials that ran
  int done_ = 0, total_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

void measure_alone(Layers& layers, const AloneRuns& runs, const std::function<bool(int done, int total)>& go_on) {
  Alone(layers, runs, go_on).run();
}

}  // namespace tenfold::builder
