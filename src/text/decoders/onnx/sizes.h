// Sizes of a decoder: what the file's shapes say, and whether configurations beside it agree.
#pragma once

#include "tenfold/decoder.h"
#include "text/decoders/cached_attention.h"
#include "text/decoders/onnx/config.h"
#include "text/decoders/onnx/dependence.h"

namespace tenfold::decoders::onnx {

// Throws invalid_model where layers differ, or the configuration; invalid_argument where max_length is beyond the model's places.
CacheSizes sizes_of(const Network& net, const Bindings& bindings, const Dependence& dependence, const Config& config,
                    const DecoderOptions& options);
// Throws unsupported where the file has a fixed number of tokens, or of sequences that is not max_batch.
void check_batch(const Network& net, const Bindings& bindings, const DecoderOptions& options);
std::int64_t vocabulary_of(const Network& net, const Bindings& bindings, const DecoderOptions& options);

}  // namespace tenfold::decoders::onnx
