// Runs that tell when they are over: enqueue() with a callback, on CPUs and GPUs.
#pragma once

#include "tenfold/engine.h"

namespace tenfold {

// Called once for each run that enqueue_then() began, with its outcome, in a thread of the context's own. By then the context is the
// caller's again: the callback may read it (shape(), own_memory()), bind and begin its next run (enqueue_then()), hand it to another
// thread, or, where no next run has begun, end it. wait() gives the outcome there at once, and not_ready while a next run goes on.
struct Completion {
  void (*call)(void* user, Status status) = nullptr;
  void* user = nullptr;
};

// Starts a run and returns. On a CPU the context's own thread runs it (with its workers, as run() does); `stream` is null. On a GPU it
// is enqueued as ExecutionContext::enqueue() does, and the thread waits for the GPU. Anything but ok: nothing is under way, and the
// callback is not called. One run at a time: until the callback is called, or wait() has returned (behind the callback), only cancel()
// may be called, and another enqueue_then() is refused as not ready. The token of the options is kept; the first call makes the thread,
// and so does the first in a process that was forked since. A run that was under way at the fork is told of in the parent alone.
TENFOLD_API Status enqueue_then(ExecutionContext& context, void* stream, const RunOptions& options, Completion done) noexcept;

}  // namespace tenfold
