// Conversations: messages that a model's chat template makes one text of. Decoder::apply_chat_template() and Decoder::chat() take them.
#pragma once

#include <string>

namespace tenfold {

struct ChatMessage {
  std::string role;      // "system", "user", "assistant", or what else the template knows
  std::string content;   // UTF-8
};

struct ChatOptions {
  bool add_generation_prompt = true;   // whether the text ends where the assistant's next message begins
  std::string chat_template = {};      // one of the folder's by its name, or the text of another; empty: the folder's own
  // Text of JSON, each of it optional: a list of tools (JSON schemas), a list of documents, an object of further variables such as
  // {"enable_thinking": false}.
  std::string tools = {}, documents = {}, variables = {};
};

}  // namespace tenfold
