// Completes a configuration as Triton's ONNX backend does, so that a model without one is served alike.
//
// A model can be batched if the first dim of all inputs and outputs is open. Where max_batch_size is 0 or missing, it becomes the
// server's default then, and dynamic batching is turned on.
#include "model_config_impl.h"
#include "tenfold/error.h"
#include "tenfold/serving/served_model.h"
#include "types.h"

namespace tenfold::triton {
namespace {

using Json = nlohmann::ordered_json;

Json completed(const BindingInfo& binding, bool batched) {
  const std::string_view type = configured_name(binding.dtype);
  if (type.empty())
    throw Error(ErrorKind::unsupported, "'" + binding.name + "' has the type " + std::string(name(binding.dtype)) +
                                            ", which Triton's protocol does not have: add a Cast to the model");
  Json entry = {{"name", binding.name}, {"data_type", type}};
  Json dims = Json::array();
  for (std::size_t i = batched ? 1 : 0; i < binding.shape.size(); ++i) dims.push_back(binding.shape[i]);
  if (dims.empty()) {   // a configuration has no tensors of rank 0
    dims.push_back(1);
    if (batched) entry["reshape"] = {{"shape", Json::array()}};
  }
  entry["dims"] = std::move(dims);
  if (binding.is_input && binding.has_default) entry["optional"] = true;
  return entry;
}

std::string number(std::int64_t value) { return std::to_string(value); }

}  // namespace

bool ModelConfig::complete(std::span<const BindingInfo> bindings, std::int64_t default_max_batch, std::vector<std::string>& lines) {
  Json& json = impl_->json;
  const bool inputs = impl_->list("input").empty(), outputs = impl_->list("output").empty();
  const std::string why = why_not_batched(bindings);
  if (!inputs && !outputs) {
    if (max_batch_size() == 0 && !why.empty()) lines.push_back("requests are not batched: " + why);
    return false;
  }
  if (!why.empty()) {
    if (max_batch_size() != 0)
      throw Error(ErrorKind::invalid_argument, "max_batch_size is " + number(max_batch_size()) + ", but the model cannot be batched: " +
                                                   why + ". Configure max_batch_size: 0, or export the model with a dynamic first dim");
    lines.push_back("requests are not batched: " + why);
  } else if (max_batch_size() == 0 && default_max_batch > 0) {
    json["max_batch_size"] = default_max_batch;
    lines.push_back("max_batch_size is " + number(default_max_batch) + ", the server's default, as the configuration has none");
  }
  if (max_batch_size() > 1 && !json.contains("dynamic_batching") && !json.contains("sequence_batching"))
    json["dynamic_batching"] = Json::object();
  Json completed_inputs = Json::array(), completed_outputs = Json::array();
  for (const BindingInfo& b : bindings) (b.is_input ? completed_inputs : completed_outputs).push_back(completed(b, max_batch_size() > 0));
  if (inputs) json["input"] = std::move(completed_inputs);
  if (outputs) json["output"] = std::move(completed_outputs);
  return true;
}

}  // namespace tenfold::triton
