// Texts that a model is calibrated on, and those that are held out.
#pragma once

#include <string>
#include <vector>

#include "tenfold/quantize_decoder.h"
#include "tenfold/text.h"

namespace tenfold::decoders {

struct CalibrationSamples {
  std::vector<std::vector<std::int32_t>> ids;   // of all texts that have two tokens; every second one is held out
  std::vector<std::string> held_out;
  static bool is_held_out(std::size_t number) { return number % 2 == 1; }
  std::int64_t longest() const;
  std::int64_t used_tokens() const;             // of those that calibrate
};

// Throws invalid_argument where fewer than two texts have two tokens.
CalibrationSamples read_samples(const Tokenizer& tokenizer, const QuantizeDecoderOptions& options, std::int64_t places,
                                std::int64_t vocabulary);

}  // namespace tenfold::decoders
