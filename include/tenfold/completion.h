// Runs that tell when they have ended: enqueue() with a callback, on CPUs and GPUs.
#pragma once

#include "tenfold/engine.h"

namespace tenfold {

// `call` is called once for each run that enqueue_then() began, with the outcome of the run, in a thread of the
// context's own. By then the context is the caller's again. So the callback may read it (shape(), own_memory()), bind
// memory, begin the next run (enqueue_then()), hand the context to another thread, or destroy it where no next run has
// begun. In the callback, wait() gives the outcome at once, or not_ready while a next run goes on.
struct Completion {
  void (*call)(void* user, Status status) = nullptr;
  void* user = nullptr;
};

// Starts a run and returns. On a CPU, the context's own thread runs it, with its workers, as run() does; `stream` is
// null. On a GPU, the run is enqueued as ExecutionContext::enqueue() does, and the thread waits for the GPU. If this
// returns anything but ok, no run is under way and the callback is not called.
//
// A context makes one run at a time. Until the callback is called, or wait() has returned (after the callback), only
// cancel() may be called, and another enqueue_then() returns not_ready. The token of the options is kept. The first
// call makes the thread, and so does the first call in a process that was forked since. Of a run that was under way at
// the fork, only the parent is told.
TENFOLD_API Status enqueue_then(ExecutionContext& context, void* stream, const RunOptions& options, Completion done) noexcept;

}  // namespace tenfold
