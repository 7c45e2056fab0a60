/* Runs watched: times of a run's parts and of its steps, results of steps. */
#ifndef TENFOLD_C_PROFILE_H
#define TENFOLD_C_PROFILE_H

#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the last run, by the device's clock; enqueue_ms: how long the host took to ask for the computing, by its own. */
typedef struct {
  size_t struct_size;
  double host_to_device_ms, compute_ms, device_to_host_ms, enqueue_ms;
} tenfold_run_times;
/* Takes the times from now on, which costs some microseconds. */
TENFOLD_API void tenfold_context_measure_parts(tenfold_context* context, int32_t on);
TENFOLD_API tenfold_status tenfold_context_last_times(const tenfold_context* context, tenfold_run_times* times);
/* Is called after each step, with its time; null: no more. */
typedef void (*tenfold_profiler_function)(void* user, const char* step, double milliseconds);
TENFOLD_API tenfold_status tenfold_context_set_profiler(tenfold_context* context, tenfold_profiler_function profiler, void* user);
/* The same, and when the step began: milliseconds since the run did. Of the two the one that was set last is called. */
typedef void (*tenfold_step_timer_function)(void* user, const char* step, double start_ms, double milliseconds);
TENFOLD_API tenfold_status tenfold_context_set_step_timer(tenfold_context* context, tenfold_step_timer_function timer, void* user);
/* Is called with each result of a step, under the model's name for it; the data live during the call. Null: no more. Such runs are slow. */
typedef void (*tenfold_observer_function)(void* user, const char* step, const char* value, const tenfold_data* result);
TENFOLD_API tenfold_status tenfold_context_set_observer(tenfold_context* context, tenfold_observer_function observer, void* user);
/* Runs and their steps as NVTX ranges. *listens (or null): whether a profiler is there. */
TENFOLD_API tenfold_status tenfold_context_mark_ranges(tenfold_context* context, int32_t on, int32_t* listens);

#ifdef __cplusplus
}
#endif
#endif
