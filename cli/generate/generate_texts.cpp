// tenfold generate --prompt: new text on standard output as it comes, or as JSON once it is whole.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "generate/generate.h"
#include "stop_signal.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;

double rate(std::int64_t count, double seconds) { return seconds > 0 ? static_cast<double>(count) / seconds : 0; }

// A batch makes a token of each text in a step, and more where what was guessed is right.
double tokens_a_step(const DecoderCounts& c) {
  return c.steps > 0 ? static_cast<double>(c.new_tokens - c.prompt_runs) / static_cast<double>(c.steps) : 0;
}

void print_json(const Generated& one, const DecoderCounts& c) {
  const Json json{{"text", one.text},
                  {"ids", one.ids},
                  {"finish", name(one.finish)},
                  {"prompt_tokens", one.prompt_tokens},
                  {"prompt_tokens_per_second", rate(c.prompt_tokens, c.prompt_s)},
                  {"new_tokens_per_second", rate(c.steps, c.step_s) * tokens_a_step(c)},
                  {"steps", c.steps},
                  {"guessed_tokens", c.guessed_tokens},
                  {"accepted_tokens", c.accepted_tokens},
                  {"tokens_per_step", tokens_a_step(c)}};
  std::printf("%s\n", json.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

std::string guesses(const DecoderCounts& c) {
  if (c.guessed_tokens == 0) return "";
  char text[100];
  std::snprintf(text, sizeof text, ", %.2f tokens a step (%lld of %lld guessed)", tokens_a_step(c),
                static_cast<long long>(c.accepted_tokens), static_cast<long long>(c.guessed_tokens));
  return text;
}

void print_times(const Decoder& decoder, const std::vector<Generated>& results) {
  const DecoderCounts c = decoder.counts();
  std::string ends;
  for (const Generated& one : results) ends += (ends.empty() ? "" : ", ") + std::string(name(one.finish));
  std::fprintf(stderr, "prompt: %lld tokens in %.3f s, %.1f tokens/s; new: %lld tokens, %.1f tokens/s, %.2f ms a step%s; ended: %s\n",
               static_cast<long long>(c.prompt_tokens), c.prompt_s, rate(c.prompt_tokens, c.prompt_s), static_cast<long long>(c.new_tokens),
               rate(c.steps, c.step_s) * tokens_a_step(c), c.steps > 0 ? c.step_s / static_cast<double>(c.steps) * 1e3 : 0,
               guesses(c).c_str(), ends.c_str());
}

}  // namespace

bool print_piece(std::size_t, std::int32_t, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return std::fflush(stdout) == 0;
}

void generate_texts(const GenerateWish& w, const Decoder& decoder) {
  std::vector<std::vector<std::int32_t>> prompts;
  for (const std::string& prompt : w.prompts)
    prompts.push_back(w.chat ? chat_ids(w, decoder, conversation(w, prompt)) : decoder.tokenizer().encode(prompt).ids);
  if (w.prompts.empty()) prompts.push_back(chat_ids(w, decoder, conversation(w, "")));
  GenerateCall call = w.call;
  const bool streams = prompts.size() == 1 && !w.json;
  if (streams) call.token = print_piece;
  const StopSignal signals;
  const std::vector<Generated> results = decoder.generate_ids(prompts, call);
  for (std::size_t i = 0; i < results.size() && !streams; ++i) {
    if (w.json)
      print_json(results[i], decoder.counts());
    else
      std::printf("%s[%zu] %s\n", i ? "\n" : "", i, results[i].text.c_str());
  }
  if (streams) std::printf("\n");
  std::fflush(stdout);
  if (!w.quiet && !w.json) print_times(decoder, results);
  if (StopSignal::came()) StopSignal::end();
}

}  // namespace tenfold::cli
