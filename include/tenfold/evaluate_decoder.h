// How well a decoder predicts texts, alone or beside another one of the same tokens. It is in the library tenfold-text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tenfold/decoder.h"
#include "tenfold/export.h"

namespace tenfold {

// Means over all tokens that have another one in front of them in their text.
struct DecoderEvaluation {
  int texts = 0, short_texts = 0;   // that were used, and those of less than two tokens, which were not
  int cut_texts = 0;                // of those used: longer than max_tokens, so that their ends were left out
  std::int64_t tokens = 0;          // that were predicted
  double perplexity = 0;            // e to the mean of -log(probability of the token)
  // Beside a reference.
  double reference_perplexity = 0;
  double kl_divergence = 0;         // from the reference's probabilities, in nats
  double same_token = 0;            // the share of tokens at which both have the same most probable one
};

struct EvaluateDecoderOptions {
  int max_tokens = 0;   // of a text, what is behind them is left out; 0: as many as both decoders have places for
};

// A decoder for evaluate_decoder(): it gives the logits behind many tokens in a run where the model can, else behind one. `speculate` and
// `prompt_chunk` of `options` are its own. Throws as Decoder::load does.
TENFOLD_API Decoder load_for_evaluation(const std::string& path, DecoderOptions options = {});

// Texts are read as prompts are, with the special tokens that the tokenizer puts in front. A decoder with `speculate` computes so many
// tokens and one in a run (load_for_evaluation). Throws invalid_argument: no text has two tokens, or the reference has another vocabulary.
TENFOLD_API DecoderEvaluation evaluate_decoder(const Decoder& decoder, std::span<const std::string> texts,
                                               const Decoder* reference = nullptr, const EvaluateDecoderOptions& options = {});

}  // namespace tenfold
