// round: weights round to the side that keeps the product's results (after AdaRound, Nagel et al. 2020, arXiv 2004.10568): coordinate
// descent on the squared error of each sum, by the second moments of its data.
#include <algorithm>
#include <cmath>

#include "base/threads/spread.h"
#include "quant/product_rows.h"
#include "quant/correction_method.h"
#include "quant/scale_channels.h"
#include "quant/weights/channels.h"
#include "quant/weights/descent.h"
#include "quant/weights/moments.h"

namespace tenfold::quant {
namespace {

using ir::Node;

constexpr double kMaxWork = 4e10;                       // multiplications, of all products
constexpr std::size_t kMaxMemory = std::size_t{1} << 28;   // of moments at a time

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

// A weight rounds up or down; one that is clipped stays so.
Stepped to_either_side(const float* weights, const std::int8_t* bytes, std::int64_t step, std::size_t n, float scale,
                       const Levels& levels) {
  Stepped column{.steps = std::vector<float>(n, scale)};
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::int64_t>(i) * step;
    const auto level = static_cast<float>(bytes[at]);
    const float exact = weights[at] / scale, low = std::floor(exact), high = std::ceil(exact);
    const bool is_within = low >= static_cast<float>(levels.min) && high <= static_cast<float>(levels.max);
    column.weights.push_back(weights[at]), column.levels.push_back(level);
    column.min.push_back(is_within ? low : level), column.max.push_back(is_within ? high : level);
  }
  return column;
}

Tensor rounded(const Task& task, const Moments& moments, WeightForm form) {
  const ProductWeights& w = task.w;
  const auto n = static_cast<std::size_t>(w.terms());
  const Tensor& weights = task.product->in(1)->constant->tensor;
  QuantizedWeights q = quantize_weights(weights, w.channels_last && w.row == 1 ? 1 : 0, form);
  auto* const bytes = q.values.mutable_data<std::int8_t>();
  const std::int64_t sums = w.out / w.groups;  // of each group
  for (std::int64_t g = 0; g < w.groups; ++g) {
    const std::vector<float> damped = moments.damped(g);
    spread_stretches(sums, 1, sums * w.terms() * w.terms() * 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = g * sums + begin; o < g * sums + end; ++o) {
        std::int8_t* const own = bytes + o * w.row;
        Stepped column = to_either_side(weights.data<float>() + o * w.row, own, w.step, n, q.scales.data<float>()[o], levels_of(form));
        descend(damped, column);
        for (std::size_t i = 0; i < n; ++i) own[static_cast<std::int64_t>(i) * w.step] = static_cast<std::int8_t>(column.levels[i]);
      }
    });
  }
  return std::move(q.values);
}

void run_tasks(const CorrectionInput& s, const std::vector<const Task*>& tasks, Corrections& to) {
  std::vector<Moments> moments;
  std::set<std::string, std::less<>> values;
  std::vector<ProductRows> rows;
  for (const Task* task : tasks) {
    moments.emplace_back(task->w.terms(), task->w.groups), rows.emplace_back(*task->product, task->w);
    values.insert(task->operand->seen);
  }
  s.run([&](std::string_view value, const Tensor& t) {
    if (t.dtype() != DType::f32) return;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i]->operand->seen != value) continue;
      const auto factors = to.channels.find(tasks[i]->operand->value->name);
      const std::vector<float> some = rows[i].of(t, factors == to.channels.end() ? std::vector<float>() : factors->second);
      moments[i].add(some.data(), static_cast<std::int64_t>(some.size()) / (tasks[i]->w.groups * tasks[i]->w.terms()));
    }
  }, values, kMoreSamples);
  for (std::size_t i = 0; i < tasks.size(); ++i)
    to.weights[tasks[i]->product->out()->name] = rounded(*tasks[i], moments[i], s.placing.weights);
}

// The steps of e4m3 are no whole numbers of one.
bool takes(const Placing& placing, const Node& product) { return !placing.is_float8(product) && !placing.has_other(product); }

std::optional<Ranges> apply(const CorrectionInput& s) {
  if (s.placing.float8) return {};
  ir::Graph scaled = s.graph.clone();
  scale_channels(scaled, s.ranges.corrections.channels);
  std::map<std::string_view, const Node*> products;
  for (const auto& node : scaled.nodes())
    if (weights_of(*node)) products[node->out()->name] = node.get();
  const auto operands = data_operands(s.graph, s.placing);
  std::vector<Task> tasks;
  for (const auto& [name, operand] : operands)
    for (const Node* product : operand.products)
      if (const auto at = products.find(product->out()->name); at != products.end() && takes(s.placing, *product)) {
        const Task task{&operand, at->second, *weights_of(*at->second)};
        if (task.memory() <= kMaxMemory && ProductRows(*task.product, task.w).known()) tasks.push_back(task);
      }
  std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) { return a.work() < b.work(); });
  Ranges result = s.ranges;
  std::vector<const Task*> together;
  std::size_t memory = 0;
  double work = 0;
  for (const Task& task : tasks) {
    if ((work += task.work()) > kMaxWork) break;
    if (memory + task.memory() > kMaxMemory) run_tasks(s, together, result.corrections), together.clear(), memory = 0;
    together.push_back(&task), memory += task.memory();
  }
  if (!together.empty()) run_tasks(s, together, result.corrections);
  return result.corrections.weights.empty() ? std::optional<Ranges>() : result;
}

}  // namespace

CorrectionMethod correction_method_round() { return {"round", apply}; }

}  // namespace tenfold::quant
