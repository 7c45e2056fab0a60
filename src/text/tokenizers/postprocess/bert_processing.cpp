#include "text/tokenizers/postprocess/post_processor.h"

namespace tenfold::tokenizing {

Template read_bert_processing(const Json& json) {
  const Piece cls{Piece::token, 0, special_id(json, "cls")}, sep{Piece::token, 0, special_id(json, "sep")};
  const Piece first{Piece::first, 0, 0}, second{Piece::second, 1, 0}, last{Piece::token, 1, sep.id};
  return {{cls, first, sep}, {cls, first, sep, second, last}, {}};
}

}  // namespace tenfold::tokenizing
