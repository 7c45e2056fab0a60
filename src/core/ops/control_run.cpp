// Control flow on concrete values: branches, repetitions and scans through run_graph.
#include "ops/control_run.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "ops/real_access.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::ops {
namespace {

using ir::Graph;
using ir::Node;
using Values = std::vector<RuntimeValue>;

const Tensor& tensor_of(const RuntimeValue& value, const char* what) {
  const Tensor* tensor = std::get_if<Tensor>(&value);
  ir::check_shape(tensor != nullptr, what, " is not a tensor");
  return *tensor;
}

bool condition_of(const RuntimeValue& value) {
  const Tensor& tensor = tensor_of(value, "a condition");
  ir::check_shape(tensor.size() == 1, "a condition has ", tensor.size(), " elements, expected one");
  return tensor.as_int(0) != 0;
}

template <class T>
Tensor scalar(DType dtype, T value) {
  Tensor tensor(dtype, {});
  *tensor.mutable_data<T>() = value;
  return tensor;
}

// Copies slice `index` along `axis` out of or into a whole tensor.
void copy_slice(const Tensor& part, Tensor& whole, std::int64_t axis, std::int64_t index, bool into) {
  ir::supported(bits(part.dtype()) % 8 == 0 && bits(part.dtype()) > 0, "slices of ", name(part.dtype()), " in a loop");
  const AxisView view(whole.shape(), axis);
  const auto row = static_cast<std::size_t>(byte_size(part.dtype(), view.inner));
  auto* inner = static_cast<char*>(const_cast<void*>(part.raw()));
  auto* outer = static_cast<char*>(const_cast<void*>(whole.raw())) + static_cast<std::size_t>(index) * row;
  for (std::int64_t o = 0; o < view.outer && row > 0; ++o, inner += row, outer += row * static_cast<std::size_t>(view.extent)) {
    into ? std::memcpy(outer, inner, row) : std::memcpy(inner, outer, row);
  }
}

Tensor take(const Tensor& whole, std::int64_t axis, std::int64_t index) {
  Shape shape = whole.shape();
  shape.erase(shape.begin() + axis);
  Tensor part(whole.dtype(), shape);
  copy_slice(part, const_cast<Tensor&>(whole), axis, index, false);
  return part;
}

// Joins equally shaped tensors along a new axis; `type` tells the shape if there are none.
Tensor stack(const std::vector<Tensor>& parts, const ir::TensorType& type, std::int64_t axis) {
  Shape shape;
  for (ir::Dim dim : type.dims) shape.push_back(dim.is_constant() ? dim.constant() : 0);
  if (!parts.empty()) shape = parts[0].shape();
  axis = wrap_axis(axis, static_cast<int>(shape.size()) + 1);
  ir::check_shape(axis >= 0 && axis <= static_cast<std::int64_t>(shape.size()), "scan axis ", axis, " is out of range");
  shape.insert(shape.begin() + axis, static_cast<std::int64_t>(parts.size()));
  Tensor whole(parts.empty() ? type.dtype : parts[0].dtype(), shape);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ir::check_shape(parts[i].shape() == parts[0].shape(), "a scan output is ", text(parts[0].shape()), " in one iteration and ",
             text(parts[i].shape()), " in another");
    copy_slice(parts[i], whole, axis, static_cast<std::int64_t>(i), true);
  }
  return whole;
}

Values run_if(const Node& node, const Values& operands) {
  const Graph& body = *node.graphs.at(condition_of(operands.at(0)) ? 0 : 1);
  return run_graph(body, Values(operands.begin() + 1, operands.end()));
}

