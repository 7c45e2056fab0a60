/* Contexts: shapes, memory, runs.
 *
 * Which call checks what:
 * - tenfold_context_set_shape checks the number of axes and the extents that the model fixes
 *   (TENFOLD_RUN_INVALID_SHAPE). It does not check whether a profile has the shape, nor whether the shape suits the
 *   other inputs'.
 * - tenfold_context_bind checks only that there is such a binding. Memory is compared with the shapes later, so that
 *   either may come first.
 * - tenfold_context_shape, _prepare, _run and _enqueue check that each input has a shape (TENFOLD_RUN_NOT_READY), and
 *   that the shapes suit each other and a profile (TENFOLD_RUN_INVALID_SHAPE).
 * - _prepare, _run and _enqueue also check that each binding has memory (TENFOLD_RUN_NOT_READY), that it is large
 *   enough for the shapes, and that no two bindings share bytes where one is written (TENFOLD_RUN_INVALID_BINDING).
 *   Nothing has been computed then.
 * - Only _run, and _wait for what was enqueued, tell what data decides: TENFOLD_RUN_BAD_INDEX, _TOO_LARGE, _DEVICE,
 *   _FAILED.
 * A call that fails leaves the context as it was. tenfold_last_error() names the binding.
 *
 * One thread uses a context at a time. Another thread may stop a run by tenfold_context_cancel(), which stops whatever
 * runs in the context now, or by the token of one run (tenfold/c/run.h: tenfold_context_run_with), which may have a
 * deadline, too. All act between two steps. */
#ifndef TENFOLD_C_CONTEXT_H
#define TENFOLD_C_CONTEXT_H

#include "tenfold/export.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

TENFOLD_API tenfold_status tenfold_context_create(const tenfold_engine* engine, tenfold_context** context);
TENFOLD_API void tenfold_context_free(tenfold_context* context);
TENFOLD_API tenfold_status tenfold_context_set_shape(tenfold_context* context, int32_t input, const int64_t* shape,
                                                     int32_t rank);
/* Gives the shape of an input as it was set, or of an output as the inputs' shapes make it, so that a caller knows how
 * much to allocate. It does not depend on the memory bound. An extent of -1 is decided by the run, and known after it.
 * On entry *rank is the room in `shape`; on return it is the binding's rank. */
TENFOLD_API tenfold_status tenfold_context_shape(const tenfold_context* context, int32_t binding, int64_t* shape,
                                                 int32_t* rank);
/* Binds dense row-major memory of the caller, large enough for the shapes set. Null binds the context's own memory. */
TENFOLD_API tenfold_status tenfold_context_bind(tenfold_context* context, int32_t binding, void* memory, size_t bytes);
/* Gives the context's own memory of a binding. */
TENFOLD_API tenfold_status tenfold_context_memory(tenfold_context* context, int32_t binding, void** memory);
/* Runs. After a first run at these shapes it neither allocates nor locks. */
TENFOLD_API tenfold_status tenfold_context_run(tenfold_context* context);
/* Computes what does not depend on the newest row (tenfold_build_config::newest_row), before that row is there; the next
 * run computes the rest. ExecutionContext::precompute() tells when it does nothing. */
TENFOLD_API tenfold_status tenfold_context_precompute(tenfold_context* context);
/* Starts a run on a CUstream or cudaStream_t of the engine's GPU (null: the context's own) and returns.
 * ExecutionContext::enqueue() says when it waits. Bindings may be GPU memory. */
TENFOLD_API tenfold_status tenfold_context_enqueue(tenfold_context* context, void* stream);
/* Does all that a first run at these shapes and bindings does but compute. */
TENFOLD_API tenfold_status tenfold_context_prepare(tenfold_context* context);
TENFOLD_API tenfold_status tenfold_context_wait(tenfold_context* context);     /* until all that was enqueued is done */
/* May be called from any thread. 1: a run was under way, and returns TENFOLD_RUN_CANCELLED. 0: none was. */
TENFOLD_API int32_t tenfold_context_cancel(tenfold_context* context);
/* -1, the default: the first profile that fits the shapes. */
TENFOLD_API tenfold_status tenfold_context_set_profile(tenfold_context* context, int32_t profile);
/* The place on the GPU of a binding whose own memory is the host's; null on CPUs. If the caller binds it, nothing is
 * copied. */
TENFOLD_API void* tenfold_context_device_memory(tenfold_context* context, int32_t binding);
enum { TENFOLD_WAIT_SPIN_SHORTLY = 0, TENFOLD_WAIT_SPIN, TENFOLD_WAIT_SLEEP };
/* how to wait for a GPU */
TENFOLD_API tenfold_status tenfold_context_wait_how(tenfold_context* context, int32_t how);
/* as a CUDA graph (default), or step by step */
TENFOLD_API void tenfold_context_replay_runs(tenfold_context* context, int32_t on);

#ifdef __cplusplus
}
#endif
#endif
