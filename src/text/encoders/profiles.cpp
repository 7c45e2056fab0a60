// How batches are bounded: memory and kernels are chosen for ranges of lengths, each with as many texts as the budget has room for.
#include <algorithm>

#include "text/encoders/engines.h"

namespace tenfold::encoders {
namespace {

// From the longest text of a range to that of the next. Packed texts of a range are run together, as many as the longest ones would be.
constexpr int factor(bool packed) { return packed ? 2 : 4; }
constexpr int kShortest = 32;      // the longest text of the first one
constexpr int kLongestAlone = 64;  // of the first range of one text
constexpr int kUsualAlone = 128;   // of the other one: kernels for many rows leave threads idle with one text's

int range_of(std::int64_t tokens, int max_tokens, bool packed) {
  int longest = kShortest;
  while (longest < tokens) longest *= factor(packed);
  return std::min(longest, max_tokens);
}

}  // namespace

std::int64_t texts_in_a_run(std::int64_t tokens, int max_tokens, std::int64_t batch_tokens, bool packed) {
  return std::max<std::int64_t>(1, batch_tokens / range_of(tokens, max_tokens, packed));
}

std::vector<OptimizationProfile> profiles_for(int max_tokens, int min_tokens, std::int64_t batch_tokens,
                                              const std::vector<std::string>& inputs, bool packed) {
  std::vector<OptimizationProfile> profiles;
  const auto add = [&](std::int64_t texts, std::int64_t usual, std::int64_t min, std::int64_t tokens, std::int64_t usual_tokens) {
    const ShapeRange range{{1, min}, {usual, std::clamp(usual_tokens, min, tokens)}, {texts, tokens}};
    OptimizationProfile& profile = profiles.emplace_back();
    for (const std::string& input : inputs) profile[input] = range;
  };
  // Of packed texts the builder counts on five sixteenths of the places.
  const auto usual = [&](std::int64_t max, std::int64_t share, std::int64_t of) {
    return packed ? max : std::max<std::int64_t>(1, max * share / of);
  };
  const int alone = std::clamp(kLongestAlone, min_tokens, std::max(min_tokens, max_tokens));
  if (!packed) add(1, 1, min_tokens, alone, 16);
  if (!packed && alone < max_tokens) add(1, 1, min_tokens, max_tokens, kUsualAlone);
  for (int longest = std::min(kShortest, max_tokens);; longest = std::min(longest * factor(packed), max_tokens)) {
    const std::int64_t texts = texts_in_a_run(longest, max_tokens, batch_tokens, packed);
    if (longest >= min_tokens) add(texts, usual(texts, 3, 4), min_tokens, longest, usual(longest, 5, 8));
    if (longest >= max_tokens) break;
  }
  return profiles;
}

OptimizationProfile profile_of_samples(const std::vector<OptimizationProfile>& profiles) {
  OptimizationProfile samples = profiles.front();
  for (auto& [input, range] : samples)
    for (const OptimizationProfile& profile : profiles) range.max[1] = std::max(range.max[1], profile.at(input).max[1]);
  return samples;
}

}  // namespace tenfold::encoders
