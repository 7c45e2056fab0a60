// A graph of lengths alone: what only its extents are asked of becomes zeros, so that no weight is read for it.
#pragma once

#include "text/decoders/onnx/bindings.h"

namespace tenfold::decoders::onnx {

// Replaces the operands of Shape and Size, and what is added to caches, where their extents are constants, the batch and its tokens.
void cut_data(Network& net, const Bindings& bindings);

}  // namespace tenfold::decoders::onnx
