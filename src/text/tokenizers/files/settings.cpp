#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "text/fail.h"
#include "text/json.h"
#include "text/tokenizers/files/folder.h"

namespace tenfold::tokenizing {
namespace {

nlohmann::json read_if_there(const std::string& path) {
  std::error_code cannot_look;
  if (!std::filesystem::exists(path, cannot_look)) return nlohmann::json::object();
  nlohmann::json read = parsed(read_file(path), path);
  if (!read.is_object()) fail(ErrorKind::invalid_model, path + ": an object was expected");
  return read;
}

std::string plain(std::string name) {
  std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return name;
}

std::string text_of(const nlohmann::json& from, const char* key) {
  const auto at = from.find(key);
  return at != from.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

Settings::Settings(const std::string& folder)
    : folder_(folder), config_(std::make_unique<nlohmann::json>(read_if_there(folder + "/tokenizer_config.json"))),
      map_(std::make_unique<nlohmann::json>(read_if_there(folder + "/special_tokens_map.json"))) {
  class_ = text_of(*config_, "tokenizer_class");
  if (class_.empty() || class_ == "PreTrainedTokenizerFast") class_ = text_of(read_if_there(folder + "/config.json"), "model_type");
  class_ = plain(class_);
}
Settings::~Settings() = default;

bool Settings::is_class(std::string_view part) const { return class_.find(part) != std::string::npos; }

std::optional<bool> Settings::flag(const char* key) const {
  const Json json{*config_, folder_ + "/tokenizer_config.json"};
  return json.has(key) ? std::optional(json.flag(key, false)) : std::nullopt;
}
bool Settings::flag(const char* key, bool otherwise) const { return flag(key).value_or(otherwise); }

Special Settings::read(const nlohmann::json& one) const {
  if (one.is_string()) return {one.get<std::string>()};
  const Json json{one, folder_ + ": a special token"};
  return {json.text("content"), json.flag("lstrip", false), json.flag("rstrip", false), json.flag("single_word", false),
          json.flag("normalized", false)};
}

std::string Settings::special(const char* key, const char* otherwise) const {
  for (const nlohmann::json* from : {config_.get(), map_.get()})
    if (const auto at = from->find(key); at != from->end() && !at->is_null()) return read(*at).content;
  return otherwise;
}

std::vector<Special> Settings::specials(const std::vector<std::pair<const char*, const char*>>& named) const {
  std::vector<Special> all;
  const auto add = [&](Special one) {
    const auto same = [&](const Special& other) { return other.content == one.content; };
    if (!one.content.empty() && std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(one));
  };
  for (const auto& [key, otherwise] : named) {
    Special one{otherwise};
    for (const nlohmann::json* from : {map_.get(), config_.get()})
      if (const auto at = from->find(key); at != from->end() && !at->is_null()) one = read(*at);
    add(std::move(one));
  }
  for (const nlohmann::json* from : {config_.get(), map_.get()})
    if (const auto at = from->find("additional_special_tokens"); at != from->end() && at->is_array())
      for (const nlohmann::json& one : *at) add(read(one));
  return all;
}

void add_specials(nlohmann::json& tokenizer, const std::vector<Special>& specials) {
  nlohmann::json& vocab = tokenizer["model"]["vocab"];
  std::size_t next = vocab.size();
  nlohmann::json& added = tokenizer["added_tokens"] = nlohmann::json::array();
  const auto id_of = [&](const std::string& content) -> std::size_t {
    if (vocab.is_object()) return vocab.contains(content) ? vocab[content].get<std::size_t>() : next++;
    for (std::size_t i = 0; i < vocab.size(); ++i)
      if (vocab[i][0] == content) return i;
    return next++;
  };
  for (const Special& one : specials)
    added.push_back({{"id", id_of(one.content)}, {"content", one.content}, {"special", true}, {"lstrip", one.strips_left},
                     {"rstrip", one.strips_right}, {"single_word", one.single_word}, {"normalized", one.normalized}});
}

nlohmann::json template_of(const nlohmann::json& tokenizer, const std::vector<std::string>& single, const std::vector<std::string>& pair) {
  nlohmann::json ids = nlohmann::json::object();
  const auto pieces = [&](const std::vector<std::string>& words) {
    nlohmann::json all = nlohmann::json::array();
    for (const std::string& word : words) {
      const std::size_t colon = word.rfind(':');
      const std::string name = word.substr(0, colon);
      const int type = word.back() - '0';
      if (name == "$A" || name == "$B") {
        all.push_back({{"Sequence", {{"id", name.substr(1)}, {"type_id", type}}}});
        continue;
      }
      all.push_back({{"SpecialToken", {{"id", name}, {"type_id", type}}}});
      for (const nlohmann::json& one : tokenizer["added_tokens"])
        if (one["content"] == name) ids[name] = {{"id", name}, {"ids", {one["id"]}}, {"tokens", {name}}};
    }
    return all;
  };
  nlohmann::json result{{"type", "TemplateProcessing"}, {"single", pieces(single)}, {"pair", pieces(pair)}};
  result["special_tokens"] = ids;
  return result;
}

}  // namespace tenfold::tokenizing
