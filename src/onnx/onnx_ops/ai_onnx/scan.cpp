// Scan: the axes that are scanned come to the front; opset 8 has a batch.
#include "onnx_ops/ai_onnx/control_common.h"

namespace tenfold::onnx_ops {
namespace {

std::int64_t listed_axis(const OnnxImport& call, const char* list, std::int64_t i, std::int64_t rank) {
  const Ints axes = call.attributes.ints(list, {});
  validate(axes.empty() || i < static_cast<std::int64_t>(axes.size()), list, " has ", axes.size(), " values");
  const std::int64_t axis = axes.empty() ? 0 : axes[static_cast<std::size_t>(i)];
  check_shape(axis >= -rank && axis < rank, "scan axis ", axis, " is out of range for ", rank, " dimensions");
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
  validate(scanned >= 1 && scanned <= inputs, "num_scan_inputs is ", scanned, " of ", inputs, " inputs");
  std::vector<Value*> own = call.inputs;
  std::vector<ValueType> formal;
  for (std::int64_t i = 0; i < inputs; ++i) {
    Value*& value = own[static_cast<std::size_t>(i)];
    value = call.given(static_cast<int>(i));
    const std::int64_t at = i - (inputs - scanned), rank = value->rank();
    if (at >= 0) value = axis_to_front(call, value, listed_axis(call, "scan_input_axes", at, rank));
    formal.push_back(value->type);
    if (at >= 0) formal.back().tensor.dims.erase(formal.back().tensor.dims.begin());
  }
  Attributes attributes = call.attributes;
  attributes.set("num_states", inputs - scanned);
  attributes.set("scan_input_axes", Ints{}), attributes.set("scan_output_axes", Ints{});
  std::vector<Value*> results = add_control(call, import_bodies(call, {"body"}, {formal}), own, attributes);
  for (std::size_t i = static_cast<std::size_t>(inputs - scanned); i < results.size(); ++i) {
    const std::int64_t stack = static_cast<std::int64_t>(i) - (inputs - scanned);
    results[i] = front_to_axis(call, results[i], listed_axis(call, "scan_output_axes", stack, results[i]->rank()));
  }
  return results;
}

// At opset 8 every operand has a batch in front, and all samples are scanned alike: one Scan for each sample, joined again.
std::vector<Value*> from_8(OnnxImport& call) {
  supported(call.in(0) == nullptr, "sequence_lens of Scan at opset 8; export the model with opset 9 or later");
  const std::int64_t scanned = call.attributes.integer("num_scan_inputs"), operands = static_cast<std::int64_t>(call.inputs.size()) - 1;
  validate(scanned >= 1 && scanned <= operands, "num_scan_inputs is ", scanned, " of ", operands, " inputs");
  const Dims& first = call.given(1)->dims();
  supported(!first.empty() && first[0].is_constant() && first[0].constant() >= 1 && first[0].constant() <= 64,
            "Scan at opset 8 over a batch of unknown or large size; export the model with opset 9 or later");
  Attributes attributes{{"num_scan_inputs", scanned}, {"num_states", operands - scanned}};
  attributes.set("scan_input_directions", call.attributes.ints("directions", {}));
  std::vector<std::vector<Value*>> samples(static_cast<std::size_t>(call.outputs()));
  for (std::int64_t b = 0; b < first[0].constant(); ++b) {
    std::vector<Value*> own;
    std::vector<ValueType> formal;
    for (std::int64_t i = 0; i < operands; ++i) {
      own.push_back(
          call.add("Gather", {call.given(static_cast<int>(i) + 1), call.scalar(DType::i64, static_cast<double>(b))}, {{"axis", 0}})[0]);
      ValueType type = own.back()->type;
      if (i >= operands - scanned) {
        check_shape(!type.tensor.dims.empty(), "scan input ", i, " has no dim to scan");
        type.tensor.dims.erase(type.tensor.dims.begin());
      }
      formal.push_back(type);
    }
    const std::vector<Value*> results = add_control(call, import_bodies(call, {"body"}, {formal}), own, attributes);
    for (std::size_t i = 0; i < results.size(); ++i) samples[i].push_back(call.add("Unsqueeze", {results[i], call.ints({0})}, {})[0]);
  }
  std::vector<Value*> joined;
  for (const std::vector<Value*>& parts : samples) joined.push_back(call.add("Concat", parts, {{"axis", 0}})[0]);
  return joined;
}

}  // namespace

OnnxOp onnx_ai_onnx_scan() { return {.name = "Scan", .forms = {{9, from_9}, {8, from_8}}}; }

}  // namespace tenfold::onnx_ops
