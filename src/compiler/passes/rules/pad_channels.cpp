// pad_channels: between convolutions of 8 and 16 bits, images get as many channels as fill 16 bytes: tensor cores then read 16 bytes at
// once, not an element. Filters of zeros make the new channels, and weights of zeros do not read them. What computes each channel by
// itself stays between the convolutions, with parameters for the new channels; for all else they are cut off. For GPUs. The tuner also
// times the graph without this rule, and takes the faster one.
//
// before: (x f16[1,16,6,6], k f16[12,16,3,3]!, w f16[12]!, b f16[12]!, s f16[12,1,1]!, l f16[16,12,1,1]!)
//   c = Conv(x, k)
//   n = InstanceNormalization(c, w, b)
//   p = PRelu(n, s)
//   y = Conv(p, l)
//   return y, p
// after: (x f16[1,16,6,6])
//   k = constant f16[16,16,3,3]
//   w = constant f16[16]
//   b = constant f16[16]
//   s = constant f16[16,1,1]
//   l = constant f16[16,16,1,1]
//   first = i64[1]{0}
//   end = i64[1]{12}
//   axis = i64[1]{1}
//   c = Conv(x, k)
//   n = InstanceNormalization(c, w, b)
//   p = PRelu(n, s)
//   y = Conv(p, l)
//   o = Slice(p, first, end, axis)
//   return y, o
//
// kept: (x f16[1,16,6,6], k f16[12,16,3,3]!, w f16[12]!, b f16[12]!, l f16[16,12,1,1]!)
//   c = Conv(x, k)
//   n = GroupNormalization(c, w, b) num_groups=4
//   y = Conv(n, l)
//
// kept: (x f16[1,12,6,6], l f16[16,12,1,1]!)
//   y = Conv(x, l)
#include "ops/fold.h"
#include "passes/match.h"
#include "passes/padded_channels.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

Value* integers(Graph& graph, const ir::Ints& values) {
  Tensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<std::int64_t>());
  return graph.add_constant(std::move(t));
}

// A constant with so many elements along an axis, the new ones of this value.
Value* longer(Graph& graph, Value* v, std::size_t axis, std::int64_t extent, double value = 0) {
  ir::Ints pads(2 * static_cast<std::size_t>(v->rank()), 0);
  pads[static_cast<std::size_t>(v->rank()) + axis] = extent - v->dims()[axis].constant();
  std::vector<Value*> operands = {v, integers(graph, pads)};
  if (value != 0) operands.push_back(ops::fold(graph, "Cast", {number(graph, static_cast<float>(value))},
                                               {{"to", std::string(name(v->dtype()))}}, v->name + "_filler"));
  return ops::fold(graph, "Pad", std::move(operands), {}, v->name + "_padded");
}

class Padding {
 public:
  explicit Padding(Graph& graph) : graph_(graph), which_(graph) {}
  bool run() {
    const std::vector<Node*> nodes = graph_.node_list();
    for (Node* n : nodes)
      if (n->outputs.size() == 1 && (which_.channels(n->out()) || (is_narrow_product(*n) && which_.channels(n->in(0))))) rebuild(*n);
    for (Node* n : nodes)
      if (n->outputs.size() == 1) cut_off(n->out());
    return !made_.empty();
  }

 private:
  Value* padded(Value* v) const {
    const auto it = made_.find(v);
    return it == made_.end() ? v : it->second;
  }
  void rebuild(Node& n) {
    std::vector<Value*> operands;
    for (Value* v : n.inputs) operands.push_back(padded(v));
    if (is_narrow_product(n)) pad_weights(n, operands);
    else if (const auto channels = which_.channels(n.out())) pad_parameters(n, *channels, operands);
    ir::Node* made = graph_.add_like(n, std::move(operands), &n);
    if (n.op() == "GroupNormalization") {
      made->attributes.set("num_groups", *which_.channels(n.out()));
      graph_.infer(*made);
    }
    made_[n.out()] = made->out();
    if (!which_.channels(n.out())) graph_.replace_uses(n.out(), made->out());
  }
  void pad_weights(const Node& n, std::vector<Value*>& operands) {
    const std::size_t filters = is_transposed(n) ? 1 : 0;
    if (const auto channels = which_.channels(n.out())) {
      operands[1] = longer(graph_, operands[1], filters, *channels);
      const bool bias = n.op() == "Conv" || n.op() == "ConvTranspose";
      if (bias && n.in(2)) operands[2] = longer(graph_, operands[2], 0, *channels);
    }
    if (const auto channels = which_.channels(n.in(0))) operands[1] = longer(graph_, operands[1], 1 - filters, *channels);
  }
  void pad_parameters(const Node& n, std::int64_t channels, std::vector<Value*>& operands) {
    for (Value*& v : operands) {
      if (!v || !v->is_constant() || v->rank() == 0 || v->constant->tensor.size() == 1) continue;
      const int spatial = n.out()->rank() - 2;
      const bool pointwise = n.def->scalar != nullptr;
      if (pointwise && !is_by_channel(*v, *n.out())) continue;
      const std::size_t axis = pointwise ? static_cast<std::size_t>(v->rank() - spatial - 1) : 0;
      v = longer(graph_, v, axis, channels, which_.filler(n));
    }
  }
  // Whoever does not know of the new channels reads the others.
  void cut_off(Value* v) {
    if (!which_.channels(v)) return;
    const auto knows = [&](Node* n) { return n->outputs.size() == 1 && made_.count(n->out()) > 0; };
    if (!graph_.is_output(v) && std::all_of(v->users.begin(), v->users.end(), knows)) return;
    const std::int64_t channels = v->dims()[1].constant();
    std::vector<Value*> operands = {made_.at(v), integers(graph_, {0}), integers(graph_, {channels}), integers(graph_, {1})};
    graph_.replace_uses(v, graph_.make("Slice", std::move(operands), {}, v->producer));
  }

  Graph& graph_;
  PaddedChannels which_;
  std::map<const Value*, Value*> made_;
};

}  // namespace

Pass pass_pad_channels() {
  return {.name = "pad_channels", .run = [](Graph& graph) { return Padding(graph).run(); }};
}

}  // namespace tenfold::passes
