// The chat templates of a folder, as transformers finds them: how a conversation becomes the text that a model was taught with.
#pragma once

#include <map>
#include <span>
#include <string>

#include "tenfold/chat.h"
#include "text/chat/ast.h"

namespace tenfold::chat {

class ChatTemplates {
 public:
  // Of chat_template.jinja, chat_template.json or tokenizer_config.json; none of them need be there. Throws invalid_model.
  static ChatTemplates of_folder(const std::string& folder);

  bool any() const { return !texts_.empty(); }
  // `messages`: a list of JSON. Throws invalid_argument (no such template, what raise_exception() says, JSON of another form),
  // invalid_model and unsupported (of the template), with the line.
  std::string apply(std::string_view messages, const ChatOptions& options) const;

 private:
  const std::string& chosen(const ChatOptions& options, bool tools) const;
  std::map<std::string, std::string> texts_;   // by name; the only one is "default"
  Items tokens_;                               // "bos_token" and so on
  std::string folder_;
};

std::string messages_json(std::span<const ChatMessage> messages);

}  // namespace tenfold::chat
