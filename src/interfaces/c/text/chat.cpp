// Conversations from C.
#include "c/text/text.h"

using namespace tenfold;
using namespace tenfold::c;

namespace {

std::vector<ChatMessage> messages_of(const tenfold_chat_message* messages, std::int32_t count) {
  require(count >= 0, ErrorKind::invalid_argument, "there are ", count, " messages");
  std::vector<ChatMessage> all;
  for (std::int32_t i = 0; i < count; ++i) {
    const tenfold_chat_message& one = (&need(messages, "the messages"))[i];
    all.push_back({&need(one.role, "a message's role"), &need(one.content, "a message's content")});
  }
  return all;
}

ChatOptions options_of(const tenfold_chat_options* given) {
  if (!given) return {};
  const tenfold_chat_options o = taken(given, "the options of a conversation");
  const auto text = [](const char* from) { return std::string(from ? from : ""); };
  return {.add_generation_prompt = o.no_generation_prompt == 0,
          .chat_template = text(o.chat_template),
          .tools = text(o.tools),
          .documents = text(o.documents),
          .variables = text(o.variables)};
}

}  // namespace

extern "C" tenfold_status tenfold_decoder_apply_chat_template(const tenfold_decoder* decoder, const tenfold_chat_message* messages,
                                                              int32_t count, const tenfold_chat_options* options, char* text,
                                                              int64_t* bytes) {
  return guarded([&] {
    const Decoder& own = need(decoder, "the decoder").decoder;
    give_text(own.apply_chat_template(messages_of(messages, count), options_of(options)), text, bytes);
  });
}
extern "C" tenfold_status tenfold_decoder_apply_chat_template_json(const tenfold_decoder* decoder, const char* messages,
                                                                   const tenfold_chat_options* options, char* text, int64_t* bytes) {
  return guarded([&] {
    const std::string_view json(&need(messages, "the messages"));
    give_text(need(decoder, "the decoder").decoder.apply_chat_template(json, options_of(options)), text, bytes);
  });
}
extern "C" tenfold_status tenfold_decoder_chat(const tenfold_decoder* decoder, const tenfold_chat_message* messages, int32_t count,
                                               const tenfold_chat_options* chat, const tenfold_generate_options* options,
                                               tenfold_generated** results) {
  return guarded([&] {
    const Decoder& own = need(decoder, "the decoder").decoder;
    place(results, "the place for the results",
          [&] { return new tenfold_generated{{own.chat(messages_of(messages, count), call_of(options), options_of(chat))}}; });
  });
}
