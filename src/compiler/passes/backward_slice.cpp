#include "passes/backward_slice.h"

#include <algorithm>

#include "ops/conv/conv_common.h"
#include "ops/fold.h"
#include "passes/movement.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Graph;
using ir::Ints;
using ir::Node;
using ir::Value;

Value* list(Graph& graph, const Ints& values) {
  Tensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<std::int64_t>());
  return graph.add_constant(std::move(t));
}

std::optional<Ints> known(const Value* v) {
  if (!v || !v->contents || !ir::is_constant(*v->contents)) return std::nullopt;
  return ir::constants(*v->contents);
}

Value* again(Graph& graph, Node& n, std::vector<Value*> operands) { return graph.add_like(n, std::move(operands), &n)->out(); }

Value* with(Graph& graph, Node& n, std::vector<Value*> operands, ir::Attributes attributes) {
  Node* made = graph.add(n.op(), std::move(operands), std::move(attributes), 1, n.name, &n);
  made->numerics = n.numerics;
  return made->out();
}

// The operand that moves through has the same axis in the same place.
BackwardSlice first_operand(const Node& n, const AxisRange& part) {
  BackwardSlice backward_slice{std::vector<std::optional<AxisRange>>(n.inputs.size()), again};
  backward_slice.reads[0] = part;
  return backward_slice;
}

BackwardSlice of_pointwise(const Node& n, const AxisRange& part) {
  BackwardSlice backward_slice{std::vector<std::optional<AxisRange>>(n.inputs.size()), again};
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    const Value* v = n.inputs[i];
    const std::size_t missing = v ? n.out()->dims().size() - v->dims().size() : 0;
    if (!v || part.axis < missing || v->dims()[part.axis - missing] != n.out()->dims()[part.axis]) continue;   // it broadcasts
    backward_slice.reads[i] = AxisRange{part.axis - missing, part.at};
  }
  return backward_slice;
}

std::optional<BackwardSlice> of_convolution(const Node& n, const AxisRange& part) {
  const ir::Dims &x = n.in(0)->dims(), &w = n.in(1)->dims();
  if (part.axis < 2 || !x[part.axis].is_constant() || !ir::is_constant(std::span(w).subspan(2))) return std::nullopt;
  const ops::Window window = ops::window_of(n.attributes, std::span(x).subspan(2), ops::conv_kernel(n.attributes, std::span(w).subspan(2)));
  if (!ir::is_constant(window.begin) || !ir::is_constant(window.end)) return std::nullopt;
  const std::size_t i = part.axis - 2;
  const Reads reads =
      read_for({window.kernel[i], window.strides[i], window.dilations[i], window.begin[i].constant()}, part.at);
  const auto there = inside(reads.at, x[part.axis].constant());
  if (!there) return std::nullopt;
  ops::Window smaller = window;
  smaller.strides[i] = reads.taps.stride;
  smaller.dilations[i] = reads.taps.dilation;
  smaller.begin[i] = there->before;
  smaller.end[i] = there->behind;
  BackwardSlice backward_slice = first_operand(n, {part.axis, there->at});
  backward_slice.make = [smaller](Graph& graph, Node& node, std::vector<Value*> operands) {
    ir::Attributes attributes = node.attributes;
    ops::spell_out(attributes, smaller);
    return with(graph, node, std::move(operands), std::move(attributes));
  };
  return backward_slice;
}

std::optional<BackwardSlice> of_pad(const Node& n, const AxisRange& part) {
  const auto pads = known(n.in(1));
  const std::size_t rank = n.out()->dims().size();
  const Dim extent = n.in(0)->dims()[part.axis];
  if (!pads || n.in(3) || pads->size() != 2 * rank || n.attributes.string("mode", "constant") != "constant" || !extent.is_constant())
    return std::nullopt;
  Positions at = part.at;
  at.first -= (*pads)[part.axis];
  const auto there = inside(at, extent.constant());
  if (!there || (*pads)[part.axis] < 0 || (*pads)[part.axis + rank] < 0) return std::nullopt;
  Ints left = *pads;
  left[part.axis] = there->before;
  left[part.axis + rank] = there->behind;
  BackwardSlice backward_slice = first_operand(n, {part.axis, there->at});
  backward_slice.make = [left](Graph& graph, Node& node, std::vector<Value*> operands) {
    if (std::all_of(left.begin(), left.end(), [](std::int64_t pad) { return pad == 0; })) return operands[0];
    operands[1] = list(graph, left);
    return again(graph, node, std::move(operands));
  };
  return backward_slice;
}

BackwardSlice of_transpose(const Node& n, const AxisRange& part) {
  return first_operand(n, {static_cast<std::size_t>(perm_of(n)[part.axis]), part.at});
}

