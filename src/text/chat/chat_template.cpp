#include "text/chat/chat_template.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "text/chars.h"
#include "text/chat/parser.h"
#include "text/chat/renderer.h"
#include "text/fail.h"
#include "text/tokenizers/files/folder.h"
#include "text/transformers/json_file.h"

namespace tenfold::chat {

using tokenizing::fail;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kLongestTemplate = 1 << 20;

std::string checked(std::string text, const std::string& what) {
  if (text.size() > kLongestTemplate)
    fail(ErrorKind::invalid_model, what + " has more than " + std::to_string(kLongestTemplate) + " bytes");
  try {
    tokenizing::scalars(text);
  } catch (const Error& e) {
    fail(ErrorKind::invalid_model, what + " is no UTF-8: " + e.what());
  }
  return text;
}

// A text, or a list of {"name", "template"}.
void read_templates(const nlohmann::json& from, const std::string& what, std::map<std::string, std::string>& to) {
  if (from.is_null()) return;
  if (from.is_string()) return void(to["default"] = checked(from.get<std::string>(), what));
  for (const nlohmann::json& one : from.is_array() ? from : nlohmann::json::array({nullptr})) {
    if (!one.is_object() || !one.contains("name") || !one.contains("template") || !one["name"].is_string() || !one["template"].is_string())
      fail(ErrorKind::invalid_model, what + " is neither a text nor a list of objects with name and template");
    to[one["name"].get<std::string>()] = checked(one["template"].get<std::string>(), what);
  }
}

// A token is a text, or an object whose content is it.
void read_tokens(const nlohmann::json& from, Items& to) {
  for (const auto& [key, value] : from.items()) {
    const nlohmann::json& text = value.is_object() && value.contains("content") ? value["content"] : value;
    if (key.ends_with("_token") && text.is_string() && !find(to, key)) to.emplace_back(key, text.get<std::string>());
  }
}

const nlohmann::json& field(const nlohmann::json& of, const char* name) {
  static const nlohmann::json kNone;
  return of.is_object() && of.contains(name) ? of.at(name) : kNone;
}

Json parsed(std::string_view text, const std::string& what) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) fail(ErrorKind::invalid_argument, what + " is no JSON");
  return json;
}

Json list_of(std::string_view text, const std::string& what) {
  Json json = parsed(text, what);
  if (!json.is_array()) fail(ErrorKind::invalid_argument, what + " is no list of JSON");
  return json;
}

}  // namespace

ChatTemplates ChatTemplates::of_folder(const std::string& folder) {
  ChatTemplates made;
  made.folder_ = folder;
  const nlohmann::json config = transformers::read_json_if_there(folder + "/tokenizer_config.json");
  read_templates(field(config, "chat_template"), "'" + folder + "/tokenizer_config.json': chat_template", made.texts_);
  const std::string json = folder + "/chat_template.json", jinja = folder + "/chat_template.jinja",
                    more = folder + "/additional_chat_templates";
  read_templates(field(transformers::read_json_if_there(json), "chat_template"), "'" + json + "': chat_template", made.texts_);
  std::error_code none;
  if (std::filesystem::is_regular_file(jinja, none)) made.texts_["default"] = checked(tokenizing::read_file(jinja), "'" + jinja + "'");
  for (const auto& file : std::filesystem::directory_iterator(more, none))
    if (file.path().extension() == ".jinja")
      made.texts_[file.path().stem().string()] = checked(tokenizing::read_file(file.path().string()), "'" + file.path().string() + "'");
  if (config.is_object()) read_tokens(config, made.tokens_);
  const nlohmann::json map = transformers::read_json_if_there(folder + "/special_tokens_map.json");
  if (map.is_object()) read_tokens(map, made.tokens_);
  return made;
}

// As transformers chooses: a name, or a text; with tools "tool_use" where there is one; "default".
const std::string& ChatTemplates::chosen(const ChatOptions& options, bool tools) const {
  if (const auto named = texts_.find(options.chat_template); named != texts_.end()) return named->second;
  if (!options.chat_template.empty()) {
    if (options.chat_template.find('{') != std::string::npos) return options.chat_template;
    std::string names;
    for (const auto& [name, text] : texts_) names += (names.empty() ? "" : ", ") + name;
    fail(ErrorKind::invalid_argument,
         "'" + folder_ + "' has no chat template '" + options.chat_template + "'" + (names.empty() ? "" : "; there are " + names));
  }
  if (texts_.empty())
    fail(ErrorKind::invalid_argument, "'" + folder_ +
                                          "' has no chat template: neither tokenizer_config.json nor chat_template.jinja has one. "
                                          "Give a template, or the conversation as one text");
  if (tools && texts_.contains("tool_use")) return texts_.at("tool_use");
  if (const auto usual = texts_.find("default"); usual != texts_.end()) return usual->second;
  if (texts_.size() == 1) return texts_.begin()->second;
  fail(ErrorKind::invalid_argument, "'" + folder_ + "' has several chat templates, and none is named default; name one");
}

std::string ChatTemplates::apply(std::string_view messages, const ChatOptions& options) const {
  const Json list = list_of(messages, "the conversation");
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!list[i].is_object() || !list[i].contains("role"))
      fail(ErrorKind::invalid_argument, "message " + std::to_string(i) + " of the conversation is no object with a role");
  Items variables = tokens_;
  const auto give = [&](const std::string& name, Value value) { set(variables, name, std::move(value)); };
  give("messages", value_of(list));
  give("tools", options.tools.empty() ? Value(None{}) : value_of(list_of(options.tools, "tools")));
  give("documents", options.documents.empty() ? Value(None{}) : value_of(list_of(options.documents, "documents")));
  give("add_generation_prompt", options.add_generation_prompt);
  if (!options.variables.empty()) {
    const Json more = parsed(options.variables, "ChatOptions::variables");
    if (!more.is_object()) fail(ErrorKind::invalid_argument, "ChatOptions::variables is no object of JSON");
    for (const auto& [name, value] : more.items()) give(name, value_of(value));
  }
  const Body body = parsed_template(checked(chosen(options, !options.tools.empty()), "the chat template"));
  return Renderer().run(body, variables);
}

std::string messages_json(std::span<const ChatMessage> messages) {
  Json list = Json::array();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    for (const std::string* text : {&messages[i].role, &messages[i].content}) {
      try {
        tokenizing::scalars(*text);
      } catch (const Error& e) {
        fail(ErrorKind::invalid_argument, "message " + std::to_string(i) + " is no UTF-8: " + e.what());
      }
    }
    list.push_back(Json{{"role", messages[i].role}, {"content", messages[i].content}});
  }
  return list.dump();
}

}  // namespace tenfold::chat
