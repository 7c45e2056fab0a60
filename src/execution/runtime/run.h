// Runs of a context: asked for, told to stop, and its steps one by one.
#pragma once

#include <atomic>
#include <chrono>

#include "runtime/frame.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::backends { class Stream; }

namespace tenfold::runtime {

// What cancel() meets: no run, one that goes on, or one that it has stopped already.
enum class Phase : std::uint8_t { idle, going, cancelled };

// The call that asks for a run. From run() the host copies pageable memory by itself and waits for the end; a run that is enqueued leaves
// that to the stream. At the end of one by enqueue_then() the stream notes where it ends.
enum class Launch : std::uint8_t { run, enqueue, enqueue_then };

struct RunState {
  std::atomic<Phase> phase{Phase::idle};
  const RunOptions* options = nullptr;        // of the run under way; null: none
  std::size_t precomputed = 0;                      // steps of the run that comes which precompute() has done
  bool interruptible = false;                 // somebody may be asked between steps (tenfold/internal/interrupts.h)
  bool outcome_counts = false;                // the last run was enqueue_then()'s: wait() tells its outcome
  std::string last_error;                     // of the step that failed: what its kernel or its extents have against it
};

// Whether the run under way is to end before its next step, and why.
inline Status::Code stopped(const RunState& run) noexcept {
  if (run.phase.load(std::memory_order_relaxed) == Phase::cancelled) return Status::cancelled;
  if (run.interruptible && interrupted()) return Status::cancelled;
  if (!run.options) return Status::ok;
  if (run.options->token.cancelled()) return Status::cancelled;
  return run.options->deadline && std::chrono::steady_clock::now() >= *run.options->deadline ? Status::deadline : Status::ok;
}

// Runs and returns when all is done; asks for a run.
Status run_context(ContextState& context, const RunOptions* options) noexcept;
void begin_run(ContextState& context) noexcept;   // from here on cancel() meets it
Status run_begun(ContextState& context, const RunOptions* options) noexcept;
Status enqueue_context(ContextState& context, void* stream, const RunOptions* options, Launch launch = Launch::enqueue) noexcept;
// Until the thread of enqueue_then() is done with the last run, whose outcome it is; ok if there was none.
Status wait_completed(ContextState& context) noexcept;

ErrorKind kind_of(Status::Code code);
Status run_frame(ContextState& context, Frame& frame) noexcept;
Status run_steps(ContextState& context, Frame& frame, std::size_t first, std::size_t last) noexcept;   // of the frame's
Status check_agreements(ContextState& context) noexcept;       // of all steps whose extents are known before the run
backends::Stream& stream_of(ContextState& context) noexcept;   // where the steps go

}  // namespace tenfold::runtime
