// How batches are bounded: memory and kernels are chosen for ranges of lengths, each with as many texts as the budget has room for.
#include <algorithm>

#include "text/encoders/engines.h"

namespace tenfold::encoders {
namespace {

constexpr int kFactor = 4;         // from the longest text of a range to that of the next
constexpr int kShortest = 32;      // the longest text of the first one
constexpr int kLongestAlone = 64;  // of the first range of one text
constexpr int kUsualAlone = 128;   // of the other one: kernels for many rows leave threads idle with one text's

int range_of(std::int64_t tokens, int max_tokens) {
  int longest = kShortest;
  while (longest < tokens) longest *= kFactor;
  return std::min(longest, max_tokens);
}

}  // namespace

std::int64_t texts_in_a_run(std::int64_t tokens, int max_tokens, std::int64_t batch_tokens) {
  return std::max<std::int64_t>(1, batch_tokens / range_of(tokens, max_tokens));
}

std::vector<OptimizationProfile> profiles_for(int max_tokens, int least_tokens, std::int64_t batch_tokens, bool types) {
  std::vector<OptimizationProfile> profiles;
  const auto add = [&](std::int64_t texts, std::int64_t usual, std::int64_t least, std::int64_t tokens, std::int64_t usual_tokens) {
    const ShapeRange range{{1, least}, {usual, std::clamp(usual_tokens, least, tokens)}, {texts, tokens}};
    profiles.push_back({{"ids", range}});
    if (types) profiles.back()["types"] = range;
  };
  const int alone = std::clamp(kLongestAlone, least_tokens, std::max(least_tokens, max_tokens));
  add(1, 1, least_tokens, alone, 16);
  if (alone < max_tokens) add(1, 1, least_tokens, max_tokens, kUsualAlone);
  for (int longest = std::min(kShortest, max_tokens);; longest = std::min(longest * kFactor, max_tokens)) {
    const std::int64_t texts = texts_in_a_run(longest, max_tokens, batch_tokens);
    if (longest >= least_tokens) add(texts, std::max<std::int64_t>(1, texts * 3 / 4), least_tokens, longest, longest * 5 / 8);
    if (longest >= max_tokens) break;
  }
  return profiles;
}

}  // namespace tenfold::encoders
