// A random Llama rounded by texts, and evaluated. The truth is in python/tests/calibrated_decoders_test.py; this is what sanitizers run.
#include "tenfold/quantize_decoder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "text/decoders/tiny_llama_for_tests.h"

namespace tenfold::decoders {
namespace {

std::vector<std::string> texts() {
  std::vector<std::string> all{"w1"};   // of one token: left out
  for (int i = 0; i < 24; ++i) {
    std::string text;
    for (int k = 0; k < 3 + i; ++k) text += "w" + std::to_string((i * 7 + k * k) % 11) + " ";
    all.push_back(text);
  }
  return all;
}

TEST(QuantizeDecoder, ByEveryMethod) {
  const TinyLlama llama("methods");
  const Decoder before = llama.load();
  for (const char* method : {"rtn", "gptq", "awq"}) {
    const std::string out = llama.path + "/" + method;
    const QuantizeDecoderReport report =
        quantize_decoder(llama.path, out, "int8", {.method = method, .texts = texts(), .samples = 20, .max_tokens = 16, .threads = 1});
    EXPECT_EQ(report.layers.size(), 14u);
    ASSERT_TRUE(report.evaluation);
    EXPECT_EQ(report.evaluation->texts, 10);
    EXPECT_LT(report.evaluation->kl_divergence, 0.01);
    for (const QuantizeDecoderReport::Layer& one : report.layers) {
      EXPECT_GT(one.output_error, 0) << one.name;
      EXPECT_LT(one.output_error, 0.03) << one.name;
    }
    DecoderOptions options;
    options.cache.reset();
    options.build.optimization_level = 0, options.build.threads = 1, options.build.tf32 = false;
    const Decoder after = Decoder::load(out, options);
    const std::vector<std::string> some = texts();
    const DecoderEvaluation evaluation = evaluate_decoder(after, some, &before);   // a token in a run
    EXPECT_EQ(evaluation.short_texts, 1);
    EXPECT_LT(evaluation.kl_divergence, 0.05);
    const DecoderEvaluation same = evaluate_decoder(before, some, &before, {.max_tokens = 5});
    EXPECT_EQ(same.kl_divergence, 0);
    EXPECT_EQ(same.same_token, 1);
    EXPECT_EQ(same.perplexity, same.reference_perplexity);
  }
}

TEST(QuantizeDecoder, LeavesNothingBehindWhereItFails) {
  const TinyLlama llama("fails");
  const std::string out = llama.path + "/out";
  llama.write("more.json", std::string(100, ' '));
  std::filesystem::permissions(llama.path + "/more.json", std::filesystem::perms::none);   // weights are written, then the copy fails
  if (::getuid() != 0) {   // root reads it all the same
    EXPECT_THROW(quantize_decoder(llama.path, out, "int8"), Error);
  }
  std::filesystem::remove(llama.path + "/more.json");
  EXPECT_THROW(quantize_decoder(llama.path, out, "int8", {.method = "gptq"}), Error);
  EXPECT_THROW(quantize_decoder(llama.path, out, "int8", {.method = "gptq", .texts = {"w1", "w2", "w1 w2"}}), Error);
  for (const auto& one : std::filesystem::directory_iterator(llama.path))
    EXPECT_FALSE(one.path().filename().string().starts_with("out")) << one.path();
}

}  // namespace
}  // namespace tenfold::decoders
