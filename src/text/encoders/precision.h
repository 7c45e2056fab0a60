// The precision of an encoder's engines: a fallback chain from int8, if its vectors are near enough, to wider types.
#pragma once

#include <memory>
#include <string>

#include "text/encoders/batches.h"
#include "text/encoders/model.h"

namespace tenfold::encoders {

constexpr std::size_t kMaxSamples = 200;

struct PrecisionWish {
  EncoderPrecision precision = EncoderPrecision::by_build;
  std::shared_ptr<const Tokens> samples;  // of texts, for int8; null where it is not asked for
  double min_cosine = 0.99;
};
// What a plan depends on beside the build's configuration.
std::string text_of(const PrecisionWish& wish);
// Puts what needs no samples into the build's configuration.
void permit(EncoderPrecision precision, BuildConfig& config);

struct Graded {
  Engine engine;
  double int8_cosine = -1;
};  // of the int8 plan, whether it was taken or not
// An engine of the narrowest type that the wish allows. `width`: of a row of its output. Throws what builds throw.
Graded build_graded(const PrecisionWish& wish, const OutputRequest& request, const Network& network, std::int64_t width,
                    const BuildConfig& config);
// The narrowest type of a plan's values between steps: "int8", "fp16", "bf16", "fp32".
std::string precision_of(const Engine& engine);

}  // namespace tenfold::encoders