// The axis stays an axis, with as many elements in front of it.
std::optional<BackwardSlice> of_reshape(const Node& n, const AxisRange& part) {
  const ir::Dims &from = n.in(0)->dims(), &to = n.out()->dims();
  if (std::count_if(to.begin(), to.end(), [](Dim d) { return !d.is_constant(); }) > 1) return std::nullopt;
  const auto front = [](const ir::Dims& dims, std::size_t axis) { return ir::product(std::span(dims).first(axis)); };
  std::size_t axis = 0;
  while (axis < from.size() && !(from[axis] == to[part.axis] && front(from, axis) == front(to, part.axis))) ++axis;
  if (axis == from.size()) return std::nullopt;
  BackwardSlice backward_slice = first_operand(n, {axis, part.at});
  ir::Dims dims = to;
  dims[part.axis] = part.at.count;
  backward_slice.make = [dims](Graph& graph, Node& node, std::vector<Value*> operands) {
    return reshape_to(graph, operands[0], dims, &node);
  };
  return backward_slice;
}

BackwardSlice of_concat(const Node& n, const AxisRange& part) {
  return {std::vector<std::optional<AxisRange>>(n.inputs.size(), part), again};
}

std::size_t axis_of(const Node& n, std::int64_t otherwise) {
  const std::int64_t axis = n.attributes.integer("axis", otherwise);
  return static_cast<std::size_t>(axis < 0 ? axis + n.out()->rank() : axis);
}

// A constant matrix multiplies each row by itself.
bool multiplies_rows(const Node& n, std::size_t axis) {
  return n.op() == "MatMul" && n.in(1)->is_constant() && n.in(1)->rank() == 2 && axis + 1 < n.out()->dims().size();
}
bool cuts_other_axes(const Node& n, std::size_t axis) {
  const auto axes = known(n.in(3));
  const std::int64_t rank = n.out()->rank();
  return axes &&
         std::none_of(axes->begin(), axes->end(), [&](std::int64_t a) { return (a + rank) % rank == static_cast<std::int64_t>(axis); });
}
bool one_scale(const Node& n) {
  return (n.op() == "QuantizeLinear" || n.op() == "DequantizeLinear") && n.in(1) && ir::product(n.in(1)->dims()) == Dim(1) &&
         n.attributes.integer("block_size", 0) == 0;
}

}  // namespace

std::optional<BackwardSlice> backward_slice_of(const Node& n, const AxisRange& part) {
  const std::string& op = n.op();
  if (n.body || !n.graphs.empty() || n.outputs.size() != 1 || n.out()->contents) return std::nullopt;
  if (!n.out()->dims()[part.axis].is_constant()) return std::nullopt;
  if (n.def->scalar && n.def->pure) return of_pointwise(n, part);
  if (op == "Conv") return of_convolution(n, part);
  if (op == "Pad") return of_pad(n, part);
  if (op == "Transpose") return of_transpose(n, part);
  if (is_reshape(n)) return of_reshape(n, part);
  if (op == "Concat" && axis_of(n, 0) != part.axis) return of_concat(n, part);
  if (op == "Slice" && cuts_other_axes(n, part.axis)) return first_operand(n, part);
  if (op == "BatchNormalization" && part.axis != 1) return first_operand(n, part);
  if (one_scale(n) || multiplies_rows(n, part.axis)) return first_operand(n, part);
  return std::nullopt;
}

std::optional<AxisRange> sliced(const Node& n) {
  if (n.op() != "Slice" || n.body || n.out()->contents) return std::nullopt;
  const auto starts = known(n.in(1)), ends = known(n.in(2)), axes = n.in(3) ? known(n.in(3)) : Ints{0},
             steps = n.in(4) ? known(n.in(4)) : Ints{1};
  if (!starts || !ends || !axes || !steps || starts->size() != 1 || axes->size() != 1 || steps->size() != 1 || (*steps)[0] < 1)
    return std::nullopt;
  const std::size_t axis = static_cast<std::size_t>((*axes)[0] < 0 ? (*axes)[0] + n.out()->rank() : (*axes)[0]);
  const Dim extent = n.in(0)->dims()[axis], count = n.out()->dims()[axis];
  if (!extent.is_constant() || !count.is_constant() || count.constant() < 1) return std::nullopt;
  const std::int64_t start = (*starts)[0] < 0 ? std::max<std::int64_t>(0, (*starts)[0] + extent.constant()) : (*starts)[0];
  return AxisRange{axis, {start, count.constant() > 1 ? (*steps)[0] : 1, count.constant()}};
}

Value* cut_to(Graph& graph, Value* v, const AxisRange& part, Node* before) {
  const Dim extent = v->dims()[part.axis];
  if (extent == Dim(part.at.count)) return v;
  std::vector<Value*> operands{v, list(graph, {part.at.first}), list(graph, {part.at.last() + 1}),
                               list(graph, {static_cast<std::int64_t>(part.axis)})};
  if (part.at.step > 1) operands.push_back(list(graph, {part.at.step}));
  if (v->is_constant()) return ops::fold(graph, "Slice", operands, {}, v->name + "_part");
  return graph.make("Slice", operands, {}, before);
}

}  // namespace tenfold::passes
