// GET /v2, /v2/models/NAME and its configuration, as Triton's clients read them.
#include "core/datatype.h"
#include "protocol/json_text.h"
#include "routes/v2_routes.h"
#include "tenfold/version.h"

namespace tenfold::server {
namespace {

std::string listed(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? "," : "") + json_string(text);
  return out + "]";
}

// As Triton's configurations have shapes: a tensor of rank 0 has the one dim 1.
Shape configured_shape(const Model& model, const BindingInfo& binding) {
  Shape shape = binding.shape;
  if (shape.size() == (model.max_batch() > 0 ? 1u : 0u)) shape.push_back(1);
  return shape;
}

std::string tensors(const Model& model, bool inputs) {
  std::string out = "[";
  for (const BindingInfo& b : model.served().bindings()) {
    if (b.is_input != inputs) continue;
    out += (out.size() > 1 ? ",{\"name\":" : "{\"name\":") + json_string(b.name) + ",\"datatype\":\"" + std::string(v2_name(b.dtype)) +
           "\",\"shape\":" + json_shape(configured_shape(model, b)) + "}";
  }
  return out + "]";
}

std::string configured_tensors(const Model& model, bool inputs) {
  std::string out = "[";
  for (const BindingInfo& b : model.served().bindings()) {
    if (b.is_input != inputs) continue;
    Shape dims = configured_shape(model, b);
    const bool batched = model.max_batch() > 0;
    if (batched) dims.erase(dims.begin());
    out += (out.size() > 1 ? ",{\"name\":" : "{\"name\":") + json_string(b.name) + ",\"data_type\":\"" +
           std::string(configured_name(b.dtype)) + "\",";
    if (inputs) out += "\"format\":\"FORMAT_NONE\",";
    out += "\"dims\":" + json_shape(dims);
    if (b.shape.size() == (batched ? 1u : 0u)) out += ",\"reshape\":{\"shape\":[]}";
    out += inputs ? std::string(",\"is_shape_tensor\":false,\"allow_ragged_batch\":false,\"optional\":") +
        (b.has_default ? "true" : "false")
                  : ",\"label_filename\":\"\",\"is_shape_tensor\":false";
    out += ",\"is_non_linear_format_io\":false}";
  }
  return out + "]";
}

std::string instance_groups(const Model& model) {
  std::string out = "[";
  int number = 0;
  for (const Instances& group : model.options().instances) {
    const bool gpu = group.device != "cpu";
    out += (out.size() > 1 ? ",{\"name\":" : "{\"name\":") + json_string(model.name() + "_" + std::to_string(number++)) +
        ",\"kind\":\"" + (gpu ? "KIND_GPU" : "KIND_CPU") +
           "\",\"count\":" + std::to_string(group.count) + ",\"gpus\":[" + (gpu ? group.device.substr(group.device.find(':') + 1) : "") +
           "],\"secondary_devices\":[],\"profile\":[],\"passive\":false,\"host_policy\":\"\"}";
  }
  return out + "]";
}

}  // namespace

HttpResponse server_metadata() {
  return json_response("{\"name\":\"tenfold\",\"version\":" + json_string(version()) +
                       ",\"extensions\":[\"binary_tensor_data\",\"model_configuration\",\"statistics\",\"parameters\"]}");
}

HttpResponse model_metadata(const Models& models, const Model& model) {
  const char* platform = model.encoder()                                 ? "tenfold_encoder"
                         : model.options().path.ends_with(".onnx") ? "tenfold_onnx"
                                                                   : "tenfold_plan";
  return json_response("{\"name\":" + json_string(model.name()) + ",\"versions\":" + listed(models.versions(model.name())) +
                       ",\"platform\":\"" + platform + "\",\"inputs\":" + tensors(model, true) +
                       ",\"outputs\":" + tensors(model, false) + "}");
}

HttpResponse model_config(const Model& model) {
  const QueueOptions& queue = model.options().queue;
  std::string json = "{\"name\":" + json_string(model.name()) +
                     ",\"platform\":\"\",\"backend\":\"tenfold\",\"runtime\":\"\",\"version_policy\":{\"latest\":{\"num_versions\":1}}"
                     ",\"max_batch_size\":" +
                     std::to_string(model.max_batch()) + ",\"input\":" + configured_tensors(model, true) +
                     ",\"output\":" + configured_tensors(model, false) + ",\"batch_input\":[],\"batch_output\":[]"
                     ",\"optimization\":{\"priority\":\"PRIORITY_DEFAULT\",\"input_pinned_memory\":{\"enable\":true},"
                     "\"output_pinned_memory\":{\"enable\":true},\"gather_kernel_buffer_threshold\":0,\"eager_batching\":false}";
  if (model.max_batch() > 1)
    json += ",\"dynamic_batching\":{\"preferred_batch_size\":" + json_shape(queue.preferred_rows) +
            ",\"max_queue_delay_microseconds\":" + std::to_string(queue.max_delay.count()) +
            ",\"preserve_ordering\":false,\"priority_levels\":0,\"default_priority_level\":0,\"default_queue_policy\":{\"timeout_action\":"
            "\"REJECT\",\"default_timeout_microseconds\":" + std::to_string(queue.default_timeout.count()) +
            ",\"allow_timeout_override\":true,\"max_queue_size\":" + std::to_string(queue.max_requests) + "},\"priority_queue_policy\":{}}";
  return json_response(json + ",\"instance_group\":" + instance_groups(model) +
                       ",\"default_model_filename\":\"\",\"cc_model_filenames\":{},\"metric_tags\":{},\"parameters\":{}"
                       ",\"model_warmup\":[]}");
}

}  // namespace tenfold::server
