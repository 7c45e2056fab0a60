#include "text_requests/ranking.h"

#include <algorithm>
#include <cmath>

namespace tenfold::server {

void to_probabilities(TextAnswer& answer) {
  for (TextResult& result : answer.results) {
    std::vector<float>& scores = result.values;
    if (scores.size() == 1) scores[0] = 1 / (1 + std::exp(-scores[0]));
    if (scores.size() <= 1) continue;
    const float largest = *std::max_element(scores.begin(), scores.end());
    float sum = 0;
    for (float& score : scores) sum += score = std::exp(score - largest);
    for (float& score : scores) score /= sum;
  }
}

std::vector<Rank> ranked(const TextAnswer& answer) {
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < answer.results.size(); ++i) ranks.push_back({i, answer.results[i].values.at(0)});
  std::stable_sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) { return a.score > b.score; });
  return ranks;
}

std::vector<TextOrPair> pairs_with(std::string_view query, const std::vector<std::string_view>& texts) {
  std::vector<TextOrPair> pairs;
  pairs.reserve(texts.size());
  for (const std::string_view text : texts) pairs.push_back({query, text});
  return pairs;
}

void need_reranker(const Model& model) {
  const int labels = model.encoder()->encoder().info().labels;
  if (labels != 1)
    throw TextError(TextFault::wrong_model, "model is not a re-ranker model: '" + model.name() + "' " +
                                                (labels == 0 ? "gives vectors" : "has " + std::to_string(labels) + " labels") +
                                                ", and one score for a pair of texts is expected");
}

}  // namespace tenfold::server
