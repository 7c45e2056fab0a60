// What is known of an encoder once its folder is read.
#pragma once

#include "text/encoders/model.h"

namespace tenfold::encoders {

EncoderInfo info_of(const Model& model, const EncoderOptions& options);  // throws what networks and the options' checks throw
// Throws invalid_model if the tokenizer knows more ids than there are embeddings.
void check_vocabulary(const Model& model, const Tokenizer& tokenizer);

}  // namespace tenfold::encoders
