// A decoder's ONNX file as the network that sessions run: the cache lies in place, and lengths say what masks and positions are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tenfold/decoder.h"
#include "text/decoders/cached_attention.h"
#include "text/decoders/onnx/config.h"
#include "text/decoders/onnx/find_model.h"

namespace tenfold::decoders::onnx {

struct Rewritten {
  Network network;                 // with the inputs and outputs of decoders/model.h
  CacheSizes cache;
  std::int64_t vocabulary = 0;
  bool exact_places = false;       // of decoders/model.h: something depends on how many places are read
};

// Throws io, invalid_model, unsupported, invalid_argument (max_length, or several sequences where lengths may not differ). The log is told
// what runs otherwise than a folder's decoder would.
Rewritten rewrite(const Place& place, const Config& config, const DecoderOptions& options);

}  // namespace tenfold::decoders::onnx
