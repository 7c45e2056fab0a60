#include "configure_tensors.h"

#include <algorithm>
#include <optional>

#include "tenfold/internal/model_arguments.h"
#include "types.h"

namespace tenfold::triton {
namespace {

[[noreturn]] void refuse(std::string why) { throw Error(ErrorKind::invalid_argument, std::move(why)); }

const BindingInfo& find(std::span<const BindingInfo> bindings, const ConfiguredTensor& tensor, bool is_input) {
  std::string known;
  for (const BindingInfo& b : bindings) {
    if (b.is_input == is_input && b.name == tensor.name) return b;
    if (b.is_input == is_input) known += (known.empty() ? "'" : ", '") + b.name + "'";
  }
  const std::string kind = is_input ? "input" : "output";
  refuse(kind + " '" + tensor.name + "' of the configuration is not in the model, whose " + kind + "s are " +
         (known.empty() ? "none" : known));
}

void check_type(const BindingInfo& binding, const ConfiguredTensor& tensor) {
  if (dtype_of(std::string_view(tensor.type)) == binding.dtype) return;
  const std::string_view expected = configured_name(binding.dtype);
  refuse("'" + tensor.name + "' is configured as " + (tensor.type.empty() ? "no type" : tensor.type) + ", but the model has " +
         std::string(name(binding.dtype)) +
         (expected.empty() ? ", which Triton's protocol does not have: add a Cast to the model"
                           : ": configure data_type: " + std::string(expected)));
}

// The configured shape with its batch dim; nothing where the model has no dims of its own, and the configuration one of
// 1.
std::optional<Shape> whole_shape(const BindingInfo& binding, const ConfiguredTensor& tensor, bool batched) {
  if (binding.shape.size() == (batched ? 1 : 0) && tensor.shape == Shape{1}) return std::nullopt;
  Shape shape = tensor.shape;
  if (batched) shape.insert(shape.begin(), -1);
  return shape;
}

void check_output(const BindingInfo& binding, const ConfiguredTensor& tensor, bool batched) {
  check_type(binding, tensor);
  const std::optional<Shape> shape = whole_shape(binding, tensor, batched);
  if (!shape) return;
  bool fits = shape->size() == binding.shape.size();
  for (std::size_t i = 0; fits && i < shape->size(); ++i)
    fits = (*shape)[i] < 0 || binding.shape[i] < 0 || (*shape)[i] == binding.shape[i];
  if (!fits)
    refuse("output '" + tensor.name + "' is configured with " + std::to_string(tensor.shape.size()) + " dims [" + text(tensor.shape) +
           "]" + (batched ? " behind the batch dim" : "") + ", but the model has the shape [" + text(binding.shape) +
           "] (-1: open): configure its dims" + (batched ? " without the first" : ""));
}

}  // namespace

void configure_tensors(std::span<const ConfiguredTensor> inputs, std::span<const ConfiguredTensor> outputs,
                       std::span<const BindingInfo> bindings, ServedModelOptions& options) {
  const bool batched = options.max_batch > 0;
  for (const ConfiguredTensor& input : inputs) {
    const BindingInfo& binding = find(bindings, input, true);
    check_type(binding, input);
    if (input.optional && !binding.has_default)
      refuse("input '" + input.name + "' is configured as optional, but the model has no value for it: make it an initializer that is "
             "also a graph input, or remove 'optional'");
    if (const std::optional<Shape> shape = whole_shape(binding, input, batched)) options.input_shapes[input.name] = *shape;
  }
  for (const BindingInfo& b : bindings)
    if (b.is_input && !b.has_default && std::none_of(inputs.begin(), inputs.end(), [&](const auto& i) { return i.name == b.name; }))
      refuse("input '" + b.name + "' of the model is not in the configuration: add it, or remove all inputs to have them completed");
  for (const ConfiguredTensor& output : outputs) check_output(find(bindings, output, false), output, batched);
}

void configure_defaults(std::span<const ConfiguredTensor> inputs, const std::string& path, ServedModelOptions& options) {
  if (!path.ends_with(".onnx")) return;
  const ModelArguments arguments = model_arguments(path);
  for (const ConfiguredTensor& input : inputs)
    if (input.optional && std::any_of(arguments.overridable.begin(), arguments.overridable.end(),
                                      [&](const DeclaredValue& v) { return v.name == input.name; }))
      options.build.overridable.push_back(input.name);
}

}  // namespace tenfold::triton
