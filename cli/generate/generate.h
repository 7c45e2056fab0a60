// What tenfold generate is asked for, and its ways: texts that are continued, conversations, or times of prompts and steps.
#pragma once

#include <string>
#include <vector>

#include "console.h"
#include "tenfold/decoder.h"

namespace tenfold::cli {

struct GenerateWish {
  std::string model, prompt_file, cache;
  std::vector<std::string> prompts;
  bool chat = false;
  std::string system, chat_template;           // of conversations
  std::vector<ChatMessage> messages;           // in front of the prompt
  bool no_cache = false, quiet = false, help = false, json = false, benchmark = false;
  int prompt_tokens = 512, iterations = 3;   // of the benchmark
  std::string evaluate, reference;           // a file of texts, and another model's folder
  int samples = 0, max_text = 0;             // of these texts, at most; tokens of each; 0: all
  GenerateCall call;
  DecoderOptions options;
  Console console;
};

// A prompt behind the messages, by the chat template.
std::vector<std::int32_t> chat_ids(const GenerateWish& w, const Decoder& decoder, const std::vector<ChatMessage>& messages);
std::vector<ChatMessage> conversation(const GenerateWish& w, const std::string& prompt);
bool print_piece(std::size_t sequence, std::int32_t token, std::string_view text);   // on standard output, at once

void generate_texts(const GenerateWish& w, const Decoder& decoder);
void generate_chat(const GenerateWish& w, const Decoder& decoder);   // each line of standard input is what the user says
void generate_benchmark(const GenerateWish& w, const Decoder& decoder);
void generate_evaluation(const GenerateWish& w, const Decoder& decoder, std::vector<std::string> texts);   // how well it predicts them

}  // namespace tenfold::cli
