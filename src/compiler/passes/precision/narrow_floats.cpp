// narrow_floats: nodes compute on f16 or bf16 operands. What they add up, and what happens inside one kernel, stays f32: this is
// about the memory between kernels, and the operands of products.
//
// before: (x f32[2,4])
//   e = f32[]{1e-10}
//   a = Relu(x)
//   b = Max(a, e)
// after: (x f32[2,4])
//   e = f32[]{1e-10}
//   h = Cast(x) to="f16"
//   c = Relu(h)
//   a = Cast(c) to="f32"
//   b = Max(a, e)
//
// The last step makes what the model types f32 of its sums, unrounded: a product by an epilogue, others as nodes of f32.
//
// before: (x f32[16,8], w f32[8,8]!)
//   p = MatMul(x, w)
//   y = Softmax(p)
// after: (x f32[16,8], w f32[8,8]!)
//   h = Cast(x) to="f16"
//   v = Cast(w) to="f16"
//   q = MatMul(h, v)
//   p = Cast(q) to="f32"
//   y = Softmax(p)
#include "passes/precision/narrow_floats.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/threads/spread.h"
#include "ir/finite.h"
#include "ops/fold.h"

namespace tenfold::passes {
namespace {

// A constant survives if no finite number overflows; one number that stands alone (an epsilon, say) also if it stays nearly itself.
bool survives(const Tensor& wide, const Tensor& narrow) {
  if (wide.size() > 1) {   // mostly at a glance: no infinity, so nothing overflowed
    const auto* bits = static_cast<const std::uint16_t*>(narrow.raw());
    const std::uint16_t infinity = narrow.dtype() == DType::f16 ? 0x7c00 : 0x7f80;
    std::atomic<bool> infinite = false;
    spread_stretches(narrow.size(), 1, narrow.bytes(), [&](std::int64_t begin, std::int64_t end) {
      std::uint16_t largest = 0;
      for (std::int64_t i = begin; i < end; ++i) largest = std::max<std::uint16_t>(largest, bits[i] & 0x7fff);
      if (largest >= infinity) infinite = true;
    });
    if (!infinite) return true;
  }
  for (std::int64_t i = 0; i < wide.size(); ++i) {
    const double a = wide.as_double(i), b = narrow.as_double(i);
    if (std::isfinite(a) && !std::isfinite(b)) return false;
    if (wide.size() == 1 && std::isfinite(a) && std::fabs(a - b) > 0.01 * std::fabs(a)) return false;
  }
  return true;
}

// f32 reaches as far as bf16, but for what would be rounded up to infinity: the lowest float, as masks have it, whose softmax over a row
// that is masked whole would be NaN.
constexpr float kLargestBf16 = 0x1.fep127f;
constexpr float kMaskF16 = -32768;   // and f16 has room for what is added to it

// What is added to the scores of a softmax, perhaps after it was moved.
bool is_mask(const ir::Value& v) {
  const auto moves = [](const ir::Node* n) {
    const ir::Movement how = n->def->traits.movement;
    return how == ir::Movement::reshape || how == ir::Movement::expand || how == ir::Movement::transpose || how == ir::Movement::slice ||
           how == ir::Movement::identity;
  };
  const auto softens = [](const ir::Node* n) { return n->op() == "Softmax"; };
  return std::any_of(v.users.begin(), v.users.end(), [&](const ir::Node* n) {
    if (n->op() == "FusedAttention" || n->op() == "AttentionFloat8") return n->inputs.size() > 3 && n->in(3) == &v;
    if (n->op() == "Add") return std::any_of(n->out()->users.begin(), n->out()->users.end(), softens);
    return moves(n) && n->in(0) == &v && is_mask(*n->out());
  });
}

// A product of few rows that alone reads an input, with a small matrix: on a GPU the input's conversion, a step of its own, would take
// longer than reading such weights as they are.
bool begins_small(const ir::Node& n) {
  constexpr std::int64_t kFewRows = 8, kFewWeights = 1 << 17;
  if (n.op() != "MatMul") return false;
  const ir::Value *x = n.in(0), *w = n.in(1);
  if (x->producer || x->is_constant() || x->users.size() != 1 || !w->is_constant() || w->rank() != 2 || x->rank() < 2) return false;
  const ir::Dim rows = ir::product(std::span(x->dims()).first(x->dims().size() - 1));
  return rows.is_constant() && rows.constant() <= kFewRows && w->constant->tensor.size() <= kFewWeights;
}

// A cache that is f32 in memory: to narrow it would cost a pass over all of it for each new row.
bool keeps_wide_cache(const ir::Node& n, DType to) {
  if (n.op() != "TensorScatter") return false;
  const ir::Node* from = n.in(0)->producer;
  return !from || from->op() != "Cast" || from->in(0)->dtype() != to;
}

bool made_of_rows(const ir::Value& scale) { return scale.producer && scale.producer->op() == "QuantizeRows"; }

// The scale of a sum of 8-bit products (of rows and of columns, one behind the other), which itself may be beyond what f16 holds, and the
// bias behind it, whose rounding would move what is quantized next by a step.
bool scales_sum(const ir::Node& n) {
  if (n.op() == "Add" && (n.in(0)->is_constant() || n.in(1)->is_constant())) {
    const ir::Node* scaled = n.in(n.in(0)->is_constant() ? 1 : 0)->producer;
    return scaled && scaled->op() == "Mul" && scales_sum(*scaled);
  }
  if (n.op() != "Mul") return false;
  const ir::Node* sum = n.in(0)->producer;
  if (sum && sum->op() == "Mul" && made_of_rows(*sum->in(1))) return scales_sum(*sum);
  if (sum && sum->op() == "Cast") sum = sum->in(0)->producer;
  return sum && sum->def->traits.accumulates;
}

// Nodes whose results nothing reads but callers, perhaps after they were moved. What the graph itself reads on is no last step.
std::set<const ir::Node*> last_steps(const ir::Graph& graph) {
  const std::set<const ir::Value*> outputs(graph.outputs.begin(), graph.outputs.end());
  const std::vector<ir::Node*> nodes = graph.node_list();
  std::set<const ir::Node*> last;
  const auto moves_last = [&](const ir::Node* n) { return last.contains(n) && n->def->traits.movement != ir::Movement::none; };
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const bool ends = std::all_of((*node)->outputs.begin(), (*node)->outputs.end(), [&](const ir::Value* v) {
      return (outputs.contains(v) || !v->users.empty()) && std::all_of(v->users.begin(), v->users.end(), moves_last);
    });
    if (ends) last.insert(*node);
  }
  return last;
}
// Else it only hands on weights.
bool reads_values(const ir::Node& n) {
  return std::any_of(n.inputs.begin(), n.inputs.end(), [](const ir::Value* v) {
    return v && !v->is_constant() && v->type.is_tensor() && v->dtype() == DType::f32;
  });
}
// What adds up products in f32 and writes them as the cast behind it says.
bool has_wide_sums(const ir::Node& n) { return n.def->traits.anchor || n.def->traits.permission.rounding; }

class Narrower {
 public:
  Narrower(ir::Graph& graph, DType to, const std::set<std::string>& wide, Stays stays)
      : graph_(graph), to_(to), stays_(stays), last_(last_steps(graph)) {
    for (const auto& v : graph.values())
      if (wide.count(v->name)) wide_.insert(v.get());
    for (const auto& node : graph.nodes())
      if (node->numerics.exact) keep_operands_wide(*node);
  }
  bool run() {
    bool changed = false;
    for (ir::Node* node : graph_.node_list())
      if (can_narrow(*node)) narrow(*node), changed = true;
    return changed;
  }

