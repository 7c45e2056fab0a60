// Decoders: from tokens back to text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/json.h"

namespace tenfold::tokenizing {

// WordPiece's: pieces with the prefix go on a word. Without it a space stands between any two tokens.
struct Decoder {
  std::optional<std::string> prefix;
  bool cleans_up = false;   // no space before punctuation and English contractions
  std::string text(const std::vector<std::string>& tokens) const;
};
Decoder read_decoder(const Json& file);   // throws unsupported and invalid_model

}  // namespace tenfold::tokenizing
