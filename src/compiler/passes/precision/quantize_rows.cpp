// The products are found, their weights rounded, and the rows of what they share quantized once.
#include "passes/precision/quantize_rows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/finite.h"
#include "ir/recipe.h"
#include "passes/precision/fold_gemms.h"
#include "quant/place_qdq.h"
#include "quant/weights/channels.h"

namespace tenfold::passes {
namespace {

using ir::Value;

// Shorter sums are not worth what quantizing takes; longer ones may leave 32 bits.
constexpr std::int64_t kMinDepth = 32, kMaxDepth = 65000;
constexpr std::int64_t kMaxRegisters = 32768;   // a GPU holds a row in registers

bool takes(const ir::Node& n, const RowsForm& form) {
  if (n.op() != "MatMul" || !quant::is_product(n) || !quant::why_wide(n).empty()) return false;
  const std::optional<DType> given = n.numerics.type;
  if (given && bits(*given) > 8) return false;   // the user wants this layer in floats
  const bool requested = given ? (*given == DType::f8e4m3fn) == (form.type == DType::f8e4m3fn) : form.usual;
  if (form.for_tensor_cores() && (!fits_tensor_cores(n) || !requested)) return false;
  const std::int64_t depth = n.in(1)->dims()[0].constant();
  return depth >= kMinDepth && depth <= (form.for_tensor_cores() ? kMaxRegisters : kMaxDepth) &&
         ir::all_finite(n.in(1)->constant->tensor);
}

// Within [-most, most], where that is less than what the weights have: as many steps less of each column's scale.
void narrow(const Tensor& weights, quant::QuantizedWeights& q, int max) {
  constexpr int kMax = 127;
  if (max >= kMax) return;
  const std::int64_t columns = q.scales.size();
  auto* scales = q.scales.mutable_data<float>();
  for (std::int64_t j = 0; j < columns; ++j) scales[j] *= static_cast<float>(kMax) / static_cast<float>(max);
  const auto* from = weights.data<float>();
  auto* to = q.values.mutable_data<std::int8_t>();
  const auto limit = static_cast<float>(max);
  for (std::int64_t i = 0; i < weights.size(); ++i)
    to[i] = static_cast<std::int8_t>(std::clamp(std::nearbyint(from[i] / scales[i % columns]), -limit, limit));
}

class Rows {
 public:
  Rows(ir::Graph& graph, const RowsForm& form) : graph_(graph), form_(form) {}

  bool run() {
    bool changed = false;
    for (ir::Node* n : graph_.node_list())
      if (takes(*n, form_)) quantize(*n), changed = true;
    return changed;
  }

 private:
  void quantize(ir::Node& n) {
    Value* w = n.in(1);
    ir::fix(*w->constant, "rounded to int8, for a GEMM whose rows are quantized at run time");
    const bool float8 = form_.type == DType::f8e4m3fn;
    quant::QuantizedWeights weights =
        quant::quantize_weights(w->constant->tensor, 1, float8 ? quant::WeightForm::e4m3 : quant::WeightForm::bytes);
    narrow(w->constant->tensor, weights, form_.max);
    Value* values = graph_.add_constant(std::move(weights.values), graph_.unique_name(w->name + (float8 ? "_e4m3" : "_i8")));
    Value* scales = graph_.add_constant(std::move(weights.scales), graph_.unique_name(w->name + "_scales"));
    ir::Node*& rows = rows_[n.in(0)];   // queries, keys and values share them
    if (rows == nullptr) rows = add_rows(n);
    std::vector<Value*> operands{rows->outputs[0], values};
    if (form_.type == DType::u8) operands.push_back(middle(n));
    Value* sum = graph_.add(float8 ? "MatMulFloat8" : "MatMulInteger", operands, {}, 1, n.name, &n)->out();
    if (!float8) sum = graph_.make("Cast", {sum}, {{"to", "f32"}}, &n);
    Value* y = graph_.make("Mul", {sum, rows->outputs[1]}, {}, &n);
    graph_.replace_uses(n.out(), graph_.make("Mul", {y, scales}, {}, &n));
  }
  ir::Node* add_rows(ir::Node& n) {
    ir::Attributes attributes;
    if (form_.type != DType::u8) attributes.set("to", std::string(name(form_.type)));
    return graph_.add("QuantizeRows", {n.in(0)}, std::move(attributes), 2, graph_.unique_name(n.in(0)->name + "_rows"), &n);
  }
  Value* middle(const ir::Node& n) {
    Tensor middle(DType::u8, {});
    *middle.mutable_data<std::uint8_t>() = 128;
    return graph_.add_constant(std::move(middle), graph_.unique_name(n.name + "_zero"));
  }

  ir::Graph& graph_;
  RowsForm form_;
  std::map<Value*, ir::Node*> rows_;
};

}  // namespace

bool quantize_rows(ir::Graph& graph, const RowsForm& form) { return Rows(graph, form).run(); }

}  // namespace tenfold::passes
