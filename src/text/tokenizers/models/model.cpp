#include "text/tokenizers/models/model.h"

#include <nlohmann/json.hpp>
#include <algorithm>

namespace tenfold::tokenizing {

std::unique_ptr<Model> read_model(const Json& json) {
  // Files of early versions have no type: WordPiece has a limit of characters, BPE merges, Unigram a list of tokens.
  const bool has_list = json.has("vocab") && json.at("vocab").value.is_array();
  const std::string type = json.has("type") ? json.type() : json.has("max_input_chars_per_word") ? "WordPiece"
                           : json.has("merges") ? "BPE" : has_list ? "Unigram" : "";
  if (type == "BPE") return read_bpe(json);
  if (type == "Unigram") return read_unigram(json);
  if (type == "WordLevel") return read_word_level(json);
  if (type == "WordPiece") return read_word_piece(json);
  if (type.empty()) json.wrong("'type' is missing");
  json.missing_component("BPE, Unigram, WordLevel and WordPiece");
}

Vocabulary read_vocabulary(const Json& json) {
  const Json all = json.at("vocab");
  if (!all.value.is_object()) all.wrong("an object of tokens and their ids was expected");
  Vocabulary vocabulary;
  vocabulary.reserve(all.value.size());
  std::vector<std::int32_t> ids;
  for (const auto& [token, value] : all.value.items()) {
    const std::int64_t id = value.is_number_integer() ? value.get<std::int64_t>() : -1;
    if (id < 0 || id > INT32_MAX) all.wrong("the id of '" + token + "' is no whole number from 0 to 2147483647");
    ids.push_back(static_cast<std::int32_t>(id));
    vocabulary.emplace(token, static_cast<std::int32_t>(id));
  }
  std::sort(ids.begin(), ids.end());
  if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end())
    all.wrong("the id " + std::to_string(*twice) + " stands there twice");
  return vocabulary;
}

std::int32_t unknown(const Json& json, const Vocabulary& vocabulary) {
  const std::string token = json.text("unk_token");
  const auto at = vocabulary.find(token);
  if (at == vocabulary.end()) json.wrong("the vocabulary lacks the unk_token '" + token + "'");
  return at->second;
}

}  // namespace tenfold::tokenizing
