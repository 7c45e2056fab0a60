// Decoders in C, used by a C file: beside what C++ gives.
#include "c/text/text.h"

#include <gtest/gtest.h>

#include "c/text/text_use.h"
#include "tenfold/quantize_decoder.h"
#include "text/decoders/tiny_llama_for_tests.h"

namespace tenfold {
namespace {

using decoders::TinyLlama;

TEST(CText, GeneratesWhatCppGenerates) {
  const TinyLlama llama("c-generate");
  llama.write("chat_template.jinja", "x");
  std::vector<std::int32_t> ids(12);
  ASSERT_EQ(tenfold_generate_from_c(llama.path.c_str(), ids.data()), 0) << tenfold_last_error();
  const std::vector<std::vector<std::int32_t>> prompt{{1, 2, 3}};
  EXPECT_EQ(ids, llama.load().generate_ids(prompt, {.max_tokens = 12, .ignore_end = true}).front().ids);
}

TEST(CText, SamplesStopsAndCalls) {
  const TinyLlama llama("c-sampling");
  EXPECT_EQ(tenfold_sampling_from_c(llama.path.c_str()), 0) << tenfold_last_error();
}

TEST(CText, Chats) {
  const TinyLlama llama("c-chat");
  llama.write("chat_template.jinja", "{% for m in messages %}{{ m.content }} {% endfor %}{% if add_generation_prompt %}w3{% endif %}");
  EXPECT_EQ(tenfold_chat_from_c(llama.path.c_str()), 0) << tenfold_last_error();
}

TEST(CText, Sessions) {
  const TinyLlama llama("c-session");
  std::vector<float> rows(24);
  ASSERT_EQ(tenfold_session_from_c(llama.path.c_str(), rows.data()), 0) << tenfold_last_error();
  const Decoder decoder = llama.load();
  DecoderSession session = decoder.start();
  for (const auto& [tokens, at] : {std::pair{std::vector<std::int32_t>{1, 2, 3}, std::size_t{0}}, {{4}, 12}}) {
    const std::span<const float> expected = session.append(std::vector<std::vector<std::int32_t>>{tokens});
    for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(rows[at + i], expected[i], 1e-5) << at + i;
  }
}

TEST(CText, Int8Cache) {
  const TinyLlama llama("c-int8");
  std::vector<float> rows(12);
  ASSERT_EQ(tenfold_int8_cache_from_c(llama.path.c_str(), rows.data()), 0) << tenfold_last_error();
  const Decoder decoder = llama.load();
  DecoderSession session = decoder.start();
  const std::span<const float> plain = session.append(std::vector<std::vector<std::int32_t>>{{1, 2, 3}});
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(rows[i], plain[i], 0.1) << i;
  EXPECT_FALSE(std::equal(rows.begin(), rows.end(), plain.begin()));
}

TEST(CText, RefusesByName) {
  const TinyLlama llama("c-faults");
  EXPECT_EQ(tenfold_decoder_faults_from_c(llama.path.c_str()), 0) << tenfold_last_error();
}

TEST(CText, QuantizesAndEvaluates) {
  const TinyLlama llama("c-quantize");
  EXPECT_EQ(tenfold_quantize_decoder_from_c(llama.path.c_str(), (llama.path + "/narrow").c_str()), 0) << tenfold_last_error();
}

// Every field of C++'s structs has one in C: a new one does not compile here.
TEST(CText, Fields) {
  [[maybe_unused]] const auto& [build, cache, max_length, max_batch, prompt_chunk, speculate, weights, kv_cache_dtype] = DecoderOptions();
  [[maybe_unused]] const auto& [arch, layers, words, length, batch, guesses, bytes, ends, folder, form, dtype] = DecoderInfo();
  [[maybe_unused]] const auto& [temperature, top_k, top_p, min_p, penalty, seed] = Sampling();
  [[maybe_unused]] const auto& [max_tokens, sampling, stop, guess, ignore_end, token, logits, run] = GenerateCall();
  [[maybe_unused]] const auto& [prompt, chat_template, tools, documents, variables] = ChatOptions();
  [[maybe_unused]] const auto& [method, texts, samples, max_of_text, threads] = QuantizeDecoderOptions();
  [[maybe_unused]] const auto& [rounded, before, after, told, calibration] = QuantizeDecoderReport();
  [[maybe_unused]] const auto& [used, too_short, cut, count, own, other, divergence, same] = DecoderEvaluation();
  tenfold_generate_options given{};
  given.struct_size = sizeof given;
  const GenerateCall usual, made = c::call_of(&given);
  EXPECT_EQ(made.max_tokens, usual.max_tokens);
  EXPECT_EQ(made.sampling.top_p, usual.sampling.top_p);
  EXPECT_EQ(made.sampling.repetition_penalty, usual.sampling.repetition_penalty);
  EXPECT_EQ(made.speculate, usual.speculate);
  EXPECT_FALSE(made.token || made.logits || made.run.deadline);
}

}  // namespace
}  // namespace tenfold
