// Post-processors: which tokens stand before, between and behind texts, and where tokens begin and end. One file each.
#pragma once

#include <memory>
#include <vector>

#include "text/json.h"

namespace tenfold::tokenizing {

// A piece of what the model gets: the first or the second text, or a token that no text has.
struct Piece {
  enum What : std::uint8_t { first, second, token } what;
  std::int32_t type = 0, id = 0;
};
// Leaves spaces at a token's ends out of its place.
struct Trim {
  bool space_was_added = true;    // one space before the first token is not in the text
  bool first_is_special = false;  // so that no token of a text is the first by its number
};
struct Template {
  std::vector<Piece> single, pair;
  std::vector<Trim> trims;   // one after the other
};
// Throws invalid_model and unsupported.
Template read_template(const Json& json);

Template whole_texts();
Template read_bert_processing(const Json& json);
Template read_byte_level_processing(const Json& json);
Template read_processors(const Json& json);   // Sequence
Template read_roberta_processing(const Json& json);
Template read_template_processing(const Json& json);

std::int32_t special_id(const Json& json, const char* key);   // of ["[SEP]", 102]

}  // namespace tenfold::tokenizing
