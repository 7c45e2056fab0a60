// GET /v2, /v2/models/NAME and its configuration, as Triton's clients read them.
#include "observe/page_files.h"
#include "protocol/config_json.h"
#include "protocol/json_text.h"
#include "protocol/tensor_metadata.h"
#include "routes/v2_routes.h"
#include "tenfold/version.h"

namespace tenfold::server {
namespace {

std::string listed(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? "," : "") + json_string(text);
  return out + "]";
}

std::string tensors(const Model& model, bool inputs) {
  std::string out = "[";
  for (const TensorMetadata& tensor : tensor_metadata(model, inputs))
    out += (out.size() > 1 ? ",{\"name\":" : "{\"name\":") + json_string(tensor.name) + ",\"datatype\":\"" + std::string(tensor.datatype) +
           "\",\"shape\":" + json_shape(tensor.shape) + "}";
  return out + "]";
}

}  // namespace

HttpResponse server_metadata() {
  return json_response("{\"name\":\"tenfold\",\"version\":" + json_string(version()) +
                       ",\"extensions\":[\"binary_tensor_data\",\"model_configuration\",\"model_repository\","
                       "\"model_repository(unload_dependents)\",\"statistics\",\"parameters\",\"trace\",\"logging\"]}");
}

HttpResponse model_metadata(const Models& models, const Model& model) {
  return json_response("{\"name\":" + json_string(model.name()) + ",\"versions\":" + listed(models.versions(model.name())) +
                       ",\"platform\":" + json_string(platform_of(model)) + ",\"inputs\":" + tensors(model, true) +
                       ",\"outputs\":" + tensors(model, false) + "}");
}

HttpResponse openapi() { return json_response(std::string(openapi_document())); }

HttpResponse model_config(const Model& model) { return json_response(config_json(model.config())); }

}  // namespace tenfold::server
