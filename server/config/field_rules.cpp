#include "config/field_rules.h"

#include <algorithm>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
constexpr Fate kHonored = Fate::honored, kNoEffect = Fate::no_effect, kRefused = Fate::refused;
constexpr std::string_view kByTriton = "serve it by Triton and libtriton_tenfold.so";

constexpr FieldRule kRules[] = {
    {"name", kHonored, ""},
    {"platform", kHonored, ""},
    {"backend", kHonored, ""},
    {"runtime", kNoEffect, "models run in this process"},
    {"version_policy", kHonored, ""},
    {"max_batch_size", kHonored, ""},
    {"input", kHonored, ""},
    {"input.format", kNoEffect,
     "a format only tells clients how an image's dims are ordered; the server keeps the order that the model has"},
    {"input.is_shape_tensor", kRefused, "it is TensorRT's; remove it"},
    {"input.allow_ragged_batch", kRefused, "requests of unequal shapes run one after the other; remove it, or serve it by Triton"},
    {"input.is_non_linear_format_io", kRefused, "it is TensorRT's; remove it"},
    {"output", kHonored, ""},
    {"output.label_filename", kHonored, ""},
    {"output.is_shape_tensor", kRefused, "it is TensorRT's; remove it"},
    {"output.is_non_linear_format_io", kRefused, "it is TensorRT's; remove it"},
    {"batch_input", kRefused, "it belongs to ragged batches; let clients send it as an input"},
    {"batch_output", kRefused, "it belongs to ragged batches; remove it"},
    {"optimization.graph", kNoEffect, "the engine always optimizes the whole graph"},
    {"optimization.priority", kNoEffect, "instances share the device alike"},
    {"optimization.cuda", kNoEffect, "engines on a GPU always replay CUDA graphs, of the batch sizes that come"},
    {"optimization.execution_accelerators", kRefused,
     "remove it; the parameters tenfold.precision and tenfold.device choose instead"},
    {"optimization.input_pinned_memory", kNoEffect, "inputs are always staged in pinned memory where a GPU computes"},
    {"optimization.output_pinned_memory", kNoEffect, "outputs are always staged in pinned memory where a GPU computes"},
    {"optimization.gather_kernel_buffer_threshold", kNoEffect, "batches are gathered by the host, into the engine's own memory"},
    {"optimization.eager_batching", kNoEffect, "a batch is always gathered when an instance is free"},
    {"dynamic_batching", kHonored, ""},
    {"sequence_batching", kRefused, kByTriton},
    {"ensemble_scheduling", kRefused, kByTriton},
    {"instance_group", kHonored, ""},
    {"instance_group.rate_limiter", kRefused, kByTriton},
    {"instance_group.secondary_devices", kRefused, "there are no such devices; remove it"},
    {"instance_group.profile", kRefused, "the engine finds the profile by the shapes; remove it"},
    {"instance_group.passive", kRefused, "each instance computes; remove it"},
    {"instance_group.host_policy", kNoEffect, "threads are placed by the process's own cpuset"},
    {"default_model_filename", kHonored, ""},
    {"cc_model_filenames", kRefused, "the same file is served on all GPUs: name it by default_model_filename"},
    {"metric_tags", kHonored, ""},
    {"parameters", kHonored, ""},
    {"model_warmup", kHonored, ""},
    {"model_operations", kRefused, "plug-ins are libraries of Tenfold's; serve it by Triton"},
    {"model_transaction_policy.decoupled", kRefused, "each request gets one response; serve it by Triton and libtriton_tenfold.so"},
    {"model_repository_agents", kRefused, kByTriton},
    {"response_cache", kHonored, ""},
    {"model_metrics", kHonored, ""},
};

// Whether a field of the message is set. Of proto3's plain fields that is: other than its default.
class Walk {
 public:
  std::vector<std::string> lines;

  void visit(const Message& message, const std::string& prefix) {
    const auto* reflection = message.GetReflection();
    std::vector<const FieldDescriptor*> set;
    reflection->ListFields(message, &set);
    for (const FieldDescriptor* field : set) {
      const std::string path = prefix + field->name();
      const FieldRule* rule = rule_of(path);
      if (rule && rule->path == path && rule->fate != Fate::honored) apply(*rule, message, *field);
      else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_map()) visit_below(message, *field, path + ".");
    }
  }

 private:
  void visit_below(const Message& message, const FieldDescriptor& field, const std::string& prefix) {
    const auto* reflection = message.GetReflection();
    if (!field.is_repeated()) return visit(reflection->GetMessage(message, &field), prefix);
    for (int i = 0; i < reflection->FieldSize(message, &field); ++i) visit(reflection->GetRepeatedMessage(message, &field, i), prefix);
  }
  void apply(const FieldRule& rule, const Message& owner, const FieldDescriptor& field) {
    if (is_default(owner, field)) return;
    const std::string name(rule.path);
    if (rule.fate == Fate::refused)
      throw Error(ErrorKind::unsupported, "field '" + name + "' is not supported by Tenfold's server: " + std::string(rule.why));
    const std::string line = name + " changes nothing: " + std::string(rule.why);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  // A message that is there but asks for nothing: "execution_accelerators { }".
  static bool is_default(const Message& owner, const FieldDescriptor& field) {
    if (field.is_repeated() || field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field.containing_oneof()) return false;
    return owner.GetReflection()->GetMessage(owner, &field).ByteSizeLong() == 0;
  }
};

}  // namespace

std::span<const FieldRule> field_rules() { return kRules; }

const FieldRule* rule_of(std::string_view path) {
  const FieldRule* best = nullptr;
  for (const FieldRule& rule : kRules) {
    const bool fits = path == rule.path || (path.starts_with(rule.path) && path[rule.path.size()] == '.');
    if (fits && (!best || rule.path.size() > best->path.size())) best = &rule;
  }
  return best;
}

std::vector<std::string> check_fields(const inference::ModelConfig& config) {
  Walk walk;
  walk.visit(config, "");
  return walk.lines;
}

}  // namespace tenfold::server
