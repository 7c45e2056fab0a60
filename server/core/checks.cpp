#include "core/checks.h"

#include <algorithm>
#include <limits>

#include "core/datatype.h"

namespace tenfold::server {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw RequestError(Code::invalid_argument, why); }

std::string request_name(const InferRequest& request) { return "[request id: " + (request.id.empty() ? "<id_unknown>" : request.id) +
    "] "; }

std::string in_brackets(std::span<const std::int64_t> shape) {
  std::string out = "[";
  for (const std::int64_t extent : shape) out += (out.size() > 1 ? "," : "") + std::to_string(extent);
  return out + "]";
}

std::string quoted(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const std::string& name : names) out += (out.size() > 1 ? ",'" : "'") + name + "'";
  return out + "]";
}

void check_names(const Model& model, const InferRequest& request) {
  const auto& bindings = model.served().bindings();
  for (auto input = request.inputs.begin(); input != request.inputs.end(); ++input) {
    if (std::none_of(bindings.begin(), bindings.end(), [&](const BindingInfo& b) { return b.is_input && b.name == input->name; }))
      refuse("unexpected inference input '" + input->name + "' for model '" + model.name() + "'");
    if (std::any_of(request.inputs.begin(), input, [&](const InferInput& before) { return before.name == input->name; }))
      refuse(request_name(request) + "input '" + input->name + "' already exists in request");
  }
}

void check_count(const Model& model, const InferRequest& request) {
  std::vector<std::string> given, missing;
  std::size_t all = 0;
  for (const InferInput& input : request.inputs) given.push_back(input.name);
  for (const BindingInfo& b : model.served().bindings()) {
    if (!b.is_input) continue;
    ++all;
    if (!b.has_default && std::find(given.begin(), given.end(), b.name) == given.end()) missing.push_back(b.name);
  }
  if (missing.empty() && given.size() <= all) return;
  refuse(request_name(request) + "expected " + std::to_string(all) + " inputs but got " + std::to_string(given.size()) +
         " inputs for model '" + model.name() + "'. Got input(s) " + quoted(given) + ", but missing required input(s) " + quoted(missing) +
         ". Please provide all required input(s).");
}

bool fits(const Shape& expected, const Shape& shape) {
  bool fits = shape.size() == expected.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] >= 0 && (expected[i] < 0 || expected[i] == shape[i]);
  return fits;
}

// As requests have it. Where the configuration leaves an extent open that the model fixes, the model's holds.
Shape expected_shape(const Model& model, const BindingInfo& binding) {
  const auto configured = model.options().input_dims.find(binding.name);
  if (configured == model.options().input_dims.end()) return binding.shape;
  Shape expected = configured->second;
  if (model.max_batch() > 0) expected.insert(expected.begin(), -1);
  if (expected.size() == binding.shape.size() && !model.options().input_reshapes.contains(binding.name))
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (expected[i] < 0) expected[i] = binding.shape[i];
  return expected;
}

// From here on it has the model's shape.
void reshape(const Model& model, InferInput& input) {
  const auto found = model.options().input_reshapes.find(input.name);
  if (found != model.options().input_reshapes.end())
    input.shape = reshaped(input.shape, found->second.dims, found->second.model, model.max_batch() > 0);
}

// Triton's words, behind a shape that does not fit.
constexpr const char* kBatchDim =
    "NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be prepended to each input shape. If you "
    "want to specify the full shape including the batch dim in your input dims config, try setting max_batch_size to zero. See the "
    "model configuration docs for more info on max_batch_size.";

void check_shape(const Model& model, const InferRequest& request, const InferInput& input, const BindingInfo& binding) {
  if (model.max_batch() > 0 && input.shape.empty())
    refuse(request_name(request) + "input '" + input.name + "' has no shape but model requires batch dimension for '" + model.name() + "'");
  const Shape expected = expected_shape(model, binding);
  if (!fits(expected, input.shape))
    refuse(request_name(request) + "unexpected shape for input '" + input.name + "' for model '" + model.name() + "'. Expected " +
           in_brackets(expected) + ", got " + in_brackets(input.shape) + ". " + (model.max_batch() > 0 ? kBatchDim : ""));
}

