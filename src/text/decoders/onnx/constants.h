// Values that are the same at all lengths, as constants: exporters expand tables to a batch, which takes steps in every run.
#pragma once

#include "text/decoders/onnx/probe.h"

namespace tenfold::decoders::onnx {

// Replaces `value`, where its readers are products and sums that broadcast a batch of one, and their results keep their types.
void replace_by_constant(Network& net, NetworkTensor value, const Samples& samples);

}  // namespace tenfold::decoders::onnx
