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
  require_sound(axes.empty() || i < axes.size(), name, " has ", axes.size(), " values");
  return call.axis(axes.empty() ? 0 : axes[i], rank);
}

void infer(InferCall& call) {
  const Node& node = call.node();
  require_sound(node.graphs.size() == 1, "Scan has ", node.graphs.size(), " bodies, expected one");
  Graph& body = *node.graphs[0];
  const std::int64_t states = call.attributes().integer("num_states"), scanned = call.attributes().integer("num_scan_inputs");
  require_sound(states >= 0 && scanned >= 1 && states <= call.inputs() && scanned <= call.inputs() - states && states <= call.outputs(),
                "Scan has ", call.inputs(), " operands, ", states, " states and ", scanned, " scan inputs");
  require_sound(static_cast<int>(body.outputs.size()) == call.outputs(), "the body has ", body.outputs.size(), " results, expected ",
                call.outputs());
  std::vector<ops::Formal> formal;
  for (int i = 0; i < states; ++i) formal.push_back({call.type(i)});
  Dim length = 0;
  for (int i = 0; i < scanned; ++i) {
    ValueType slice = call.type(static_cast<int>(states) + i);
    const auto axis = axis_of(call, "scan_input_axes", static_cast<std::size_t>(i), call.rank(static_cast<int>(states) + i));
    const Dim extent = slice.tensor.dims[static_cast<std::size_t>(axis)];
    call.need(i == 0 || !extent.is_constant() || !length.is_constant() || extent == length, "scan inputs have the lengths ", length.text(),
              " and ", extent.text());
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

std::int64_t listed_axis(const OnnxImport& call, const char* list, std::int64_t i, std::int64_t rank) {
  const Ints axes = call.attributes.ints(list, {});
  require(axes.empty() || i < static_cast<std::int64_t>(axes.size()), ErrorKind::invalid_model, list, " has ", axes.size(), " values");
  const std::int64_t axis = axes.empty() ? 0 : axes[static_cast<std::size_t>(i)];
  require(axis >= -rank && axis < rank, ErrorKind::invalid_model, "scan axis ", axis, " is out of range for ", rank, " dimensions");
  return axis < 0 ? axis + rank : axis;
}
// Slices along the first axis lie one after the other, so that a body can read and write them where they are.
Value* axis_to_front(OnnxImport& call, Value* value, std::int64_t axis) {
  if (axis == 0) return value;
  Ints perm{axis};
  for (std::int64_t d = 0; d < value->rank(); ++d)
    if (d != axis) perm.push_back(d);
  return call.add("Transpose", {value}, {{"perm", perm}})[0];
}
Value* front_to_axis(OnnxImport& call, Value* value, std::int64_t axis) {
  if (axis == 0) return value;
  Ints perm;
  for (std::int64_t d = 0; d < value->rank(); ++d) perm.push_back(d < axis ? d + 1 : d == axis ? 0 : d);
  return call.add("Transpose", {value}, {{"perm", perm}})[0];
}

std::vector<Value*> from_9(OnnxImport& call) {
  const std::int64_t scanned = call.attributes.integer("num_scan_inputs");
  const auto inputs = static_cast<std::int64_t>(call.inputs.size());
  require_sound(scanned >= 1 && scanned <= inputs, "num_scan_inputs is ", scanned, " of ", inputs, " inputs");
  std::vector<Value*> own = call.inputs;
  std::vector<ValueType> formal;
  for (std::int64_t i = 0; i < inputs; ++i) {
    Value*& value = own[static_cast<std::size_t>(i)];
    value = call.need(static_cast<int>(i));
    const std::int64_t at = i - (inputs - scanned), rank = value->rank();
    if (at >= 0) value = axis_to_front(call, value, listed_axis(call, "scan_input_axes", at, rank));
    formal.push_back(value->type);
    if (at >= 0) formal.back().tensor.dims.erase(formal.back().tensor.dims.begin());
  }
  Attributes attributes = call.attributes;
  attributes.set("num_states", inputs - scanned);
  attributes.set("scan_input_axes", Ints{}), attributes.set("scan_output_axes", Ints{});
  std::vector<Value*> results = ops::add_control(call, ops::import_bodies(call, {"body"}, {formal}), own, attributes);
  for (std::size_t i = static_cast<std::size_t>(inputs - scanned); i < results.size(); ++i) {
    const std::int64_t stack = static_cast<std::int64_t>(i) - (inputs - scanned);
    results[i] = front_to_axis(call, results[i], listed_axis(call, "scan_output_axes", stack, results[i]->rank()));
  }
  return results;
}

// At opset 8 every operand has a batch in front, and all samples are scanned alike: one Scan for each sample, joined again.
std::vector<Value*> from_8(OnnxImport& call) {
  require(call.in(0) == nullptr, ErrorKind::unsupported, "sequence_lens of Scan at opset 8; export the model with opset 9 or later");
  const std::int64_t scanned = call.attributes.integer("num_scan_inputs"), operands = static_cast<std::int64_t>(call.inputs.size()) - 1;
  require_sound(scanned >= 1 && scanned <= operands, "num_scan_inputs is ", scanned, " of ", operands, " inputs");
  const Dims& first = call.need(1)->dims();
  require(!first.empty() && first[0].is_constant() && first[0].constant() >= 1 && first[0].constant() <= 64, ErrorKind::unsupported,
          "Scan at opset 8 over a batch of unknown or large size; export the model with opset 9 or later");
  Attributes attributes{{"num_scan_inputs", scanned}, {"num_states", operands - scanned}};
  attributes.set("scan_input_directions", call.attributes.ints("directions", {}));
  std::vector<std::vector<Value*>> samples(static_cast<std::size_t>(call.outputs()));
  for (std::int64_t b = 0; b < first[0].constant(); ++b) {
    std::vector<Value*> own;
    std::vector<ValueType> formal;
    for (std::int64_t i = 0; i < operands; ++i) {
      own.push_back(
          call.add("Gather", {call.need(static_cast<int>(i) + 1), call.scalar(DType::i64, static_cast<double>(b))}, {{"axis", 0}})[0]);
      ValueType type = own.back()->type;
      if (i >= operands - scanned) {
        require(!type.tensor.dims.empty(), ErrorKind::invalid_model, "scan input ", i, " has no dim to scan");
        type.tensor.dims.erase(type.tensor.dims.begin());
      }
      formal.push_back(type);
    }
    const std::vector<Value*> results = ops::add_control(call, ops::import_bodies(call, {"body"}, {formal}), own, attributes);
    for (std::size_t i = 0; i < results.size(); ++i) samples[i].push_back(call.add("Unsqueeze", {results[i], call.ints({0})}, {})[0]);
  }
  std::vector<Value*> joined;
  for (const std::vector<Value*>& parts : samples) joined.push_back(call.add("Concat", parts, {{"axis", 0}})[0]);
  return joined;
}

}  // namespace

OpDef op_scan() {
  return {.name = "Scan",
          .min_inputs = 1,
          .max_inputs = -1,
          .max_outputs = -1,
          .attributes = {{"scan_input_axes", Ints{}},
                         {"scan_input_directions", Ints{}},
                         {"scan_output_axes", Ints{}},
                         {"scan_output_directions", Ints{}}},
          .optional_attributes = {"num_scan_inputs", "num_states"},
          .infer = infer,
          .from_onnx = {{"Scan", 9, from_9}, {"Scan", 8, from_8}}};
}

}  // namespace tenfold::ir
