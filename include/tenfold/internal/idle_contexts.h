// Contexts that libraries on top of the runtime borrow for a call, so that the next call need not make one: on a GPU that
// takes longer than many a run.
#pragma once

#include <memory>

#include "tenfold/engine.h"

namespace tenfold {

// A context of the engine that nobody else has: one that was given back, or a new one. Nothing is bound, and no profile is
// chosen; shapes are as they were last set. Its last owner gives it back by letting go, in any thread. The engine keeps
// one of them until it ends, and does not live longer for it. Throws out_of_memory.
TENFOLD_API std::shared_ptr<ExecutionContext> borrow_context(const Engine& engine);
// Ends those that engines keep, for memory. True: there were some.
TENFOLD_API bool drop_idle_contexts() noexcept;

}  // namespace tenfold
