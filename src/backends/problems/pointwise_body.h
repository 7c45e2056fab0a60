// What a pointwise problem computes, as one body.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends {

// The operator's or Region's body over the operands that are there; an epilogue, if there is one, composed behind it.
ir::Body whole_body(const Problem& problem);

}  // namespace tenfold::backends
