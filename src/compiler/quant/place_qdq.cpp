// place_qdq: a quantizer's own pass. It runs once a graph has one form of everything and convolutions have taken in what scales them; the
// rules about Q/DQ (move_qdq, fold_qdq, remove_qdq, lower_qdq) then see what a quantized model would have given them.
//
// before: (x f32[1,3,8,8])
//   w = constant f32[4,3,3,3]
//   y = Conv(x, w) kernel_shape=[3,3]
// after: (x f32[1,3,8,8])
//   q = QuantizeLinear(x, s, z)          s, z = constants of x's range
//   d = DequantizeLinear(q, s, z)
//   v = DequantizeLinear(wq, ws) axis=0  wq, ws = constant i8[4,3,3,3], f32[4]
//   y = Conv(d, v) kernel_shape=[3,3]
#include "quant/place_qdq.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "base/types/element.h"
#include "ir/finite.h"
#include "ir/recipe.h"
#include "quant/bias_place.h"
#include "quant/scale_channels.h"
#include "quant/weights/channels.h"

namespace tenfold::quant {
namespace {

using ir::Node;
using ir::Value;

// The axis of output channels of a product's weights.
std::optional<int> channels_of(const Node& node) {
  if (node.op() == "Conv") return 0;
  if (node.op() == "MatMul" && node.in(1)->rank() == 2 && node.in(0)->rank() >= 2) return 1;
  if (node.op() == "Gemm") return node.attributes.integer("transB", 0) ? 0 : 1;
  return {};
}

// The same, if 8 bits may stand for them.
std::optional<int> channel_axis(const Node& node) { return is_product(node) && why_wide(node).empty() ? channels_of(node) : std::nullopt; }

bool is_dequantized(const Value& v) { return v.producer && v.producer->op() == "DequantizeLinear"; }
bool is_dequantized_from(const Value& v, bool float8) {
  return is_dequantized(v) && (v.producer->in(0)->dtype() == DType::f8e4m3fn) == float8;
}

constexpr double kMinScale = std::numeric_limits<float>::min(), kLargestScale = std::numeric_limits<float>::max();

// Whether a float is the scale of this range.
bool has_scale(const Range& range) {
  const double extent = range.high - range.low;
  return extent / 255 >= kMinScale && extent / 127 <= kLargestScale;
}

// The same where the device multiplies it in 8 bits, and its weights have scales.
std::optional<int> axis_of_bytes(const Node& node, const Placing& placing) {
  const std::optional<int> axis = channel_axis(node);
  if (!axis || (placing.takes && !placing.takes(node))) return {};
  return ir::all_finite(node.in(1)->constant->tensor) ? axis : std::nullopt;
}

bool bytes_around_zero(Activations bytes, double low) {
  return bytes == Activations::signed_bytes || (bytes == Activations::unsigned_if_never_negative && low < 0);
}

// Of a residual's sum the side that is a product beside the block, reading what the block reads; null if there is none. The block's own
// last product has the sum as its epilogue and never lies in memory.
Value* shortcut_of(const Node& node) {
  if (node.op() != "Add" || node.body || node.inputs.size() != 2) return nullptr;
  const auto readers = [&](int side) -> std::size_t {   // of what the side's product reads; 0: it is none that the sum alone reads
    const Value* v = node.in(side);
    if (!v->producer || v->users.size() != 1 || !is_product(*v->producer) || !channels_of(*v->producer)) return 0;
    return v->producer->in(0)->users.size();
  };
  const std::size_t first = readers(0), second = readers(1);
  if (first > 1 && second == 1) return node.in(0);
  return second > 1 && first == 1 ? node.in(1) : nullptr;
}

// Of operands that become 8 bits for at least one of their products.
Corrections::Named<std::vector<float>> factors_for_bytes(const ir::Graph& graph, const Ranges& ranges, const Placing& placing) {
  Corrections::Named<std::vector<float>> requested;
  const auto& all = ranges.corrections.channels;
  for (const auto& node : graph.nodes())
    if (const auto at = all.empty() || !axis_of_bytes(*node, placing) ? all.end() : all.find(node->in(0)->name); at != all.end())
      requested.insert(*at);
  return requested;
}

class Placer {
 public:
  Placer(ir::Graph& graph, const Ranges& ranges, const Placing& placing) : graph_(graph), ranges_(ranges), placing_(placing) {}

  bool run() {
    for (Node* node : graph_.node_list()) {
      const std::optional<int> axis = axis_of_bytes(*node, placing_);
      Value* x = axis ? quantized(node->in(0), placing_.is_float8(*node)) : nullptr;
      if (!x) continue;
      graph_.set_input(*node, 0, x);
      correct_bias(*node);   // while its weights are seen
      graph_.set_input(*node, 1, weights(*node, *axis));
      changed_ = true;
    }
    for (Node* node : graph_.node_list()) share_with_sum(*node);
    return changed_;
  }

 private:
  struct Parameters { Value *scale, *zero; };

  Value* constant(Tensor tensor, const std::string& name) { return graph_.add_constant(std::move(tensor), graph_.unique_name(name)); }

