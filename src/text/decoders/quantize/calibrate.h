// Linear layers rounded by what they meet: layer after layer, each on what the narrow ones in front of it give.
#pragma once

#include <map>
#include <string>

#include "text/decoders/quantize/samples.h"
#include "text/decoders/model.h"
#include "text/transformers/narrow/layouts.h"

namespace tenfold::decoders {

struct NarrowLayer {
  std::vector<Tensor> parts;   // as the layout has them
  QuantizeDecoderReport::Layer report;
};

// By name. Norms and biases that awq changes are changed in the model's weights. Throws as quantize_decoder does.
std::map<std::string, NarrowLayer> calibrated_layers(Model& model, const transformers::NarrowForm& form,
                                                     const transformers::NarrowLayout& layout, const CalibrationSamples& samples,
                                                     const QuantizeDecoderOptions& options);

}  // namespace tenfold::decoders
