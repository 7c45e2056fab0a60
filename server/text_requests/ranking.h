// Texts by how well they answer a query.
#pragma once

#include "text_requests/text_call.h"
#include "text_requests/text_model.h"

namespace tenfold::server {

struct Rank {
  std::size_t index = 0;                         // of the text in the request
  float score = 0;
};
// Scores as they leave the head, as TEI and rerankers give them: the sigmoid of one, the softmax of several.
void to_probabilities(TextAnswer& answer);
// By the only score of each text, the best first; equal ones by their index.
std::vector<Rank> ranked(const TextAnswer& answer);
std::vector<TextOrPair> pairs_with(std::string_view query, const std::vector<std::string_view>& texts);
// Throws TextError(wrong_model) for a model that does not give one score.
void need_reranker(const Model& model);

}  // namespace tenfold::server
