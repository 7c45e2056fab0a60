// unroll_loops: a Loop or Scan that runs a few times, as often as is known, is written out. One whose carried values change their shape
// may be longer: no kernel is chosen for its sizes otherwise.
//
// before: (x f32[2,3])
//   n = i64[]{2}
//   y, all = Loop(n, _, x) carried=1 graphs=[
//     (i i64[], go bool[], s f32[2,3])
//       t = Tanh(s)
//       return go, t, t
//   ]
//   return y, all
// after: (x f32[2,3])
//   w = i64[1]{0}
//   first = Tanh(x)
//   y = Tanh(first)
//   a = Unsqueeze(first, w)
//   b = Unsqueeze(y, w)
//   all = Concat(a, b) axis=0
//   return y, all
//
// before: (h f32[3], x f32[2,3])
//   last, all = Scan(h, x) num_states=1 num_scan_inputs=1 scan_input_directions=[1] graphs=[
//     (s f32[3], v f32[3])
//       t = Add(s, v)
//       r = Tanh(t)
//       return t, r
//   ]
//   return last, all
// after: (h f32[3], x f32[2,3])
//   one = i64[]{1}
//   zero = i64[]{0}
//   w = i64[1]{0}
//   v1 = Gather(x, one) axis=0
//   t1 = Add(h, v1)
//   r1 = Tanh(t1)
//   v2 = Gather(x, zero) axis=0
//   last = Add(t1, v2)
//   r2 = Tanh(last)
//   a = Unsqueeze(r1, w)
//   b = Unsqueeze(r2, w)
//   all = Concat(a, b) axis=0
//   return last, all
//
// kept: (n i64[], x f32[2,3])
//   y = Loop(n, _, x) carried=1 graphs=[
//     (i i64[], go bool[], s f32[2,3])
//       t = Tanh(s)
//       return go, t
//   ]
#include <algorithm>

#include "passes/inline_body.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

// Nodes that a loop may become. An iteration costs about a microsecond beside its kernels, a node time to build and to tune.
constexpr std::size_t kNodes = 64, kNodesOfOtherSizes = 2048;

template <class T>
Value* number(ir::Graph& graph, DType type, T value, Shape shape = {}) {
  Tensor t(type, std::move(shape));
  *t.mutable_data<T>() = value;
  return graph.add_constant(std::move(t));
}

bool is_true(const Value* v) { return v && v->is_constant() && scalar_of(v).value_or(0) != 0; }

// How often it runs; -1: not known before the run.
std::int64_t trips(const Node& node) {
  if (node.def->traits.control == ir::Control::scan) {
    const Value* first = node.in(static_cast<int>(node.attributes.integer("num_states")));
    const ir::Ints axes = node.attributes.ints("scan_input_axes", {});
    const std::int64_t axis = axes.empty() ? 0 : axes[0] < 0 ? axes[0] + first->rank() : axes[0];
    const ir::Dim extent = first->dims().at(static_cast<std::size_t>(axis));
    return extent.is_constant() ? extent.constant() : -1;
  }
  const ir::Graph& body = *node.graphs[0];
  const Value* next = body.outputs[0];
  while (next->producer && next->producer->op() == "Identity") next = next->producer->in(0);
  const bool ends_by_count = (is_true(next) || next == body.inputs[1]) && (!node.in(1) || is_true(node.in(1)));
  const Tensor* count = ends_by_count && node.in(0) && node.in(0)->is_constant() ? look(node.in(0)) : nullptr;
  return count && count->size() == 1 ? std::max<std::int64_t>(count->as_int(0), 0) : -1;
}

bool changes_shapes(const Node& node, std::size_t header, std::size_t carried) {
  const ir::Graph& body = *node.graphs[0];
  const std::size_t body_header = header ? 1 : 0;
  for (std::size_t c = 0; c < carried; ++c)
    if (node.inputs[header + c]->dims() != body.inputs[header + c]->dims() ||
        body.outputs[body_header + c]->dims() != body.inputs[header + c]->dims())
      return true;
  return false;
}

// The slices of all iterations, one behind the other along a new axis.
Value* stacked(ir::Graph& graph, Node& before, const std::vector<Value*>& slices, std::int64_t axis) {
  Value* const axes = number<std::int64_t>(graph, DType::i64, axis, {1});
  std::vector<Value*> rows;
  for (Value* slice : slices) rows.push_back(graph.make("Unsqueeze", {slice, axes}, {}, &before));
  if (axis < 0) axis += rows[0]->rank();
  return graph.make("Concat", rows, {{"axis", axis}}, &before);
}

