#include "quant/scale_channels.h"

#include <algorithm>
#include <functional>

#include "ir/recipe.h"
#include "quant/product_weights.h"

namespace tenfold::quant {
namespace {

using ir::Node;
using ir::Value;
using Factors = std::vector<float>;

bool reads(const Node& node, const Value& x) {
  return node.in(0) == &x && weights_of(node) && std::count(node.inputs.begin(), node.inputs.end(), &x) == 1;
}

// What makes the channels, and which of its operands say how large they are.
struct Maker {
  MadeBy kind = MadeBy::other;
  Node* node = nullptr;
  struct Scaled { Node* reader; int operand; };
  std::vector<Scaled> vectors = {};   // an element for each channel
};

bool scales_with_operand(const Node& node, bool channels_last) {
  static const std::set<std::string_view> pointwise{"Relu", "LeakyRelu"}, planes{"MaxPool", "AveragePool", "GlobalAveragePool"};
  return !node.body && node.outputs.size() == 1 && (pointwise.count(node.op()) || (!channels_last && planes.count(node.op())));
}

// Whether a constant has one element for each channel, and nothing else.
bool is_vector(const Value* v, std::int64_t channels, bool channels_last) {
  if (!v || !v->is_constant() || v->dtype() != DType::f32 || v->constant->tensor.size() != channels) return false;
  const Shape& shape = v->constant->tensor.shape();
  return channels_last && !shape.empty() && shape.back() == channels;
}

// Which operand of a sum is one; -1: none, or it is no sum.
int vector_of_sum(const Node& node, std::int64_t channels, bool channels_last) {
  if (node.op() != "Add" || node.body) return -1;
  for (const int i : {1, 0})
    if (is_vector(node.in(i), channels, channels_last)) return i;
  return -1;
}

bool is_norm(const Node& node) {
  return !node.body && (node.op() == "LayerNormalization" || node.op() == "RMSNormalization");
}

Maker maker_of(const ir::Graph& graph, const Value& value, std::int64_t channels, bool channels_last) {
  Maker maker;
  if (graph.is_output(&value)) return maker;
  const Value* v = &value;
  for (Node* p = v->producer; p; p = v->producer) {
    if (scales_with_operand(*p, channels_last)) v = p->in(0);
    else if (const int constant = vector_of_sum(*p, channels, channels_last); constant >= 0) {
      maker.vectors.push_back({p, constant}), v = p->in(1 - constant);
    } else {
      const auto weights = weights_of(*p);
      const bool is_made = weights && weights->channels_last == channels_last && weights->out == channels;
      const bool has_vectors = is_norm(*p) && channels_last && is_vector(p->in(1), channels, true);
      if (!is_made && !(has_vectors && v == &value)) return {};
      const int first = is_made ? 2 : 1;
      for (int i = first; i < 3; ++i)
        if (p->in(i)) {
          const Value* w = p->in(i);
          if (!w->is_constant() || w->dtype() != DType::f32 || w->constant->tensor.shape() != Shape{channels}) return {};
          maker.vectors.push_back({p, i});
        }
      maker.kind = is_made ? MadeBy::product : MadeBy::norm, maker.node = p;
      return maker;
    }
    if (v->users.size() != 1 || graph.is_output(v)) return {};
  }
  return {};
}

// Nobody but products that take the inverse reads it.
bool is_between(const Value& value) {
  return !value.users.empty() && value.producer &&
         std::all_of(value.users.begin(), value.users.end(), [&](const Node* user) { return reads(*user, value); });
}
class Scaler {
 public:
  explicit Scaler(ir::Graph& graph) : graph_(graph) {}

  bool scale(Value& x, const Factors& factors) {
    std::vector<Node*> readers;
    for (Node* user : x.users)
      if (reads(*user, x) && weights_of(*user)->in == static_cast<std::int64_t>(factors.size())) readers.push_back(user);
    if (readers.empty()) return false;
    const bool last = weights_of(*readers.front())->channels_last;
    for (Node* reader : readers)
      if (weights_of(*reader)->channels_last != last) return false;
    for (Node* reader : readers) divide(*reader, factors);
    const Maker maker = readers.size() == x.users.size() ? maker_of(graph_, x, static_cast<std::int64_t>(factors.size()), last) : Maker{};
    if (maker.kind != MadeBy::other) multiply(maker, factors);
    else multiply(x, readers, factors, last);
    return true;
  }

 private:
  void divide(Node& reader, const Factors& factors) {
    const ProductWeights w = *weights_of(reader);
    change(reader, 1, [&](float* to) {
      w.each([&](std::int64_t at, std::int64_t in, std::int64_t) { to[at] /= factors[static_cast<std::size_t>(in)]; });
    });
  }
  void multiply(const Maker& maker, const Factors& factors) {
    if (maker.kind == MadeBy::product) {
      const ProductWeights w = *weights_of(*maker.node);
      change(*maker.node, 1, [&](float* to) {
        w.each([&](std::int64_t at, std::int64_t, std::int64_t out) { to[at] *= factors[static_cast<std::size_t>(out)]; });
      });
    }
    for (const Maker::Scaled& one : maker.vectors)
      change(*one.reader, one.operand, [&](float* to) {
        for (std::size_t c = 0; c < factors.size(); ++c) to[c] *= factors[c];
      });
  }
  void multiply(Value& x, const std::vector<Node*>& readers, const Factors& factors, bool last) {
    Shape shape(last ? 1 : static_cast<std::size_t>(x.rank()) - 1, 1);
    shape[0] = static_cast<std::int64_t>(factors.size());
    Tensor t(DType::f32, shape);
    std::copy(factors.begin(), factors.end(), t.mutable_data<float>());
    Value* by = graph_.add_constant(std::move(t), graph_.unique_name(x.name + "_factors"));
    Value* scaled = graph_.make("Mul", {&x, by}, {}, readers.front());
    scaled->name = scaled_name(x);
    for (Node* reader : readers) graph_.set_input(*reader, 0, scaled);
  }
  template <class Edit>
  void change(Node& node, int operand, Edit&& edit) {
    const Value& old = *node.in(operand);
    ir::fix(*old.constant, "scaled by channels, so that a calibration's 8 bits serve all of them");
    Tensor t = old.constant->tensor.clone();
    edit(t.mutable_data<float>());
    graph_.set_input(node, operand, graph_.add_constant(std::move(t), graph_.unique_name(old.name + "_scaled")));
  }

  ir::Graph& graph_;
};

}  // namespace

MadeBy made_by(const ir::Graph& graph, const Value& value) {
  if (!is_between(value)) return MadeBy::other;
  const ProductWeights w = *weights_of(*value.users.front());
  return maker_of(graph, value, w.in, w.channels_last).kind;
}

std::string scaled_name(const Value& value) { return value.name + "_scaled"; }

bool scale_channels(ir::Graph& graph, const std::map<std::string, Factors, std::less<>>& factors) {
  if (factors.empty()) return false;
  std::vector<Value*> values;
  for (const auto& v : graph.values())
    if (factors.count(v->name)) values.push_back(v.get());
  Scaler scaler(graph);
  bool changed = false;
  for (Value* v : values) changed |= scaler.scale(*v, factors.at(v->name));
  if (changed) graph.sweep(), graph.sort();
  return changed;
}

}  // namespace tenfold::quant
