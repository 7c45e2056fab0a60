// quantise_rows: products of a plain model's activations with constant weights become products of integers without any data: each row
// of the activations gets its scale as it runs, each column of the weights has one. For CPUs, where a calibration "dynamic" permits it.
//
// before: (x f32[2,64])
//   w = constant f32[64,4]
//   y = MatMul(x, w)
// after: (x f32[2,64])
//   z = u8[]{128}
//   wq = constant i8[64,4]
//   ws = constant f32[4]
//   q, s = QuantizeRows(x)
//   p = MatMulInteger(q, wq, z)
//   f = Cast(p) to="f32"
//   t = Mul(f, s)
//   y = Mul(t, ws)
//
// kept: (x f32[2,8])
//   w = constant f32[8,4]
//   y = MatMul(x, w)
//
// kept: (x f32[2,64], w f32[64,4])
//   y = MatMul(x, w)
#include <map>

#include "ir/finite.h"
#include "ir/recipe.h"
#include "passes/pass.h"
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

class Rows {
 public:
  explicit Rows(ir::Graph& graph) : graph_(graph) {}

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
  std::map<Value*, ir::Node*> rows_;
};

bool run(ir::Graph& graph) { return Rows(graph).run(); }

}  // namespace

Pass pass_quantise_rows() { return {.name = "quantise_rows", .run = run}; }

}  // namespace tenfold::passes
