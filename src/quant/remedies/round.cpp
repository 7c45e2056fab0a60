// round: weights round to the side that keeps the product's results (after AdaRound, Nagel et al. 2020, arXiv 2004.10568): coordinate
// descent on the squared error of each sum, by the second moments of its data.
#include <algorithm>

#include "base/threads/spread.h"
#include "quant/moments.h"
#include "quant/remedy.h"
#include "quant/scale_channels.h"
#include "quant/weights.h"

namespace tenfold::quant {
namespace {

using ir::Node;

constexpr double kMostWork = 4e10;                       // multiplications, of all products
constexpr std::size_t kMostMemory = std::size_t{1} << 28;   // of moments at a time

struct Task {
  const DataOperand* operand;
  const Node* product;    // where channels are scaled
  ProductWeights w;
  double work() const {
    const auto terms = static_cast<double>(w.terms());
    return terms * terms * static_cast<double>(w.out + 1024 * w.groups);
  }
  std::size_t memory() const { return static_cast<std::size_t>(w.groups * w.terms() * w.terms()) * sizeof(float); }
};

Tensor rounded(const Task& task, Moments& moments) {
  const ProductWeights& w = task.w;
  const std::int64_t n = w.terms();
  for (std::int64_t g = 0; g < w.groups; ++g) {
    float* m = moments.sums.data() + g * n * n;
    double trace = 0;
    for (std::int64_t i = 0; i < n; ++i) trace += static_cast<double>(m[i * n + i]);
    constexpr double kDamping = 0.1;   // the samples are few
    for (std::int64_t i = 0; i < n; ++i) {
      m[i * n + i] += static_cast<float>(kDamping * trace / static_cast<double>(n));
      for (std::int64_t j = 0; j < i; ++j) m[i * n + j] = m[j * n + i];
    }
  }
  const Tensor& weights = task.product->in(1)->constant->tensor;
  const bool matrix = w.channels_last && w.row == 1;
  QuantisedWeights q = quantise_weights(weights, matrix ? 1 : 0);
  auto* bytes = q.values.mutable_data<std::int8_t>();
  const float* scales = q.scales.data<float>();
  spread_stretches(w.out, 1, w.out * n * n * 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o)
      round_by_moments(moments.of_group(o / (w.out / w.groups)), n, weights.data<float>() + o * w.row, scales[o], bytes + o * w.row,
                       w.step);
  });
  return std::move(q.values);
}

void run_tasks(const Symptoms& s, const std::vector<const Task*>& tasks, Corrections& to) {
  std::vector<Moments> moments;
  std::set<std::string, std::less<>> values;
  for (const Task* task : tasks) moments.emplace_back(*task->product, task->w), values.insert(task->operand->seen);
  s.run([&](std::string_view value, const Tensor& t) {
    if (t.dtype() != DType::f32) return;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i]->operand->seen != value) continue;
      const auto factors = to.channels.find(tasks[i]->operand->value->name);
      moments[i].add(t, factors == to.channels.end() ? std::vector<float>() : factors->second);
    }
  }, values, kMoreSamples);
  for (std::size_t i = 0; i < tasks.size(); ++i) to.weights[tasks[i]->product->out()->name] = rounded(*tasks[i], moments[i]);
}

std::optional<Ranges> apply(const Symptoms& s) {
  ir::Graph scaled = s.graph.clone();
  scale_channels(scaled, s.ranges.corrections.channels);
  std::map<std::string_view, const Node*> products;
  for (const auto& node : scaled.nodes())
    if (weights_of(*node)) products[node->out()->name] = node.get();
  const auto operands = data_operands(s.graph, s.placing);
  std::vector<Task> tasks;
  for (const auto& [name, operand] : operands)
    for (const Node* product : operand.products)
      if (const auto at = products.find(product->out()->name); at != products.end()) {
        const Task task{&operand, at->second, *weights_of(*at->second)};
        if (task.memory() <= kMostMemory && Moments(*task.product, task.w).known()) tasks.push_back(task);
      }
  std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) { return a.work() < b.work(); });
  Ranges result = s.ranges;
  std::vector<const Task*> together;
  std::size_t memory = 0;
  double work = 0;
  for (const Task& task : tasks) {
    if ((work += task.work()) > kMostWork) break;
    if (memory + task.memory() > kMostMemory) run_tasks(s, together, result.corrections), together.clear(), memory = 0;
    together.push_back(&task), memory += task.memory();
  }
  if (!together.empty()) run_tasks(s, together, result.corrections);
  return result.corrections.weights.empty() ? std::optional<Ranges>() : result;
}

}  // namespace

Remedy remedy_round() { return {"round", apply}; }

}  // namespace tenfold::quant
