// The next token by its logits.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "tenfold/decoder.h"

namespace tenfold::decoders {

void check(const Sampling& sampling);   // throws invalid_argument, naming the field

// Draws tokens of one sequence. Logits that are NaN are never drawn; if all are, it throws invalid_argument.
class Sampler {
 public:
  Sampler(const Sampling& sampling, std::uint64_t seed) : sampling_(sampling), random_(seed) {}
  // `ids`: the sequence so far. Changes `logits`.
  std::int32_t next(std::span<float> logits, std::span<const std::int32_t> ids);

 private:
  void penalize(std::span<float> logits, std::span<const std::int32_t> ids) const;
  std::int32_t draw(std::span<const float> logits, float largest);
  std::size_t weigh(float largest);
  Sampling sampling_;
  std::mt19937_64 random_;
  std::vector<std::pair<float, std::int32_t>> order_;   // logits and their tokens, largest first
  std::vector<double> shares_;
};

}  // namespace tenfold::decoders
