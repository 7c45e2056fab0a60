// Post-processors: which tokens stand before, between and behind texts. One file each.
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
struct Template {
  std::vector<Piece> single, pair;
};
// Throws invalid_model and unsupported.
Template read_template(const Json& json);

Template read_bert_processing(const Json& json);
Template read_template_processing(const Json& json);

}  // namespace tenfold::tokenizing
