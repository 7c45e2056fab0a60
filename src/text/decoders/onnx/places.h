// Where a file's own nodes write new keys and values.
#pragma once

#include <span>

#include "text/decoders/onnx/probe.h"

namespace tenfold::decoders::onnx {

// `samples` are those of the caches' places, in the order of the caches that have some. Throws unsupported, naming the node, where rows go
// elsewhere than right behind the past: a cache that is written around, as a ring, would lose tokens that are read in place here.
void check_places(const Network& net, const Bindings& bindings, std::span<const Samples> samples);

}  // namespace tenfold::decoders::onnx
