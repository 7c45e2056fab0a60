// A ServedModel of an encoder's folder: texts in, vectors or scores out. It is in the library tenfold-text.
//
// Without a classification head it has the input `text` (string[n]) and the output `embedding` (f32[n,width]); with one, the
// inputs `text` and `text_pair` and the output `scores` (f32[n,labels]).
#pragma once

#include "tenfold/encoder.h"
#include "tenfold/serving/served_model.h"

namespace tenfold {

struct ServedEncoderOptions {
  EncoderOptions encoder;        // its devices are those of the instances
  std::int64_t max_batch = 0;    // the most texts that are computed together; 0: those of each request by themselves
  bool fallback = true;          // as ServedModelOptions::fallback
};

// Whether a folder has an encoder: its config.json, and a tokenizer.
TENFOLD_API bool is_encoder_folder(const std::string& folder);
// Reads the folder, and builds nothing yet. Throws what Encoder::load() throws.
TENFOLD_API std::shared_ptr<ServedModel> open_served_encoder(const std::string& folder, ServedEncoderOptions options);

}  // namespace tenfold
