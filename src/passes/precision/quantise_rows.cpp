// The products are found, their weights rounded, and the rows of what they share quantised once.
#include "passes/precision/quantise_rows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/finite.h"
#include "ir/recipe.h"
#include "quant/place_qdq.h"
#include "quant/weights.h"

namespace tenfold::passes {
namespace {

using ir::Value;

// Shorter sums are not worth what quantising takes; longer ones may leave 32 bits.
constexpr std::int64_t kLeastDepth = 32, kMostDepth = 65000;

bool takes(const ir::Node& n) {
  if (n.op() != "MatMul" || !quant::is_product(n) || !quant::why_wide(n).empty()) return false;
  if (n.numerics.type && bits(*n.numerics.type) > 8) return false;   // the user wants this layer in floats
  const std::int64_t depth = n.in(1)->dims()[0].constant();
  return depth >= kLeastDepth && depth <= kMostDepth && ir::all_finite(n.in(1)->constant->tensor);
}

// Within [-most, most], where that is less than what the weights have: as many steps less of each column's scale.
void narrow(const Tensor& weights, quant::QuantisedWeights& q, int most) {
  constexpr int kMost = 127;
  if (most >= kMost) return;
  const std::int64_t columns = q.scales.size();
  auto* scales = q.scales.mutable_data<float>();
  for (std::int64_t j = 0; j < columns; ++j) scales[j] *= static_cast<float>(kMost) / static_cast<float>(most);
  const auto* from = weights.data<float>();
  auto* to = q.values.mutable_data<std::int8_t>();
  const auto limit = static_cast<float>(most);
  for (std::int64_t i = 0; i < weights.size(); ++i)
    to[i] = static_cast<std::int8_t>(std::clamp(std::nearbyint(from[i] / scales[i % columns]), -limit, limit));
}

class Rows {
 public:
  Rows(ir::Graph& graph, int most) : graph_(graph), most_(most) {}

  bool run() {
    bool changed = false;
    for (ir::Node* n : graph_.node_list())
      if (takes(*n)) quantise(*n), changed = true;
    return changed;
  }

 private:
  void quantise(ir::Node& n) {
    Value* w = n.in(1);
    ir::fix(*w->constant, "rounded to 8 bits, for a product whose rows are quantised as they run");
    quant::QuantisedWeights weights = quant::quantise_weights(w->constant->tensor, 1);
    narrow(w->constant->tensor, weights, most_);
    Value* values = graph_.add_constant(std::move(weights.values), graph_.unique_name(w->name + "_i8"));
    Value* scales = graph_.add_constant(std::move(weights.scales), graph_.unique_name(w->name + "_scales"));
    Tensor middle(DType::u8, {});
    *middle.mutable_data<std::uint8_t>() = 128;
    Value* zero = graph_.add_constant(std::move(middle), graph_.unique_name(n.name + "_zero"));
    ir::Node*& rows = rows_[n.in(0)];   // queries, keys and values share them
    if (rows == nullptr) rows = graph_.add("QuantizeRows", {n.in(0)}, {}, 2, graph_.unique_name(n.in(0)->name + "_rows"), &n);
    Value* sum = graph_.add("MatMulInteger", {rows->outputs[0], values, zero}, {}, 1, n.name, &n)->out();
    Value* y = graph_.make("Mul", {graph_.make("Cast", {sum}, {{"to", "f32"}}, &n), rows->outputs[1]}, {}, &n);
    graph_.replace_uses(n.out(), graph_.make("Mul", {y, scales}, {}, &n));
  }

  ir::Graph& graph_;
  int most_;
  std::map<Value*, ir::Node*> rows_;
};

}  // namespace

bool quantise_rows(ir::Graph& graph, int most) { return Rows(graph, most).run(); }

}  // namespace tenfold::passes
