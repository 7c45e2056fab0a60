/* Watching runs: times of the phases of a run and of its steps, and results of steps. */
#ifndef TENFOLD_C_PROFILE_H
#define TENFOLD_C_PROFILE_H

#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the time of the last run went, by the device's clock. enqueue_ms is the time that the host took to enqueue the
 * run, by its own clock. */
typedef struct {
  size_t struct_size;
  double host_to_device_ms, compute_ms, device_to_host_ms, enqueue_ms;
} tenfold_run_times;
/* Takes the times from now on. This costs some microseconds a run. */
TENFOLD_API void tenfold_context_measure_parts(tenfold_context* context, int32_t on);
TENFOLD_API tenfold_status tenfold_context_last_times(const tenfold_context* context, tenfold_run_times* times);
/* Called after each step, with its time. Null: no more. */
typedef void (*tenfold_profiler_function)(void* user, const char* step, double milliseconds);
TENFOLD_API tenfold_status tenfold_context_set_profiler(tenfold_context* context, tenfold_profiler_function profiler, void* user);
/* The same with the begin of the step, in milliseconds since the run began. Of these two callbacks, the last that was
 * set is called. */
typedef void (*tenfold_step_timer_function)(void* user, const char* step, double start_ms, double milliseconds);
TENFOLD_API tenfold_status tenfold_context_set_step_timer(tenfold_context* context, tenfold_step_timer_function timer, void* user);
/* Called with each result of a step, under the name that the model gives it. The data live during the call. Null: no
 * more. Such runs are slow. */
typedef void (*tenfold_observer_function)(void* user, const char* step, const char* value, const tenfold_data* result);
TENFOLD_API tenfold_status tenfold_context_set_observer(tenfold_context* context, tenfold_observer_function observer, void* user);
/* Marks runs and their steps as NVTX ranges. *listens (may be null) tells whether a profiler listens. */
TENFOLD_API tenfold_status tenfold_context_mark_ranges(tenfold_context* context, int32_t on, int32_t* listens);

#ifdef __cplusplus
}
#endif
#endif