class Unrolled {
 public:
  Unrolled(ir::Graph& graph, Node& node, std::int64_t count)
      : graph_(graph), node_(node), count_(count), inlined_(graph, node, *node.graphs[0]) {
    scan_ = node.def->traits.control == ir::Control::scan;
    header_ = scan_ ? 0 : 2;
    carried_ = static_cast<std::size_t>(node.attributes.integer(scan_ ? "num_states" : "carried"));
    sliced_ = scan_ ? static_cast<std::size_t>(node.attributes.integer("num_scan_inputs")) : 0;
    stacks_.resize(node.outputs.size() - carried_);
  }
  std::size_t header() const { return header_; }
  std::size_t carried() const { return carried_; }
  bool has_stacks() const { return !stacks_.empty(); }

  void write() {
    std::vector<Value*> values(node_.inputs.begin() + static_cast<std::ptrdiff_t>(header_),
                               node_.inputs.begin() + static_cast<std::ptrdiff_t>(header_ + carried_));
    for (std::int64_t i = 0; i < count_; ++i) iterate(values, i);
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      if (entry("scan_output_directions", s)) std::reverse(stacks_[s].begin(), stacks_[s].end());
      values.push_back(stacked(graph_, node_, stacks_[s], entry("scan_output_axes", s)));
    }
    replace_results(graph_, node_, values);
  }

 private:
  void iterate(std::vector<Value*>& values, std::int64_t i) {
    std::vector<Value*> operands;
    if (!scan_) operands = {number<std::int64_t>(graph_, DType::i64, i), number<bool>(graph_, DType::boolean, true)};
    operands.insert(operands.end(), values.begin(), values.end());
    for (std::size_t s = 0; s < sliced_; ++s) {
      Value* whole = node_.inputs[carried_ + s];
      const std::int64_t axis = entry("scan_input_axes", s), row = entry("scan_input_directions", s) ? count_ - 1 - i : i;
      operands.push_back(graph_.make("Gather", {whole, number<std::int64_t>(graph_, DType::i64, row)},
                                     {{"axis", axis < 0 ? axis + whole->rank() : axis}}, &node_));
    }
    operands.insert(operands.end(), node_.inputs.begin() + static_cast<std::ptrdiff_t>(header_ + carried_ + sliced_), node_.inputs.end());
    const std::vector<Value*> results = inlined_.add(operands, false);
    const std::size_t first = scan_ ? 0 : 1;
    values.assign(results.begin() + static_cast<std::ptrdiff_t>(first), results.begin() + static_cast<std::ptrdiff_t>(first + carried_));
    for (std::size_t s = 0; s < stacks_.size(); ++s) stacks_[s].push_back(results[first + carried_ + s]);
  }
  std::int64_t entry(std::string_view name, std::size_t i) const {
    const ir::Ints list = scan_ ? node_.attributes.ints(name, {}) : ir::Ints{};
    return list.empty() ? 0 : list.at(i);
  }

  ir::Graph& graph_;
  Node& node_;
  std::int64_t count_;
  InlinedBody inlined_;
  bool scan_ = false;
  std::size_t header_ = 0, carried_ = 0, sliced_ = 0;
  std::vector<std::vector<Value*>> stacks_;
};

bool unroll(ir::Graph& graph, Node& node) {
  const ir::Control control = node.def->traits.control;
  if ((control != ir::Control::loop && control != ir::Control::scan) || !can_be_inlined(*node.graphs[0])) return false;
  const std::int64_t count = trips(node);
  if (count < 0 || count > static_cast<std::int64_t>(kNodesOfOtherSizes)) return false;
  Unrolled unrolled(graph, node, count);
  if (count == 0 && unrolled.has_stacks()) return false;   // a stack of nothing
  const std::size_t nodes = static_cast<std::size_t>(count) * std::max<std::size_t>(count_nodes(*node.graphs[0]), 1);
  if (nodes > (changes_shapes(node, unrolled.header(), unrolled.carried()) ? kNodesOfOtherSizes : kNodes)) return false;
  unrolled.write();
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, unroll); }

}  // namespace

Pass pass_unroll_loops() { return {.name = "unroll_loops", .run = run}; }

}  // namespace tenfold::passes