Values run_loop(const Node& node, const Values& operands) {
  const Graph& body = *node.graphs.at(0);
  const auto carried = static_cast<std::size_t>(node.attributes.integer("carried"));
  const auto left_out = [&](std::size_t i) { return std::holds_alternative<std::monostate>(operands.at(i)); };
  const std::int64_t limit = left_out(0) ? std::numeric_limits<std::int64_t>::max() : tensor_of(operands[0], "the trip count").as_int(0);
  bool goes_on = left_out(1) || condition_of(operands[1]);
  Values results(operands.begin() + 2, operands.begin() + 2 + static_cast<std::ptrdiff_t>(carried));
  std::vector<std::vector<Tensor>> scans(body.outputs.size() - 1 - carried);
  for (std::int64_t i = 0; i < limit && goes_on; ++i) {
    throw_if_cancelled();
    Values inputs{scalar<std::int64_t>(DType::i64, i), scalar<bool>(DType::boolean, goes_on)};
    inputs.insert(inputs.end(), results.begin(), results.end());
    inputs.insert(inputs.end(), operands.begin() + 2 + static_cast<std::ptrdiff_t>(carried), operands.end());
    Values out = run_graph(body, inputs);
    goes_on = condition_of(out[0]);
    for (std::size_t c = 0; c < carried; ++c) results[c] = std::move(out[1 + c]);
    for (std::size_t s = 0; s < scans.size(); ++s) scans[s].push_back(tensor_of(out[1 + carried + s], "a scan output"));
  }
  for (std::size_t s = 0; s < scans.size(); ++s) results.emplace_back(stack(scans[s], body.outputs[1 + carried + s]->type.tensor, 0));
  return results;
}

struct ScanAttributes {
  const Node& node;
  std::int64_t entry(std::string_view name, std::size_t i) const {
    const ir::Ints& values = node.attributes.ints(name);
    ir::validate(values.empty() || i < values.size(), name, " has ", values.size(), " values");
    return values.empty() ? 0 : values[i];
  }
};

Values run_scan(const Node& node, const Values& operands) {
  const Graph& body = *node.graphs.at(0);
  const ScanAttributes attributes{node};
  const auto states = static_cast<std::size_t>(node.attributes.integer("num_states"));
  const auto scanned = static_cast<std::size_t>(node.attributes.integer("num_scan_inputs"));
  const auto axis_of = [&](std::size_t i) {
    return wrap_axis(attributes.entry("scan_input_axes", i), tensor_of(operands.at(states + i), "a scan input").rank());
  };
  const std::int64_t length = tensor_of(operands.at(states), "a scan input").shape().at(static_cast<std::size_t>(axis_of(0)));
  Values results(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(states));
  std::vector<std::vector<Tensor>> scans(body.outputs.size() - states);
  for (std::int64_t step = 0; step < length; ++step) {
    Values inputs = results;
    for (std::size_t i = 0; i < scanned; ++i) {
      const Tensor& whole = tensor_of(operands.at(states + i), "a scan input");
      ir::check_shape(whole.shape().at(static_cast<std::size_t>(axis_of(i))) == length, "scan inputs differ in length");
      inputs.emplace_back(take(whole, axis_of(i), attributes.entry("scan_input_directions", i) ? length - 1 - step : step));
    }
    inputs.insert(inputs.end(), operands.begin() + static_cast<std::ptrdiff_t>(states + scanned), operands.end());
    Values out = run_graph(body, inputs);
    for (std::size_t s = 0; s < states; ++s) results[s] = std::move(out[s]);
    for (std::size_t s = 0; s < scans.size(); ++s) scans[s].push_back(tensor_of(out[states + s], "a scan output"));
  }
  for (std::size_t s = 0; s < scans.size(); ++s) {
    if (attributes.entry("scan_output_directions", s)) std::reverse(scans[s].begin(), scans[s].end());
    results.emplace_back(stack(scans[s], body.outputs[states + s]->type.tensor, attributes.entry("scan_output_axes", s)));
  }
  return results;
}

}  // namespace

std::vector<RuntimeValue> run_control(const Node& node, const std::vector<RuntimeValue>& operands) {
  if (node.def->traits.control == ir::Control::branch) return run_if(node, operands);
  if (node.def->traits.control == ir::Control::loop) return run_loop(node, operands);
  check(node.def->traits.control == ir::Control::scan, node.op(), " owns graphs, but nobody knows how to run them");
  return run_scan(node, operands);
}

}  // namespace tenfold::ops
