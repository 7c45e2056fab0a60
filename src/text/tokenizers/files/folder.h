// The tokenizer of a folder: tokenizer.json, or one that is made of other files as `transformers` converts them.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "text/tokenizers/files/read_json.h"

namespace tenfold::tokenizing {

std::string read_file(const std::string& path);                                       // throws io
// Throws io where there is none of the files.
nlohmann::json tokenizer_of_folder(const std::string& folder);

// A special token and how it is looked for.
struct Special {
  std::string content;
  bool strips_left = false, strips_right = false, single_word = false, normalized = false;
};
// What tokenizer_config.json, special_tokens_map.json and config.json say; any of them may be missing.
class Settings {
 public:
  explicit Settings(const std::string& folder);
  ~Settings();
  bool is_class(std::string_view part) const;   // of "tokenizer_class", or else of "model_type"; in any case, without hyphens
  bool flag(const char* key, bool otherwise) const;
  std::optional<bool> flag(const char* key) const;
  std::string special(const char* key, const char* otherwise) const;
  // Of "cls_token" and so on, with those that have no name.
  std::vector<Special> specials(const std::vector<std::pair<const char*, const char*>>& named) const;

 private:
  Special read(const nlohmann::json& one) const;
  std::string folder_, class_;
  std::unique_ptr<nlohmann::json> config_, map_;
};

// Adds "added_tokens": tokens that the vocabulary lacks come behind it.
void add_specials(nlohmann::json& tokenizer, const std::vector<Special>& specials);
// "single" and "pair" of TemplateProcessing. Words are tokens, or $A and $B, each with ":" and its type.
nlohmann::json template_of(const nlohmann::json& tokenizer, const std::vector<std::string>& single, const std::vector<std::string>& pair);

nlohmann::json of_vocab_txt(const std::string& folder);
nlohmann::json of_vocab_and_merges(const std::string& folder);
nlohmann::json of_sentencepiece(const std::string& file, const std::string& folder);

}  // namespace tenfold::tokenizing