void check_size(const Model& model, const InferRequest& request, const InferInput& input) {
  const std::int64_t elements = checked_elements(input.shape, input.name);
  if (input.dtype == DType::string) {
    if (static_cast<std::int64_t>(input.strings.size()) > elements)
      refuse(request_name(request) + "unexpected number of string elements " + std::to_string(input.strings.size()) +
             " for inference input '" + input.name + "' for model '" + model.name() + "', expecting " + std::to_string(elements));
    if (static_cast<std::int64_t>(input.strings.size()) < elements)
      refuse(request_name(request) + "expected " + std::to_string(elements) + " string elements for inference input '" + input.name +
             "' for model '" + model.name() + "', got " + std::to_string(input.strings.size()));
    return;
  }
  std::size_t bytes = 0;
  for (const auto& piece : input.pieces) bytes += piece.size();
  const std::int64_t expected = byte_size(input.dtype, elements);
  if (static_cast<std::int64_t>(bytes) != expected)
    refuse(request_name(request) + "input byte size mismatch for input '" + input.name + "' for model '" + model.name() + "'. Expected " +
           std::to_string(expected) + ", got " + std::to_string(bytes));
}

void check_rows(const Model& model, const InferRequest& request) {
  const std::int64_t rows = request.inputs.empty() ? 1 : request.inputs[0].shape[0];
  for (const InferInput& input : request.inputs)
    if (input.shape[0] != rows)
      refuse(request_name(request) + "input '" + input.name + "' batch size does not match other inputs for '" + model.name() + "'");
  if (rows < 1)
    refuse(request_name(request) + "inference request batch-size must be >= 1 for '" + model.name() + "'");
  if (rows > model.max_batch())
    refuse(request_name(request) + "inference request batch-size must be <= " + std::to_string(model.max_batch()) + " for '" +
           model.name() + "'");
}

void check_priority(const Model& model, const InferRequest& request) {
  const std::uint32_t levels = model.options().queue.priority_levels;
  if (request.priority <= levels) return;
  refuse(request_name(request) + "the request has the priority " + std::to_string(request.priority) + ", but model '" + model.name() +
         (levels == 0 ? "' has no priority levels: leave it out" : "' has the priority levels 1 to " + std::to_string(levels)));
}

void check_outputs(const Model& model, const InferRequest& request) {
  const auto& bindings = model.served().bindings();
  for (auto output = request.outputs.begin(); output != request.outputs.end(); ++output) {
    if (std::none_of(bindings.begin(), bindings.end(), [&](const BindingInfo& b) { return !b.is_input && b.name == *output; }))
      refuse("unexpected inference output '" + *output + "' for model '" + model.name() + "'");
    if (std::find(request.outputs.begin(), output, *output) != output)
      refuse("output '" + *output + "' already exists in request");
  }
}

}  // namespace

std::int64_t checked_elements(std::span<const std::int64_t> shape, const std::string& input) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) refuse("input '" + input + "' has the extent " + std::to_string(extent) + ", expected 0 or more");
    if (extent > 0 && elements > std::numeric_limits<std::int64_t>::max() / 16 / extent)
      refuse("input '" + input + "' has the shape " + in_brackets(shape) + ", which is too large");
    elements *= extent;
  }
  return elements;
}

void check_request(const Model& model, InferRequest& request) {
  check_names(model, request);
  check_count(model, request);
  const auto& bindings = model.served().bindings();
  std::vector<InferInput> ordered;
  for (const BindingInfo& binding : bindings) {
    if (!binding.is_input) continue;
    const auto same = [&](const InferInput& input) { return input.name == binding.name; };
    const auto found = std::find_if(request.inputs.begin(), request.inputs.end(), same);
    if (found == request.inputs.end()) continue;
    if (found->dtype != binding.dtype)
      refuse(request_name(request) + "inference input '" + binding.name + "' data-type is '" + std::string(v2_name(found->dtype)) +
             "', but model '" + model.name() + "' expects '" + std::string(v2_name(binding.dtype)) + "'");
    const bool scalar = binding.shape.size() == (model.max_batch() > 0 ? 1u : 0u);   // which may come as the model has it, too
    if (!scalar || found->shape.size() != binding.shape.size()) check_shape(model, request, *found, binding), reshape(model, *found);
    check_size(model, request, *found);
    ordered.push_back(std::move(*found));
  }
  request.inputs = std::move(ordered);
  if (model.max_batch() > 0) check_rows(model, request);
  check_outputs(model, request);
  check_priority(model, request);
}

}  // namespace tenfold::server
