// How each binding reaches a device with memory of its own.
#pragma once

#include "runtime/device/link.h"

namespace tenfold::runtime {

Status choose_transfers(ContextState& context) noexcept;
// Whether memory that is bound already, at shapes and addresses that are settled, is still of the kind that its transfer was chosen for:
// addresses are given out again. On a CPU there is one kind.
bool lies_as_before(const ContextState& context, std::size_t binding) noexcept;
Status copy_apart(ContextState& context, bool inputs) noexcept;
Status copy_pinned(ContextState& context, bool inputs) noexcept;
void copy_by_host(ContextState& context, bool inputs) noexcept;

}  // namespace tenfold::runtime
