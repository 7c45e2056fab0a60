// Logits of each sequence's last token alone: the rows are taken in front of the product that makes logits.
#pragma once

#include "text/transformers/blocks.h"

namespace tenfold::decoders::onnx {

// [batch, vocabulary] in f32 of logits [batch, tokens, vocabulary]; `last`, i32[batch], are numbers of the batch * tokens rows.
NetworkTensor last_rows(const transformers::Blocks& blocks, NetworkTensor logits, NetworkTensor last, std::int64_t vocabulary);

// Whether the file itself computes logits of the last token alone: by a slice, or by what leaves one row.
bool is_of_last_row(const Network& net, NetworkTensor logits);

}  // namespace tenfold::decoders::onnx
