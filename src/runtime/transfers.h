// How a binding reaches a device with memory of its own, for who binds.
#pragma once

#include "runtime/state.h"

namespace tenfold::runtime {

// Whether memory that is bound already, at shapes and addresses that are settled, is still of the kind that its transfer was chosen for:
// addresses are given out again. On a CPU there is one kind.
bool lies_as_before(const ContextState& context, std::size_t binding) noexcept;

}  // namespace tenfold::runtime
