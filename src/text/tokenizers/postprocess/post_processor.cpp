#include "text/tokenizers/postprocess/post_processor.h"

#include <nlohmann/json.hpp>

namespace tenfold::tokenizing {

Template read_template(const Json& json) {
  const std::string type = json.type();
  if (type == "BertProcessing") return read_bert_processing(json);
  if (type == "ByteLevel") return read_byte_level_processing(json);
  if (type == "RobertaProcessing") return read_roberta_processing(json);
  if (type == "Sequence") return read_processors(json);
  if (type == "TemplateProcessing") return read_template_processing(json);
  json.missing_component("BertProcessing, ByteLevel, RobertaProcessing, Sequence and TemplateProcessing");
}

Template whole_texts() { return {{{Piece::first, 0, 0}}, {{Piece::first, 0, 0}, {Piece::second, 1, 0}}, {}}; }

std::int32_t special_id(const Json& json, const char* key) {
  const Json pair = json.at(key);
  const bool is_right = pair.value.is_array() && pair.value.size() == 2 && pair.value[1].is_number_unsigned();
  if (!is_right || pair.value[1].get<std::uint64_t>() > INT32_MAX) pair.wrong("a token and its id were expected");
  return pair.value[1].get<std::int32_t>();
}

}  // namespace tenfold::tokenizing
