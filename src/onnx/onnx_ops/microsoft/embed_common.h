// What EmbedLayerNormalization and its quantized kin share: the sum of word, position and segment embeddings, normalized. Results: that,
// the number of tokens of each sentence that the mask keeps, the sum.
#pragma once

#include <functional>

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

// Operands: ids, segment ids, tables of words, positions and segments, gamma, beta, mask. `real` makes floats of what operand i holds; only
// what is read of the tables goes through it.
std::vector<Value*> embedded(OnnxImport& call, Value* position_ids, const std::function<Value*(Value* value, int i)>& real);

}  // namespace tenfold::onnx_ops
