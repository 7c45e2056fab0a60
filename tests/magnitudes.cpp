// Running each node with absolute values, or with operands that move a little; see magnitudes.h.
#include "magnitudes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <unordered_map>

#include "backends/magnitude_for_tests.h"
#include "base/check.h"
#include "base/types/element.h"

namespace tenfold::tests {
namespace {

using ops::RuntimeValue;

bool is_real(const Tensor& t) { return is_float(t.dtype()); }

Tensor to_type(DType dtype, const Tensor& t) {
  Tensor out(dtype, t.shape());
  for (std::int64_t i = 0; i < t.size(); ++i) store_double(dtype, out.mutable_raw(), i, t.as_double(i));
  return out;
}
Tensor widened(const Tensor& t) { return is_real(t) && t.dtype() != DType::f64 ? to_type(DType::f64, t) : t; }

template <class F>
Tensor each(const Tensor& t, F&& f) {
  Tensor out(DType::f64, t.shape());
  auto* const to = out.mutable_data<double>();
  for (std::int64_t i = 0; i < t.size(); ++i) to[i] = f(i);
  return out;
}

// Results are sums of their operands' elements times constants that are no operands, or of products of two.
bool is_sum(const ir::Node& n) {
  static const std::set<std::string> kSums{"MatMul", "Gemm", "Conv", "ConvTranspose", "ReduceSum", "ReduceMean", "ReduceMax", "CumSum",
                                           "AveragePool", "GlobalAveragePool", "MaxPool", "Add", "Mul", "Sum", "Mean", "Pad", "Where"};
  return !n.body && (n.def->traits.movement != ir::Movement::none || kSums.count(n.op()) > 0);
}

std::vector<Tensor> run(const ir::Node& node, const std::vector<RuntimeValue>& operands) {
  std::vector<RuntimeValue> results;
  try {
    results = ops::run_node(node, operands);
  } catch (const Error&) {   // it takes no f64
    std::vector<RuntimeValue> narrow;
    for (const RuntimeValue& v : operands) {
      const Tensor* t = std::get_if<Tensor>(&v);
      narrow.push_back(t && is_real(*t) ? RuntimeValue(to_type(DType::f32, *t)) : v);
    }
    results = ops::run_node(node, narrow);
  }
  std::vector<Tensor> wide;
  for (const RuntimeValue& v : results) wide.push_back(widened(std::get<Tensor>(v)));
  return wide;
}

// The node on operands made of what is known of each: its value, and its magnitude if it is real.
template <class Make>
std::vector<Tensor> run_on(const ir::Node& node, const std::vector<const Judged*>& operands, Make&& make) {
  std::vector<RuntimeValue> values;
  for (const Judged* j : operands)
    values.push_back(!j ? RuntimeValue() : is_real(j->value) ? RuntimeValue(make(*j)) : RuntimeValue(j->value));
  return run(node, values);
}

void raise(Judged& to, const Tensor& by) {
  to.magnitude = each(to.value, [&](std::int64_t i) {
    const double seen = std::abs(by.as_double(i)), known = to.magnitude.as_double(i);
    return std::isnan(seen) ? known : std::max(known, seen);
  });
}

// What the operator itself adds up: 1 + erf(x) of a GELU, x less its mean of a norm.
void try_parts(const ir::Node& node, const std::vector<const Judged*>& operands, std::vector<Judged>& results) {
  if (!node.graphs.empty()) return;
  std::vector<Tensor> narrow;
  std::vector<bool> missing;
  ir::Graph alone(ir::Registry::builtin());   // where no extent is a symbol
  ir::Node copy;
  copy.def = node.def, copy.name = node.name, copy.attributes = node.attributes, copy.numerics = node.numerics;
  copy.body = node.body, copy.anchor_inputs = node.anchor_inputs;
  for (const Judged* j : operands) {
    missing.push_back(!j);
    narrow.push_back(!j ? Tensor() : is_real(j->value) ? to_type(DType::f32, j->value) : j->value);
    copy.inputs.push_back(j ? alone.add_constant(narrow.back()) : nullptr);
  }
  const ir::Node& fixed = *alone.add(std::move(copy), static_cast<int>(node.outputs.size()));
  const auto parts = backends::testing::Magnitudes::of(*node.def, fixed, narrow, missing);
  for (std::size_t r = 0; parts && r < std::min(results.size(), parts->size()); ++r)
    if (is_real(results[r].value) && static_cast<std::int64_t>((*parts)[r].magnitude.size()) == results[r].value.size())
      raise(results[r], each(results[r].value, [&](std::int64_t i) { return (*parts)[r].magnitude[static_cast<std::size_t>(i)]; }));
}

// How far results move: with all operands larger, all smaller, and some of each.
void try_moves(const ir::Node& node, const std::vector<const Judged*>& operands, double step, std::vector<Judged>& results) {
  constexpr int kMoves = 8;
  std::mt19937_64 random(7);
  for (int move = 0; move < kMoves; ++move) {
    const std::vector<Tensor> moved = run_on(node, operands, [&](const Judged& j) {
      return each(j.value, [&](std::int64_t i) {
        const double sign = move < 2 ? 1 - 2 * move : random() % 2 ? 1 : -1;
        return j.value.as_double(i) + sign * step * j.magnitude.as_double(i);
      });
    });
    for (std::size_t r = 0; r < results.size(); ++r)
      if (is_real(results[r].value))
        raise(results[r], each(moved[r], [&](std::int64_t i) { return (moved[r].as_double(i) - results[r].value.as_double(i)) / step; }));
  }
}

std::vector<Judged> judge_node(const ir::Node& node, const std::vector<const Judged*>& operands, double step) {
  std::vector<Judged> results;
  for (Tensor& t : run_on(node, operands, [](const Judged& j) { return j.value; })) {
    Tensor magnitude = is_real(t) ? each(t, [&](std::int64_t i) { return std::abs(t.as_double(i)); }) : Tensor();
    results.push_back({std::move(t), std::move(magnitude)});
  }
  if (!is_sum(node)) {
    try_parts(node, operands, results);
    try_moves(node, operands, step, results);
    return results;
  }
  const std::vector<Tensor> sums = run_on(node, operands, [](const Judged& j) { return j.magnitude; });
  for (std::size_t r = 0; r < results.size(); ++r)
    if (is_real(results[r].value)) raise(results[r], sums[r]);
  return results;
}

Judged exact(const Tensor& t) {
  Judged j{widened(t), {}};
  if (is_real(t)) j.magnitude = each(t, [&](std::int64_t i) { return std::abs(t.as_double(i)); });
  return j;
}

}  // namespace

std::vector<Judged> judge(const ir::Graph& graph, const std::vector<Tensor>& inputs, double step) {
  std::unordered_map<const ir::Value*, Judged> known;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) known[graph.inputs[i]] = exact(inputs.at(i));
  for (const auto& v : graph.values())
    if (v->is_constant()) known[v.get()] = exact(v->constant->tensor);
  for (const auto& n : graph.nodes()) {
    std::vector<const Judged*> operands;
    for (const ir::Value* v : n->inputs) operands.push_back(v ? &known.at(v) : nullptr);
    std::vector<Judged> results = judge_node(*n, operands, step);
    for (std::size_t r = 0; r < results.size(); ++r) known[n->outputs[r]] = std::move(results[r]);
  }
  std::vector<Judged> outputs;
  for (const ir::Value* v : graph.outputs) outputs.push_back(known.at(v));
  return outputs;
}

std::string beyond(const Tensor& got, const Judged& expected, double tolerance, double min) {
  if (got.shape() != expected.value.shape()) return "shape [" + text(got.shape()) + "], [" + text(expected.value.shape()) + "] expected";
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double g = got.as_double(i), w = expected.value.as_double(i);
    if (g == w || (std::isnan(g) && std::isnan(w)) || (std::abs(w) > std::numeric_limits<float>::max() && g == std::copysign(INFINITY, w)))
      continue;   // beyond f32
    const double magnitude = is_real(expected.value) ? expected.magnitude.as_double(i) : 0, off = std::abs(g - w);
    if (off <= tolerance * magnitude + min) continue;
    return cat("element ", i, " is ", g, ", ", w, " expected: ", off / magnitude, " of its magnitude, ", magnitude);
  }
  return "";
}

}  // namespace tenfold::tests
