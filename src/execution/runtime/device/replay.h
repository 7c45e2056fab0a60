// A run on a device with memory of its own.
#pragma once

#include "runtime/run.h"

namespace tenfold::runtime {

// What a run at these shapes and addresses would do before it. `in_advance`: also what only later ones would gain from.
Status prepare_staged(ContextState& context, bool in_advance) noexcept;
Status start_staged(ContextState& context) noexcept;                  // copies in, replays or runs, copies out; waits for nothing
void capture_seen(ContextState& context) noexcept;                     // what ran step by step, while the device is busy with it
Status finish_staged(ContextState& context) noexcept;
// A run that becomes part of the graph being captured there.
Status capture_context(ContextState& context, void* stream, Launch launch) noexcept;

}  // namespace tenfold::runtime