 private:
  // Also through what only moves them: a value that is narrowed on its way has lost its bits.
  void keep_operands_wide(const ir::Node& node) {
    std::vector<const ir::Node*> readers{&node};
    while (!readers.empty()) {
      const ir::Node* const reader = readers.back();
      readers.pop_back();
      for (const ir::Value* v : reader->inputs)
        if (v && wide_.insert(v).second && v->producer && v->producer->def->traits.movement != ir::Movement::none)
          readers.push_back(v->producer);
    }
  }
  bool can_narrow(const ir::Node& node) {
    const std::optional<DType> given = node.numerics.type;
    if ((given && *given != to_) || node.numerics.exact) return false;
    if (!node.graphs.empty() || node.body || node.op() == "Cast" || (!given && begins_small(node)) || scales_sum(node) ||
        keeps_wide_cache(node, to_))
      return false;
    if ((!node.def->scalar && !node.def->traits.narrows) || (stays_ && stays_(node))) return false;
    if (!given && last_.contains(&node) && !has_wide_sums(node) && reads_values(node)) return false;
    const auto is_wide = [this](const ir::Value* v) { return wide_.count(v) > 0; };
    if (std::any_of(node.inputs.begin(), node.inputs.end(), is_wide) || std::any_of(node.outputs.begin(), node.outputs.end(), is_wide))
      return false;
    bool any = false;
    for (ir::Value* v : node.inputs) {
      if (!v || v->type.kind != ir::ValueType::Kind::tensor || v->dtype() != DType::f32) continue;
      if (!may_narrow(node, v)) continue;
      if (v->is_constant() && !narrow_constant(*v)) return false;
      any = any || !v->is_constant() || node.op() == "Gather" || node.op() == "SkipLayerNorm";   // rows of a table of weights
    }
    bool gives = false;
    for (const ir::Value* v : node.outputs) gives = gives || v->dtype() == DType::f32;
    return any && gives;
  }
  // Scales and regions of a Resize are no image; a table of cosines has few elements, and each counts for many, as do scales of weights.
  static bool may_narrow(const ir::Node& node, const ir::Value* v) {
    return (node.op() != "Resize" && node.op() != "RotaryEmbedding" && node.op() != "MatMulBlockScaled") || v == node.in(0);
  }
  ir::Value* narrow_constant(ir::Value& v) {
    const auto known = twins_.find(&v);
    if (known != twins_.end()) return known->second;
    const auto cast = [&](ir::Value* from) {   // with its recipe, so that refits follow
      return ops::fold(graph_, "Cast", {from}, {{"to", std::string(name(to_))}}, v.name);
    };
    ir::Value* twin = cast(&v);
    if (to_ == DType::bf16 && !survives(v.constant->tensor, twin->constant->tensor) && ir::all_finite(v.constant->tensor))
      twin = cast(ops::fold(graph_, "Clip", {&v, number(-kLargestBf16), number(kLargestBf16)}, {}, v.name));
    return twins_[&v] = survives(v.constant->tensor, twin->constant->tensor) ? twin : nullptr;
  }
  ir::Value* number(float value) {
    Tensor t(DType::f32, {});
    *t.mutable_data<float>() = value;
    return graph_.add_constant(std::move(t));
  }
  ir::Value* twin(ir::Value* v, ir::Node& before) {
    if (!v || v->type.kind != ir::ValueType::Kind::tensor || v->dtype() != DType::f32) return v;
    if (v->is_constant()) return narrow_constant(*v);
    if (v->producer && v->producer->op() == "Cast" && v->producer->in(0)->dtype() == to_) return v->producer->in(0);   // widened before
    if (const auto known = twins_.find(v); known != twins_.end()) return known->second;
    ir::Value* from = !v->producer && is_mask(*v) ? within_range(v, before) : v;
    return twins_[v] = graph_.make("Cast", {from}, {{"to", std::string(name(to_))}}, &before);
  }
  // The caller's masks: their lowest float becomes the lowest of the narrower type, while minus infinity stays.
  ir::Value* within_range(ir::Value* v, ir::Node& before) {
    ir::Value* infinite = graph_.make("Less", {v, number(std::numeric_limits<float>::lowest())}, {}, &before);
    ir::Value* finite = graph_.make("Max", {v, number(to_ == DType::bf16 ? -kLargestBf16 : kMaskF16)}, {}, &before);
    return graph_.make("Where", {infinite, v, finite}, {}, &before);
  }
  void narrow(ir::Node& node) {
    ir::Node copy;
    copy.def = node.def, copy.name = node.name, copy.attributes = node.attributes, copy.numerics = node.numerics;
    copy.anchor_inputs = node.anchor_inputs, copy.sources = node.sources;
    for (ir::Value* v : node.inputs) copy.inputs.push_back(may_narrow(node, v) ? twin(v, node) : v);
    const ir::Node* made = graph_.add(std::move(copy), static_cast<int>(node.outputs.size()), &node);
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      ir::Value* result = made->outputs[o];
      result->names = node.outputs[o]->names;   // its readers see it in the narrow type
      if (result->dtype() == to_) {
        ir::Value* wide = graph_.make("Cast", {result}, {{"to", std::string(name(DType::f32))}}, &node);
        twins_[wide] = result;
        result = wide;
      }
      graph_.replace_uses(node.outputs[o], result);
    }
  }

