// Scan: a closed body run over the slices of its scan inputs, carrying states along.
//
// Operands: `num_states` states, `num_scan_inputs` scan inputs, captures. Body inputs: states, one slice of each scan input,
// captures. Body outputs: states, then one slice of each scan output.
#include "ops/control/control_common.h"

namespace tenfold::ir {
namespace {

// Entry i of a list of axes, 0 where the list is left out.
std::int64_t axis_of(InferCall& call, std::string_view name, std::size_t i, int rank) {
  const Ints axes = call.attributes().ints(name);
  call.validate(axes.empty() || i < axes.size(), name, " has ", axes.size(), " values");
  return call.axis(axes.empty() ? 0 : axes[i], rank);
}

void infer(InferCall& call) {
  const Node& node = call.node();
  call.validate(node.graphs.size() == 1, "Scan has ", node.graphs.size(), " bodies, expected one");
  Graph& body = *node.graphs[0];
  const std::int64_t states = call.attributes().integer("num_states"), scanned = call.attributes().integer("num_scan_inputs");
  call.validate(states >= 0 && scanned >= 1 && states <= call.inputs() && scanned <= call.inputs() - states && states <= call.outputs(),
             "Scan has ", call.inputs(), " operands, ", states, " states and ", scanned, " scan inputs");
  call.validate(static_cast<int>(body.outputs.size()) == call.outputs(), "the body has ", body.outputs.size(), " results, expected ",
             call.outputs());
  std::vector<ops::Formal> formal;
  for (int i = 0; i < states; ++i) formal.push_back({call.type(i)});
  Dim length = 0;
  for (int i = 0; i < scanned; ++i) {
    ValueType slice = call.type(static_cast<int>(states) + i);
    const auto axis = axis_of(call, "scan_input_axes", static_cast<std::size_t>(i), call.rank(static_cast<int>(states) + i));
    const Dim extent = slice.tensor.dims[static_cast<std::size_t>(axis)];
    call.check_shape(i == 0 || !extent.is_constant() || !length.is_constant() || extent == length, "scan inputs have the lengths ",
                     length.text(), " and ", extent.text());
    length = i == 0 || extent.is_constant() ? extent : length;
    slice.tensor.dims.erase(slice.tensor.dims.begin() + axis);
    formal.push_back({slice});
  }
  const std::vector<ops::Formal> captures = ops::captured(node, static_cast<std::size_t>(states + scanned));
  formal.insert(formal.end(), captures.begin(), captures.end());
  ops::infer_body(call.graph(), body, formal);
  for (int i = 0; i < call.outputs(); ++i) {
    ValueType type = ops::lift(call, body, body.outputs[static_cast<std::size_t>(i)]->type, cat("result", i));
    if (i >= states) {
      const auto axis =
          axis_of(call, "scan_output_axes", static_cast<std::size_t>(i - states), static_cast<int>(type.tensor.dims.size()) + 1);
      type.tensor.dims.insert(type.tensor.dims.begin() + axis, length);
    }
    call.out(i, type);
  }
}

}  // namespace

OpDef op_scan() {
  return {.name = "Scan",
          .min_inputs = 1,
          .max_inputs = -1,
          .max_outputs = -1,
          .types = "*... -> *...",
          .attributes = {{"scan_input_axes", Ints{}},
                         {"scan_input_directions", Ints{}},
                         {"scan_output_axes", Ints{}},
                         {"scan_output_directions", Ints{}}},
          .optional_attributes = "num_scan_inputs: int, num_states: int",
          .infer = infer,
          .traits = {.control = Control::scan}};
}

}  // namespace tenfold::ir
