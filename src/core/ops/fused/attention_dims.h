// What fused attentions ask of their operands.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ir {

// The dims of the result of FusedAttention's operands, which are checked.
Dims attention_dims(InferCall& call);

}  // namespace tenfold::ir
