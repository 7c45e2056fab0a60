/* Contexts: shapes, memory, runs.
 *
 * Which call checks what:
 * - tenfold_context_set_shape: the number of axes and the extents that the model fixes (TENFOLD_RUN_INVALID_SHAPE), by itself: not
 *   whether a profile has the shape, nor whether it suits the other inputs'.
 * - tenfold_context_bind: only that there is such a binding. Memory is compared with the shapes later, so that either may come first.
 * - tenfold_context_shape, _prepare, _run, _enqueue: that each input has a shape (TENFOLD_RUN_NOT_READY), that the shapes suit each
 *   other and a profile (TENFOLD_RUN_INVALID_SHAPE).
 * - _prepare, _run, _enqueue besides: that each binding has memory (TENFOLD_RUN_NOT_READY), large enough for the shapes, and that no two
 *   bindings share bytes where one is written (TENFOLD_RUN_INVALID_BINDING). Nothing has been computed then.
 * - _run alone, and _wait for what was enqueued, tell what only data decides: TENFOLD_RUN_BAD_INDEX, _TOO_LARGE, _DEVICE, _FAILED.
 * A call that fails leaves the context as it was; tenfold_last_error() names the binding.
 *
 * One thread uses a context at a time. What may stop its run from another thread: tenfold_context_cancel() (whatever runs in the context
 * now), or a token and a deadline of one run (tenfold/c/run.h: tenfold_context_run_with). Both act between two steps. */
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
/* Of an input as it was set, of an output as the inputs' shapes make it, whatever memory is bound: so a caller knows how much to
 * allocate. -1: an extent that the run decides; it is known after the run. In: *rank = room in `shape`; out: the binding's rank. */
TENFOLD_API tenfold_status tenfold_context_shape(const tenfold_context* context, int32_t binding, int64_t* shape,
                                                 int32_t* rank);
/* Dense row-major memory of the caller, large enough for the shapes set; null: the context's own. */
TENFOLD_API tenfold_status tenfold_context_bind(tenfold_context* context, int32_t binding, void* memory, size_t bytes);
/* the context's own */
TENFOLD_API tenfold_status tenfold_context_memory(tenfold_context* context, int32_t binding, void** memory);
/* neither allocates nor locks once it ran at these shapes */
TENFOLD_API tenfold_status tenfold_context_run(tenfold_context* context);
/* Starts a run on a CUstream or cudaStream_t of the engine's GPU (null: the context's own) and returns; ExecutionContext::enqueue()
 * says when it waits. Bindings may be GPU memory. */
TENFOLD_API tenfold_status tenfold_context_enqueue(tenfold_context* context, void* stream);
/* what the first run at these shapes and bindings would do */
TENFOLD_API tenfold_status tenfold_context_prepare(tenfold_context* context);
TENFOLD_API tenfold_status tenfold_context_wait(tenfold_context* context);     /* until what was enqueued is done */
/* From any thread. 1: a run was under way, and returns TENFOLD_RUN_CANCELLED; 0: none was. */
TENFOLD_API int32_t tenfold_context_cancel(tenfold_context* context);
/* Without it: the first profile that fits the shapes. */
TENFOLD_API tenfold_status tenfold_context_set_profile(tenfold_context* context, int32_t profile);
/* The GPU's memory that stands for a binding whose own memory is the host's; null on CPUs. Bound itself, nothing is copied. */
TENFOLD_API void* tenfold_context_device_memory(tenfold_context* context, int32_t binding);
enum { TENFOLD_WAIT_SPIN_SHORTLY = 0, TENFOLD_WAIT_SPIN, TENFOLD_WAIT_SLEEP };
TENFOLD_API tenfold_status tenfold_context_wait_how(tenfold_context* context, int32_t how);   /* for a GPU */
TENFOLD_API void tenfold_context_replay_runs(tenfold_context* context, int32_t on);   /* as a CUDA graph: the default; or by steps */

#ifdef __cplusplus
}
#endif
#endif
