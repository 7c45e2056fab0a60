// An encoder as it was read from its folder, and the networks that compute with it.
#pragma once

#include <optional>
#include <tuple>

#include "tenfold/encoder.h"
#include "text/encoders/architecture.h"
#include "text/encoders/folder.h"

namespace tenfold::encoders {

// What one engine gives: vectors, the vectors of tokens, scores, or (pooling) vectors of what is already the vectors of tokens.
struct OutputRequest {
  enum Output : std::uint8_t { vectors, tokens, scores, pooling } output = vectors;
  int skipped = 0;                               // tokens of a prompt that pooling leaves out
  ScoreFunction function = ScoreFunction::none;  // never by_folder
  bool packed = false;                           // texts of several lengths in a run: a mask says which tokens there are
  bool operator<(const OutputRequest& o) const {
    return std::tie(output, skipped, function, packed) < std::tie(o.output, o.skipped, o.function, o.packed);
  }
};

struct Model {
  Folder folder;
  const Architecture* architecture = nullptr;  // null: the ONNX file
  std::optional<Weights> weights;
  std::string prefix, table;   // of the weights' names; the tensor of token embeddings
  bool counts_prompts = true;  // pooling counts the tokens of a prompt

  // The inputs are "ids", and "types" where scores tell two texts apart, both i32[batch, tokens], and "mask",
  // bool[batch, tokens], where texts are packed; of pooling it is "tokens", f32[batch, tokens, width]. The output is "out".
  Network network(const OutputRequest& request, const EncoderOptions& options) const;
  // Whether network() knows a packed form of this, and the permission that its build needs; no: none. packing.cpp.
  PackTokens packing(const OutputRequest& request) const;
  bool has_types() const { return architecture && architecture->has_types; }
};

Model read_model(const std::string& folder);  // throws as Encoder::load does
// The function that the folder asks for its scores; sigmoid for one label where it does not say.
ScoreFunction score_function(const Model& model, int labels);
// The most tokens that the model has places for, or 0 where nothing says it.
int max_places(const Model& model);
// The ONNX file with masks and types taken out; gives the vectors of its tokens. onnx_file.cpp.
Network read_onnx(const Model& model, const EncoderOptions& options, NetworkTensor& tokens);
// Pooling, dense layers, norms, cut and normalization; where tokens are request, what is in front of the pooling. modules.cpp.
NetworkTensor run_modules(const Model& model, const Blocks& blocks, NetworkTensor tokens, const OutputRequest& request,
                          const EncoderOptions& options);

}  // namespace tenfold::encoders
