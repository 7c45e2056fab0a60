// tenfold generate --evaluate: how well a model predicts texts, alone or beside another one.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "data/data.h"
#include "generate/generate.h"
#include "tenfold/evaluate_decoder.h"

namespace tenfold::cli {
namespace {

// In f32, whatever the other one computes in.
Decoder reference_of(const GenerateWish& w) {
  DecoderOptions options = w.options;
  options.weights.clear(), options.kv_cache_dtype.clear();
  options.build.fp16 = options.build.bf16 = options.build.auto_precision = options.build.tf32 = false;
  options.max_length = 0;   // the models may have places for different many tokens
  return load_for_evaluation(w.reference, options);
}

void print(const GenerateWish& w, const DecoderEvaluation& e) {
  std::printf("%s: perplexity %.4f on %lld tokens of %d texts", printable(w.model).c_str(), e.perplexity, static_cast<long long>(e.tokens),
              e.texts);
  if (e.short_texts > 0) std::printf(" (%d have less than two tokens)", e.short_texts);
  if (e.cut_texts > 0) std::printf(" (%d are longer, and were cut: --maxLength, --textTokens)", e.cut_texts);
  if (!w.reference.empty())
    std::printf("; %s in f32: perplexity %.4f; KL divergence from it %.5f; the same most probable token at %.1f %%",
                printable(w.reference).c_str(), e.reference_perplexity, e.kl_divergence, 100 * e.same_token);
  std::printf("\n");
}

}  // namespace

void generate_evaluation(const GenerateWish& w, const Decoder& decoder, std::vector<std::string> texts) {
  if (w.samples > 0 && texts.size() > static_cast<std::size_t>(w.samples)) texts.resize(static_cast<std::size_t>(w.samples));
  std::optional<Decoder> reference;
  if (!w.reference.empty()) reference = reference_of(w);
  const DecoderEvaluation e = evaluate_decoder(decoder, texts, reference ? &*reference : nullptr, {.max_tokens = w.max_text});
  if (!w.json) return print(w, e);
  nlohmann::ordered_json json{{"model", w.model}, {"texts", e.texts}, {"short_texts", e.short_texts},
                              {"cut_texts", e.cut_texts}, {"tokens", e.tokens}, {"perplexity", e.perplexity}};
  if (reference)
    json["reference"] = w.reference, json["reference_perplexity"] = e.reference_perplexity, json["kl_divergence"] = e.kl_divergence,
    json["same_token"] = e.same_token;
  std::printf("%s\n", json.dump(2).c_str());
}

}  // namespace tenfold::cli
