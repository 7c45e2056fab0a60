// SentencePiece's model files: what is used of their messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::tokenizing {

struct SentencepieceModel {
  enum Type : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };
  struct Piece {
    std::string text;
    float score = 0;
    std::uint64_t type = normal;
  };
  std::vector<Piece> pieces;
  bool is_bpe = false, byte_fallback = false;
  std::uint64_t unknown_id = 0;
  std::string unknown_piece = "<unk>";
  std::string charsmap;
  bool adds_dummy_prefix = true, removes_extra_spaces = true, escapes_spaces = true;
};
SentencepieceModel read_sentencepiece(std::string_view bytes, const std::string& what);   // throws invalid_model, unsupported

}  // namespace tenfold::tokenizing
