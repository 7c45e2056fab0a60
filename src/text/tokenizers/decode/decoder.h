// Decoders: from tokens back to text. One file each; word_piece.cpp and ctc.cpp share what they clean up.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/json.h"
#include "text/tokenizers/room.h"

namespace tenfold::tokenizing {

class Decoder {
 public:
  virtual ~Decoder() = default;
  // What comes out is put together without spaces. Throws unsupported where it becomes too long.
  virtual void run(std::vector<std::string>& tokens, const Room& room) const = 0;
};
std::unique_ptr<Decoder> read_decoder(const Json& json);   // throws unsupported and invalid_model

std::unique_ptr<Decoder> read_bpe_decoder(const Json& json);
std::unique_ptr<Decoder> read_byte_fallback(const Json& json);
std::unique_ptr<Decoder> read_byte_level_decoder(const Json& json);
std::unique_ptr<Decoder> read_ctc(const Json& json);
std::unique_ptr<Decoder> read_decoders(const Json& json);   // Sequence
std::unique_ptr<Decoder> read_fuse(const Json& json);
std::unique_ptr<Decoder> read_metaspace_decoder(const Json& json);
std::unique_ptr<Decoder> read_replace_decoder(const Json& json);
std::unique_ptr<Decoder> read_strip_decoder(const Json& json);
std::unique_ptr<Decoder> read_word_piece_decoder(const Json& json);

void replace_all(std::string& text, std::string_view what, std::string_view by);
void clean_up(std::string& text);   // no space before punctuation and English contractions
// The bytes as text; what is no UTF-8 becomes U+FFFD, one for each part that could have begun a character.
std::string as_text(std::string_view bytes);

}  // namespace tenfold::tokenizing
