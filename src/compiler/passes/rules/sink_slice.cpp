// sink_slice: of a convolution, or of operators before or after it, only those positions are computed that slices finally read. The
// last column of causal convolutions needs a backward slice of columns: evenly spaced ones, so that a dilated convolution becomes a
// strided one over just these. Positions with several readers are computed once.
//
// before: (x f32[2,4,16], w f32[4,4,3]!, u f32[4,4,3]!)
//   first = i64[1]{-1}
//   end = i64[1]{9223372036854775807}
//   axis = i64[1]{2}
//   a = Conv(x, w) kernel_shape=[3] dilations=[1] pads=[2,0] strides=[1]
//   r = Relu(a)
//   b = Conv(r, u) kernel_shape=[3] dilations=[4] pads=[8,0] strides=[1]
//   c = Add(b, r)
//   y = Slice(c, first, end, axis)
// after: (x f32[2,4,16], w f32[4,4,3]!, u f32[4,4,3]!)
//   f0 = i64[1]{5}
//   e0 = i64[1]{16}
//   axis = i64[1]{2}
//   f1 = i64[1]{2}
//   e1 = i64[1]{3}
//   s = Slice(x, f0, e0, axis)
//   a = Conv(s, w) kernel_shape=[3] dilations=[1] pads=[0,0] strides=[4]
//   r = Relu(a)
//   b = Conv(r, u) kernel_shape=[3] dilations=[1] pads=[0,0] strides=[1]
//   last = Slice(r, f1, e1, axis)
//   y = Add(b, last)
//
// before: (x f32[2,4,16], w f32[4,4,3]!)
//   first = i64[1]{0}
//   end = i64[1]{-4}
//   axis = i64[1]{2}
//   a = Conv(x, w) kernel_shape=[3] dilations=[2] pads=[4,4] strides=[1]
//   y = Slice(a, first, end, axis)
// after: (x f32[2,4,16], w f32[4,4,3]!)
//   y = Conv(x, w) kernel_shape=[3] dilations=[2] pads=[4,0] strides=[1]
//
// kept: (x f32[2,4,16], w f32[4,4,3]!)
//   first = i64[1]{15}
//   end = i64[1]{16}
//   axis = i64[1]{2}
//   a = Conv(x, w) kernel_shape=[3] pads=[2,0]
//   y = Slice(a, first, end, axis)
//   z = Relu(a)
//   return y, z
//
// kept: (x f32[2,4,16])
//   first = i64[1]{15}
//   end = i64[1]{16}
//   axis = i64[1]{2}
//   a = Relu(x)
//   y = Slice(a, first, end, axis)
#include "passes/backward_slice.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

class Sinking {
 public:
  explicit Sinking(ir::Graph& graph) : graph_(graph), nodes_(graph.node_list()) {}

  bool run() {
    for (const Value* v : graph_.outputs) needs_[v] = std::nullopt;
    for (auto n = nodes_.rbegin(); n != nodes_.rend(); ++n) request(**n);
    for (Node* n : nodes_) rewrite(*n);
    return changed_;
  }

 private:
  using Need = std::optional<AxisRange>;   // nothing: all of it

  bool is_all(const Value& v, const AxisRange& part) const { return v.dims()[part.axis] == ir::Dim(part.at.count); }
  Need need_of(const Value* v) const {
    const auto it = needs_.find(v);
    return it == needs_.end() || (it->second && is_all(*v, *it->second)) ? std::nullopt : it->second;
  }
  void add(const Value* v, const Need& need) {
    if (!v) return;
    const auto [it, is_new] = needs_.try_emplace(v, need);
    if (is_new || !it->second) return;
    if (need && need->axis == it->second->axis) it->second->at = joined(it->second->at, need->at);
    else it->second.reset();
  }

  // A Slice hands on what it takes, or the part of that which its own readers need; null for what computes.
  std::optional<BackwardSlice> backward_slice(const Node& n) const {
    const Need need = n.outputs.size() == 1 ? need_of(n.out()) : std::nullopt;
    if (const std::optional<AxisRange> taken = sliced(n)) {
      AxisRange part = *taken;
      if (need && need->axis != part.axis) return backward_slice_of(n, *need);
      if (need) part.at = composed(part.at, need->at);
      BackwardSlice handing{std::vector<Need>(n.inputs.size()),
                            [](ir::Graph&, Node&, std::vector<Value*> operands) { return operands[0]; }};
      handing.reads[0] = part;
      return handing;
    }
    return need ? backward_slice_of(n, *need) : std::nullopt;
  }
  void request(const Node& n) {
    const std::optional<BackwardSlice> needed = backward_slice(n);
    for (std::size_t i = 0; i < n.inputs.size(); ++i) add(n.inputs[i], needed ? needed->reads[i] : std::nullopt);
  }

  // What is computed in part already has to be read so. Else it pays only where a product becomes smaller by it: a slice in front of
  // others would cost more than one behind them, and would keep them from the product that stands before it.
  bool pays(const Node& n, const BackwardSlice& needed) const {
    for (std::size_t i = 0; i < n.inputs.size(); ++i)
      if (n.inputs[i] && made_.contains(n.inputs[i])) return true;
    if (n.op() != "Conv" && n.op() != "MatMul") return false;
    const AxisRange part = *need_of(n.out());
    return is_all(*n.in(0), *needed.reads[0]) || 4 * part.at.count <= 3 * n.out()->dims()[part.axis].constant();
  }
  Value* operand(Value* v, const Need& read, Node& n) {
    if (!v || !read) return v;
    const auto made = made_.find(v);
    if (made == made_.end()) return cut_to(graph_, v, *read, &n);
    return cut_to(graph_, made->second, {read->axis, within(need_of(v)->at, read->at)}, &n);
  }
  void rewrite(Node& n) {
    const std::optional<BackwardSlice> needed = backward_slice(n);
    if (!needed || !pays(n, *needed)) return;
    std::vector<Value*> operands;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) operands.push_back(operand(n.inputs[i], needed->reads[i], n));
    Value* made = needed->make(graph_, n, operands);
    changed_ = true;
    if (need_of(n.out())) made_[n.out()] = made;
    else graph_.replace_uses(n.out(), made);
  }

  ir::Graph& graph_;
  std::vector<Node*> nodes_;
  std::map<const Value*, Need> needs_;
  std::map<const Value*, Value*> made_;   // of values of which only a part is needed: that part
  bool changed_ = false;
};

bool run(ir::Graph& graph) { return Sinking(graph).run(); }

}  // namespace

Pass pass_sink_slice() { return {.name = "sink_slice", .run = run}; }

}  // namespace tenfold::passes
