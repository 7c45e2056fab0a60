// What flags say of encoders, and of the routes for text.
#pragma once

#include <optional>
#include <string>

#include "core/models.h"
#include "serve/serve_flags.h"
#include "text_requests/text_options.h"

namespace tenfold::server {

struct TextDefaults {
  std::int64_t batch_tokens = 0;                 // 0: by the device, and the model's longest text
  bool any_batch = true;                         // no flag says how many rows a batch has
  EncoderPrecision precision = EncoderPrecision::by_build;
  std::string prompt, prompt_name;
  std::string calibration;                       // a file of texts; empty: built-in ones
};
TextDefaults text_defaults(const cli::ServeOptions& options);
TextOptions text_options(const cli::ServeOptions& options);

// The most texts of a batch where nothing says it: tokens bound batches.
inline constexpr std::int64_t kDefaultTexts = 1024;
// Of a model whose path is an encoder's folder: how it is opened, and the queue's budget of tokens. Throws Error.
void set_encoder(ModelOptions& model, const TextDefaults& defaults);

}  // namespace tenfold::server
