// Writes a decoder's folder with weights of 4 or 8 bits: in the layout of compressed-tensors (pack-quantized), which transformers, vLLM and
// Decoder::load read; GPT-2's, whose layers that layout does not have, in GPTQ's. It is in the library tenfold-text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenfold/evaluate_decoder.h"
#include "tenfold/export.h"

namespace tenfold {

struct QuantizeDecoderOptions {
  // How weights are rounded: "rtn" to the nearest step; with texts also "gptq" (Frantar 2023, arXiv 2210.17323: what rounding a weight does
  // to the results, others make good) and "awq" (Lin 2024, arXiv 2306.00978: channels whose data are large are scaled up before they are
  // rounded, and steps cut what is far out).
  std::string method = "rtn";
  // Samples of what the model will read. Every second one calibrates; the others are held out, and errors are told on them.
  std::vector<std::string> texts;
  int samples = 256;      // at most so many of the texts
  int max_tokens = 512;   // of a text: what is behind them is left out
  int threads = 0;        // 0: what this process may use
};

struct QuantizeDecoderReport {
  struct Layer {
    std::string name;
    double error = 0;   // relative: the root of what the squares of all differences are of the squares of all weights
    // The same of the layer's results for the texts held out, and what it would be had weights been rounded to the nearest. With texts.
    double output_error = 0, output_error_nearest = 0;
  };
  std::vector<Layer> layers;
  std::int64_t bytes_before = 0, bytes_after = 0;   // of weights
  // With texts: the folder that was written, beside the one that was read, in f32, on those held out.
  std::optional<DecoderEvaluation> evaluation;
  std::int64_t calibration_tokens = 0;
};

// `weights` is as in DecoderOptions. Linear layers' steps are symmetric about zero; embeddings, lm_head, norms and biases stay as they are
// (but for factors that awq moves between layers), and files beside the weights are copied. Calibration runs a layer at a time in f32, on
// what the narrow layers in front of it give. `output` is a folder that does not exist yet; where an error is thrown
// before it is whole, there is none.
// Throws io, invalid_argument (`weights`, options, groups that do not divide a layer's inputs, texts of less than two tokens), unsupported
// (folders that are quantized already), invalid_model.
TENFOLD_API QuantizeDecoderReport quantize_decoder(const std::string& folder, const std::string& output, const std::string& weights,
                                                   const QuantizeDecoderOptions& options = {});

}  // namespace tenfold
