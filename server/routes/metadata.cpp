// GET /v2, /v2/models/NAME and its configuration, as Triton's clients read them.
#include "observe/json_writer.h"
#include "observe/page_files.h"
#include "protocol/config_json.h"
#include "protocol/json_text.h"
#include "protocol/tensor_metadata.h"
#include "routes/v2_routes.h"
#include "tenfold/version.h"

namespace tenfold::server {
namespace {

std::string listed(const std::vector<std::string>& texts) {
  JsonList out;
  for (const std::string& text : texts) out.add(text);
  return out.text();
}

std::string tensors(const Model& model, bool inputs) {
  JsonList out;
  for (const TensorMetadata& tensor : tensor_metadata(model, inputs))
    out.add(JsonObject().add("name", tensor.name).add("datatype", tensor.datatype).raw("shape", json_shape(tensor.shape)));
  return out.text();
}

}  // namespace

HttpResponse server_metadata() {
  const std::string extensions = listed({"binary_tensor_data", "model_configuration", "model_repository",
                                         "model_repository(unload_dependents)", "statistics", "parameters", "trace", "logging"});
  return json_response(JsonObject().add("name", "tenfold").add("version", version()).raw("extensions", extensions).text());
}

HttpResponse model_metadata(const Models& models, const Model& model) {
  return json_response(JsonObject()
                           .add("name", model.name())
                           .raw("versions", listed(models.versions(model.name())))
                           .add("platform", platform_of(model))
                           .raw("inputs", tensors(model, true))
                           .raw("outputs", tensors(model, false))
                           .text());
}

HttpResponse openapi() { return json_response(std::string(openapi_document())); }

HttpResponse model_config(const Model& model) { return json_response(config_json(model.config())); }

}  // namespace tenfold::server
