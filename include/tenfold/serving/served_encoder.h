// A ServedModel of an encoder's folder: texts in, vectors or scores out. It is in the library tenfold-text.
//
// Without a classification head it has the input `text` (string[n]) and the output `embedding` (f32[n,width]); with
// one, the inputs `text` and `text_pair`, which may be left out, and the output `scores` (f32[n,labels]).
//
//   TextWork work{.output = TextOutput::vectors, .texts = {model->encoder().tokenize("a text")}};
//
// is what a server's ServedRequest::text_work() has, so that texts are tokenized once, before they wait. Such requests of any lengths run
// together, and their count in ServedRequest::tokens() is work.tokens().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenfold/encoder.h"
#include "tenfold/serving/served_model.h"

namespace tenfold {

struct ServedEncoderOptions {
  EncoderOptions encoder;        // its devices are those of the instances; `packed` not set: yes, on CPUs, too
  std::int64_t max_batch = 0;    // the most texts that are computed together; 0: those of each request by themselves
  bool fallback = true;          // as ServedModelOptions::fallback
  // In front of each text that comes as a string. Not set: the folder's default prompt, as sentence-transformers has it.
  std::optional<std::string> prompt;
};

// What is given for a text: its vector; a vector for each token; scores by the head, as the folder wants them, or as they leave the head.
enum class TextOutput : std::uint8_t { vectors, token_vectors, scores, raw_scores };

// Rows go to output_memory() of the only output, as f32: [texts,width], [texts,labels], or [tokens,token width] of one text.
struct TENFOLD_API TextWork {
  TextOutput output = TextOutput::vectors;
  std::vector<TokenizedText> texts;   // one alone for token_vectors
  std::string prompt;                 // the one that they were tokenized with
  std::int64_t tokens() const;        // of all texts, one at least
};

class TENFOLD_API ServedEncoder : public ServedModel {
 public:
  virtual const Encoder& encoder() const noexcept = 0;         // to tokenize with, and for its info()
  virtual const std::string& prompt() const noexcept = 0;      // ServedEncoderOptions::prompt, or the folder's
};

// Whether a folder has an encoder: its config.json, and a tokenizer.
TENFOLD_API bool is_encoder_folder(const std::string& folder);
// Reads the folder, and builds nothing yet. Throws what Encoder::load() throws.
TENFOLD_API std::shared_ptr<ServedEncoder> open_served_encoder(const std::string& folder, ServedEncoderOptions options);

}  // namespace tenfold
