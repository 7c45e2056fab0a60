#include "text/postprocess/post_processor.h"

namespace tenfold::tokenizing {

Template read_template(const Json& json) {
  const std::string type = json.type();
  if (type == "BertProcessing") return read_bert_processing(json);
  if (type == "TemplateProcessing") return read_template_processing(json);
  json.missing_component("BertProcessing and TemplateProcessing");
}

}  // namespace tenfold::tokenizing