  ir::Graph& graph_;
  DType to_;
  Stays stays_;
  std::set<const ir::Node*> last_;                          // as they were when the pass began
  std::set<const ir::Value*> wide_;                         // must not be narrowed; new values are none of them
  std::unordered_map<const ir::Value*, ir::Value*> twins_;  // f32 value -> the same in fewer bits; null: it must not be
};

}  // namespace

bool is_f32_on_hosts(const ir::Node& n) {
  if (n.op() == "GroupNormalization" || n.op() == "InstanceNormalization" || n.op() == "RotaryEmbedding" || n.op() == "MatMulBlockScaled" ||
      n.op() == "QuantizeRows")
    return true;
  if (n.op() == "Slice")   // scales of an int8 cache
    return std::ranges::any_of(n.out()->users, [](const ir::Node* user) { return user->op() == "AttentionInt8Cache"; });
  if (n.op() != "Conv") return false;
  const std::int64_t groups = n.attributes.integer("group", 1);
  const ir::Dims& w = n.in(1)->dims();
  return groups > 1 && !(w[1] == ir::Dim(1) && w[0] == ir::Dim(groups));
}

bool has_no_type(const ir::Node& n) { return !n.numerics.type; }
bool has_type(const ir::Node& n) { return n.numerics.type.has_value(); }

Pass pass_narrow_floats(DType to, std::set<std::string> wide, Stays stays) {
  return {.name = "narrow_floats",
          .run = [to, wide = std::move(wide), stays](ir::Graph& graph) { return Narrower(graph, to, wide, stays).run(); }};
}

}  // namespace tenfold::passes
