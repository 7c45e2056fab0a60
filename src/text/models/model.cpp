#include "text/models/model.h"

#include <set>

namespace tenfold::tokenizing {

std::unique_ptr<Model> read_model(const Json& json) {
  // Files of early versions have no type; those of WordPiece have a limit of characters.
  const std::string type = json.has("type") ? json.type() : json.has("max_input_chars_per_word") ? "WordPiece" : "";
  if (type == "WordLevel") return read_word_level(json);
  if (type == "WordPiece") return read_word_piece(json);
  if (type.empty()) json.wrong("'type' is missing");
  json.missing_component("WordLevel and WordPiece");
}

Vocabulary read_vocabulary(const Json& json) {
  const Json all = json.at("vocab");
  if (!all.value.is_object()) all.wrong("an object of tokens and their ids was expected");
  Vocabulary vocabulary;
  std::set<std::int32_t> ids;
  for (const auto& [token, value] : all.value.items()) {
    const std::int64_t id = value.is_number_integer() ? value.get<std::int64_t>() : -1;
    if (id < 0 || id > INT32_MAX) all.wrong("the id of '" + token + "' is no whole number from 0 to 2147483647");
    if (!ids.insert(static_cast<std::int32_t>(id)).second)
      all.wrong("the id " + std::to_string(id) + " of '" + token + "' stands there twice");
    vocabulary.emplace(token, static_cast<std::int32_t>(id));
  }
  return vocabulary;
}

std::int32_t unknown(const Json& json, const Vocabulary& vocabulary) {
  const std::string token = json.text("unk_token");
  const auto at = vocabulary.find(token);
  if (at == vocabulary.end()) json.wrong("the vocabulary lacks the unk_token '" + token + "'");
  return at->second;
}

}  // namespace tenfold::tokenizing
