// How well a decoder foretells texts, alone or beside another one of the same tokens. It is in the library tenfold-text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tenfold/decoder.h"
#include "tenfold/export.h"

namespace tenfold {

// Means over all tokens that have another one in front of them in their text.
struct DecoderEvaluation {
  int texts = 0, short_texts = 0;   // that were used, and those of less than two tokens, which were not
  std::int64_t tokens = 0;          // that were foretold
  double perplexity = 0;            // e to the mean of -log(probability of the token)
  // Beside a reference.
  double reference_perplexity = 0;
  double kl_divergence = 0;         // from the reference's probabilities, in nats
  double same_token = 0;            // the share of places where both have the same most probable token
};

struct EvaluateDecoderOptions {
  int max_tokens = 0;   // of a text, what is behind them is left out; 0: as many as both decoders have places for
};

// Texts are read as prompts are, with the special tokens that the tokenizer puts in front. A decoder with `speculate` computes so many
// tokens and one in a run. Throws invalid_argument: no text has two tokens, or the reference has another vocabulary.
TENFOLD_API DecoderEvaluation evaluate_decoder(const Decoder& decoder, std::span<const std::string> texts,
                                               const Decoder* reference = nullptr, const EvaluateDecoderOptions& options = {});

}  // namespace tenfold
