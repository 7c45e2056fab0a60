// tenfold generate --chat: a conversation by the folder's chat template.
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "generate/generate.h"
#include "stop_signal.h"

namespace tenfold::cli {

std::vector<ChatMessage> conversation(const GenerateWish& w, const std::string& prompt) {
  std::vector<ChatMessage> messages;
  if (!w.system.empty()) messages.push_back({"system", w.system});
  messages.insert(messages.end(), w.messages.begin(), w.messages.end());
  if (!prompt.empty()) messages.push_back({"user", prompt});
  return messages;
}

// The template has written the special tokens.
std::vector<std::int32_t> chat_ids(const GenerateWish& w, const Decoder& decoder, const std::vector<ChatMessage>& messages) {
  const ChatOptions options{.chat_template = w.chat_template};
  return decoder.tokenizer().encode(decoder.apply_chat_template(messages, options), false).ids;
}

void generate_chat(const GenerateWish& w, const Decoder& decoder) {
  const bool asks = ::isatty(STDIN_FILENO) != 0 && !w.quiet;
  GenerateCall call = w.call;
  call.token = print_piece;
  std::vector<ChatMessage> messages = conversation(w, "");
  const StopSignal signals;
  for (std::string line; (asks && std::fputs("> ", stderr), std::getline(std::cin, line)) && !StopSignal::came();) {
    if (line.empty()) continue;
    messages.push_back({"user", line});
    const std::vector<std::vector<std::int32_t>> ids{chat_ids(w, decoder, messages)};
    messages.push_back({"assistant", decoder.generate_ids(ids, call).front().text});
    std::printf("\n");
    std::fflush(stdout);
  }
  if (StopSignal::came()) StopSignal::end();
}

}  // namespace tenfold::cli
