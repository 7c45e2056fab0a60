#include "text/decoders/quantize/samples.h"

#include <algorithm>

#include "text/fail.h"

namespace tenfold::decoders {

using tokenizing::fail;

std::int64_t CalibrationSamples::longest() const {
  std::size_t most = 0;
  for (const auto& one : ids) most = std::max(most, one.size());
  return static_cast<std::int64_t>(most);
}

std::int64_t CalibrationSamples::used_tokens() const {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) sum += is_held_out(i) ? 0 : ids[i].size();
  return static_cast<std::int64_t>(sum);
}

CalibrationSamples read_samples(const Tokenizer& tokenizer, const QuantizeDecoderOptions& options, std::int64_t places,
                                std::int64_t vocabulary) {
  const auto most = static_cast<std::size_t>(std::min<std::int64_t>(options.max_tokens, places));
  CalibrationSamples samples;
  for (const std::string& text : options.texts) {
    if (samples.ids.size() >= static_cast<std::size_t>(options.samples)) break;
    std::vector<std::int32_t> ids = tokenizer.encode(text).ids;
    if (ids.size() < 2) continue;
    if (ids.size() > most) ids.resize(most);
    for (const std::int32_t id : ids)
      if (id < 0 || id >= vocabulary)
        fail(ErrorKind::invalid_model, "the tokenizer gives the token " + std::to_string(id) + ", but the weights have embeddings for " +
                                           std::to_string(vocabulary) + "; tokenizer and weights are of different models");
    if (CalibrationSamples::is_held_out(samples.ids.size())) samples.held_out.push_back(text);
    samples.ids.push_back(std::move(ids));
  }
  if (samples.ids.size() < 2)
    fail(ErrorKind::invalid_argument,
         std::to_string(samples.ids.size()) + " of the " + std::to_string(options.texts.size()) +
             " texts have two tokens or more, and two are needed: one calibrates, one is held out; give more texts, one a line");
  return samples;
}

}  // namespace tenfold::decoders
