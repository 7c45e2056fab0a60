// Fields of a configuration that this backend refuses by name, and those that change nothing.
#include "model_config_impl.h"
#include "tenfold/error.h"

namespace tenfold::triton {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& field, const std::string& what_to_do) {
  throw Error(ErrorKind::unsupported, "field '" + field + "' is not supported by the backend 'tenfold': " + what_to_do);
}

const Json* inside(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* name : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(name);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

bool is_true(const Json* value) { return value && value->is_boolean() && value->get<bool>(); }

}  // namespace

void ModelConfig::refuse_unsupported() const {
  const Json& json = impl_->json;
  if (impl_->has("sequence_batching")) refuse("sequence_batching", "serve models with state by another backend");
  for (const char* field : {"batch_input", "batch_output"})
    if (impl_->has(field)) refuse(field, "it belongs to ragged batches; let clients send it as an input");
  if (is_true(inside(json, {"model_transaction_policy", "decoupled"})))
    refuse("model_transaction_policy.decoupled", "each request gets one response; remove it");
  const Json* accelerators = inside(json, {"optimization", "execution_accelerators"});
  if (accelerators && !accelerators->empty())
    refuse("optimization.execution_accelerators", "remove it; the parameters tenfold.precision and tenfold.device choose instead");
  for (const Json& input : impl_->list("input")) {
    const std::string name = "input '" + input.value("name", "") + "': ";
    if (input.value("allow_ragged_batch", false)) refuse(name + "allow_ragged_batch", "requests of unequal shapes run one after the other");
    for (const char* field : {"is_shape_tensor", "is_non_linear_format_io"})
      if (input.value(field, false)) refuse(name + field, "it is TensorRT's; remove it");
  }
  for (const Json& group : impl_->list("instance_group"))
    if (group.contains("profile") && !group["profile"].empty())
      refuse("instance_group.profile", "the engine finds the profile by the shapes; remove it");
}

std::vector<std::string> ModelConfig::without_effect() const {
  std::vector<std::string> lines;
  const Json& json = impl_->json;
  const Json* level = inside(json, {"optimization", "graph", "level"});
  if (level && level->is_number_integer() && *level != 0)
    lines.push_back("optimization.graph.level changes nothing: the engine always optimizes the whole graph");
  if (is_true(inside(json, {"optimization", "cuda", "graphs"})))
    lines.push_back("optimization.cuda.graphs changes nothing: engines on a GPU always replay CUDA graphs");
  return lines;
}

}  // namespace tenfold::triton