  // u8 where nothing is negative: all 256 levels are used, and zero points need no care.
  Parameters parameters(const Range& range, const std::string& name, bool float8) {
    const bool is_signed = range.low < 0, around_zero = float8 || bytes_around_zero(placing_.activations, range.low);
    const double high = around_zero ? std::max(range.high, -range.low) : range.high, low = is_signed ? range.low : 0;
    Tensor scale(DType::f32, {}), zero(float8 ? DType::f8e4m3fn : around_zero ? DType::i8 : DType::u8, {});
    const double step = float8 ? high / 448 : around_zero ? high / 127 : (high - low) / 255;
    *scale.mutable_data<float>() = static_cast<float>(step);
    if (!around_zero) *zero.mutable_data<std::uint8_t>() = static_cast<std::uint8_t>(std::clamp(std::round(-low / step), 0.0, 255.0));
    return {constant(std::move(scale), name + "_scale"), constant(std::move(zero), name + "_zero")};
  }

  // The value, quantized and dequantized; null if its range is not known, or no float is its scale.
  Value* quantized(Value* x, bool float8) {
    if (const auto known = made_.find({x, float8}); known != made_.end()) return known->second;
    if (is_dequantized(*x)) return is_dequantized_from(*x, float8) ? x : nullptr;
    const auto range = ranges_.find(x->name);
    if (range == ranges_.end() || !has_scale(range->second)) return nullptr;
    return with(x, parameters(range->second, x->name, float8), float8);
  }

  // Behind what only moves elements it is their operands that are quantized, all alike.
  Value* with(Value* x, const Parameters& p, bool float8) {
    if (x->producer && passes_on(*x->producer) && !graph_.is_output(x))
      for (std::size_t i = 0; i < x->producer->inputs.size(); ++i)
        if (Value* from = x->producer->in(static_cast<int>(i)); from && passes_on_from(*x->producer, i) && !made_.count({from, float8}))
          if (!from->is_constant() && from->dtype() == DType::f32 && !is_dequantized(*from))
            graph_.set_input(*x->producer, static_cast<int>(i), with(from, p, float8));
    Value* q = graph_.make("QuantizeLinear", {x, p.scale, p.zero});
    Value* d = graph_.make("DequantizeLinear", {q, p.scale, p.zero});
    made_[{d, float8}] = d;
    return made_[{x, float8}] = d;
  }

  Value* weights(const Node& product, int axis) {
    Value* w = product.in(1);
    const WeightForm form = placing_.is_float8(product) ? WeightForm::e4m3 : placing_.weights;
    const Corrections::Named<Tensor>& rounded = ranges_.corrections.weights;
    const auto own = placing_.has_other(product) ? rounded.end() : rounded.find(product.out()->name);
    const auto known = own == rounded.end() ? weights_.find({w, axis, form}) : weights_.end();
    if (known != weights_.end()) return known->second;
    ir::fix(*w->constant, "rounded to 8 bits, with ranges that a calibration found for it");
    const Tensor& floats = w->constant->tensor;
    QuantizedWeights q = ranges_.known ? ranges_.known->of(floats, axis, form) : quantize_weights(floats, axis, form);
    Value* values = constant(own == rounded.end() ? std::move(q.values) : own->second, w->name + "_quantized");
    Value* scales = constant(std::move(q.scales), w->name + "_scales");
    Value* made = graph_.make("DequantizeLinear", {values, scales}, {{"axis", static_cast<std::int64_t>(axis)}});
    if (own == rounded.end()) weights_[{w, axis, form}] = made;
    return made;
  }

  void correct_bias(Node& product) {
    const auto own = ranges_.corrections.biases.find(product.out()->name);
    if (own == ranges_.corrections.biases.end() || placing_.has_other(product)) return;
    const std::optional<BiasPlace> place = bias_place(product);
    if (!place) return;
    Tensor t(DType::f32, {static_cast<std::int64_t>(own->second.size())});
    std::copy(own->second.begin(), own->second.end(), t.mutable_data<float>());
    const Value* old = place->node->in(place->operand);
    if (old) {
      ir::fix(*old->constant, "corrected by the mean error of 8 bits, which a calibration found");
      t = t.reshaped(old->constant->tensor.shape()).clone();
      for (std::int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] += old->constant->tensor.data<float>()[i];
    }
    Value* bias = constant(std::move(t), (old ? old->name : product.out()->name + "_bias") + "_corrected");
    if (old) return graph_.set_input(*place->node, place->operand, bias);
    place->node->inputs.resize(2);
    place->node->inputs.push_back(nullptr);
    graph_.set_input(*place->node, 2, bias);
  }

