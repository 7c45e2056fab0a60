// Writes a decoder's folder with weights of 4 or 8 bits in the layout of compressed-tensors (pack-quantized), which transformers, vLLM and
// Decoder::load read. It is in the library tenfold-text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenfold/export.h"

namespace tenfold {

struct QuantizeDecoderReport {
  struct Layer {
    std::string name;
    double error = 0;   // relative: the root of what the squares of all differences are of the squares of all weights
  };
  std::vector<Layer> layers;
  std::int64_t bytes_before = 0, bytes_after = 0;   // of weights
};

// `weights` is as in DecoderOptions. Linear layers are rounded to the nearest step of their groups, symmetric about zero; embeddings,
// lm_head, norms and biases stay as they are, and files beside the weights are copied. `output` is a folder that does not exist yet;
// where an error is thrown, there is none. Throws io, invalid_argument (`weights`, groups that do not divide a layer's inputs),
// unsupported (GPT-2, whose layers that layout does not have; folders that are quantized already), invalid_model.
TENFOLD_API QuantizeDecoderReport quantize_decoder(const std::string& folder, const std::string& output, const std::string& weights);

}  // namespace tenfold
