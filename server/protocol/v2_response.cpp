// Writing infer's response.
#include "core/datatype.h"
#include "protocol/json_text.h"
#include "protocol/v2_message.h"

#include <cstring>

namespace tenfold::server {
namespace {

OutputBytes bytes_of(InferOutput& output) {
  if (output.dtype != DType::string) return std::move(output.bytes);
  const std::string text = write_bytes_elements(output.strings);
  const std::shared_ptr<std::byte[]> bytes = std::make_shared_for_overwrite<std::byte[]>(text.size() + 1);
  std::memcpy(bytes.get(), text.data(), text.size());
  return {bytes, text.size()};
}

}  // namespace

V2Response write_v2_response(InferAnswer answer, const OutputForms& forms) {
  V2Response response;
  std::string& json = response.json;
  json = "{";
  if (!answer.id.empty()) json += "\"id\":" + json_string(answer.id) + ",";
  json += "\"model_name\":" + json_string(answer.model) + ",\"model_version\":" + json_string(answer.version) + ",\"outputs\":[";
  for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
    InferOutput& output = answer.outputs[i];
    json += (i > 0 ? ",{\"name\":" : "{\"name\":") + json_string(output.name) + ",\"datatype\":\"" + std::string(v2_name(output.dtype)) +
            "\",\"shape\":" + json_shape(output.shape);
    if (output.in_shared_memory) {
      json += "}";
      continue;
    }
    if (forms.binary.empty() ? forms.all_binary : bool(forms.binary[i])) {
      response.binary.push_back(bytes_of(output));
      response.binary_bytes += response.binary.back().size;
      json += ",\"parameters\":{\"binary_data_size\":" + std::to_string(response.binary.back().size) + "}}";
      continue;
    }
    json += ",\"data\":[";
    if (output.dtype == DType::string) append_elements(json, output.strings, output.name);
    else append_elements(json, output.dtype, output.bytes.data.get(), element_count(output.shape), output.name);
    json += "]}";
  }
  json += "]}";
  return response;
}

}  // namespace tenfold::server
