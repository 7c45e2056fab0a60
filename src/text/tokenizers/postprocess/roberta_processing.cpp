#include "text/tokenizers/postprocess/post_processor.h"

namespace tenfold::tokenizing {

// The second text's type is 0, too.
Template read_roberta_processing(const Json& json) {
  const Piece cls{Piece::token, 0, special_id(json, "cls")}, sep{Piece::token, 0, special_id(json, "sep")};
  const Piece first{Piece::first, 0, 0}, second{Piece::second, 0, 0};
  Template form{{cls, first, sep}, {cls, first, sep, sep, second, sep}, {}};
  if (json.flag("trim_offsets", true)) form.trims.push_back({json.flag("add_prefix_space", true)});
  return form;
}

}  // namespace tenfold::tokenizing
