// Ids that callers give in place of texts.
#pragma once

#include "tenfold/encoder.h"
#include "text/encoders/batches.h"

namespace tenfold::encoders {

// The ids, with their types where the model takes them, in place of what `out` has. `first` is the number of the first text. What the
// model cannot take goes to `call.failed`, or is thrown.
void take_ids(std::span<const TokenIds> texts, std::size_t first, bool types, const EncoderInfo& info, const EncodeCall& call, Tokens& out);

}  // namespace tenfold::encoders