  // Residuals: memory then holds the bytes alone, and not the floats beside them.
  void share_with_sum(Node& node) {
    if (node.op() != "Add" || node.body) return;
    if (!becomes_bytes(node.out())) return share_alone(node);
    for (int i : {0, 1})
      if (Value* small = made_of(node.in(i)); small && small != node.in(i)) graph_.set_input(node, i, small);
    Value* beside = placing_.shortcuts ? shortcut_of(node) : nullptr;
    if (!beside || graph_.is_output(beside) || made_of(beside)) return;
    const int side = beside == node.in(0) ? 0 : 1;
    if (Value* small = quantized(beside, placing_.is_float8(*beside->producer))) graph_.set_input(node, side, small), changed_ = true;
  }
  // A sum that stays wide: where it is the only one left that reads a float, nobody has to write that.
  void share_alone(Node& node) {
    for (int i : {0, 1})
      if (Value* small = made_of(node.in(i)); placing_.shortcuts && small && small != node.in(i))
        if (node.in(i)->users.size() == 2 && !graph_.is_output(node.in(i))) graph_.set_input(node, i, small), changed_ = true;
  }
  // What there is of a value in 8 bits, bytes first; null if nothing.
  Value* made_of(Value* v) const {
    for (const bool float8 : {false, true})
      if (const auto known = made_.find({v, float8}); known != made_.end()) return known->second;
    return nullptr;
  }
  // Read by QuantizeLinear, directly or behind one function of one operand.
  bool becomes_bytes(const Value* v) const {
    const auto quantizes = [](const Node* n) { return n->op() == "QuantizeLinear"; };
    const auto reads = [&](const Value* x) { return std::any_of(x->users.begin(), x->users.end(), quantizes); };
    if (reads(v)) return true;
    return v->users.size() == 1 && v->users[0]->def->scalar && v->users[0]->out() && reads(v->users[0]->out());
  }

  ir::Graph& graph_;
  const Ranges& ranges_;
  const Placing& placing_;
  std::map<std::pair<Value*, bool>, Value*> made_;   // the second: in e4m3
  std::map<std::tuple<Value*, int, WeightForm>, Value*> weights_;
  bool changed_ = false;
};

// Each walk ends where another one has been.
void name_sources(const Value& v, std::set<std::string>& names) {
  std::vector<const Value*> left{&v};
  while (!left.empty()) {
    const Value* x = left.back();
    left.pop_back();
    if (x->is_constant() || !names.insert(x->name).second || !x->producer || !passes_on(*x->producer)) continue;
    for (std::size_t i = 0; i < x->producer->inputs.size(); ++i)
      if (const Value* from = x->producer->in(static_cast<int>(i)); from && passes_on_from(*x->producer, i)) left.push_back(from);
  }
}

}  // namespace

bool Placing::around_zero(double low) const { return float8 || bytes_around_zero(activations, low); }

bool is_product(const Node& node) {
  return !node.body && node.inputs.size() >= 2 && node.in(0) && node.in(1) &&
         (node.op() == "Conv" || node.op() == "MatMul" || node.op() == "Gemm");
}

std::string why_wide(const Node& node) {
  if (!is_product(node)) return "";
  if (node.numerics.exact) return "their operator wants all bits of its type";
  const Value &x = *node.in(0), &w = *node.in(1);
  if (is_dequantized(w)) return "their weights are quantized already";
  if (!w.is_constant()) return "both operands are computed";
  if (x.is_constant()) return "both operands are constant";
  if (!x.type.is_tensor() || x.dtype() != DType::f32 || w.dtype() != DType::f32) return "they are not of f32";
  if (!channels_of(node)) return "their weights are no matrix";
  if (w.constant->tensor.size() == 0) return "their weights are empty";
  return "";
}

bool passes_on(const Node& node) {
  if (node.body || node.outputs.size() != 1) return false;
  const ir::Movement how = node.def->traits.movement;
  return how == ir::Movement::reshape || how == ir::Movement::transpose || how == ir::Movement::concat || node.op() == "MaxPool";
}
bool passes_on_from(const Node& node, std::size_t operand) { return operand == 0 || node.def->traits.movement == ir::Movement::concat; }

std::set<std::string> values_to_observe(const ir::Graph& graph, const Placing& placing) {
  std::set<std::string> names;
  for (const auto& node : graph.nodes()) {
    if (!channel_axis(*node) || (placing.takes && !placing.takes(*node))) continue;
    if (!is_dequantized(*node->in(0))) name_sources(*node->in(0), names);
  }
  for (const auto& node : graph.nodes())
    if (const Value* beside = placing.shortcuts ? shortcut_of(*node) : nullptr; beside && names.count(beside->producer->in(0)->name))
      names.insert(beside->name);
  return names;
}

std::vector<const Node*> products_to_quantize(const ir::Graph& graph, const Ranges& ranges, const Placing& placing) {
  std::vector<const Node*> products;
  for (const auto& node : graph.nodes())
    if (const auto range = axis_of_bytes(*node, placing) ? ranges.find(node->in(0)->name) : ranges.end(); range != ranges.end())
      if (has_scale(range->second)) products.push_back(node.get());
  return products;
}

bool place_qdq(ir::Graph& graph, const Ranges& ranges, const Placing& placing) {
  scale_channels(graph, factors_for_bytes(graph, ranges, placing));
  const bool changed = Placer(graph, ranges, placing).run();
  if (changed) graph.sort();
  return changed;
}

}  // namespace tenfold::quant
