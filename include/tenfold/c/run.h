/* Options of one run: what may stop it; runs that tell when they are over. */
#ifndef TENFOLD_C_RUN_H
#define TENFOLD_C_RUN_H

#include "tenfold/export.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tripped by any thread, it stops the runs that were given it, and those alone; it stays tripped. */
typedef struct tenfold_cancel_token tenfold_cancel_token;
TENFOLD_API tenfold_status tenfold_cancel_token_create(tenfold_cancel_token** token);
TENFOLD_API void tenfold_cancel_token_free(tenfold_cancel_token* token);    /* runs that have it keep what they need */
TENFOLD_API void tenfold_cancel_token_trip(tenfold_cancel_token* token);    /* from any thread */

typedef struct {
  size_t struct_size;
  const tenfold_cancel_token* token;   /* null: none; tripped: TENFOLD_RUN_CANCELLED */
  int64_t nanoseconds;                 /* from now until no further step begins: TENFOLD_RUN_DEADLINE; 0: no such limit */
} tenfold_run_options;
/* `options` may be null. */
TENFOLD_API tenfold_status tenfold_context_run_with(tenfold_context* context, const tenfold_run_options* options);
TENFOLD_API tenfold_status tenfold_context_enqueue_with(tenfold_context* context, void* stream, const tenfold_run_options* options);

/* Starts a run and returns; `done` (may be null) is called once with its outcome, in a thread of the context's own, when the context is
 * the caller's again: `done` may read it, bind and begin its next run, hand it on, or, where no next run has begun, free it. Anything but
 * TENFOLD_OK: nothing was begun. Until `done` was called or tenfold_context_wait() has returned, only tenfold_context_cancel() may be
 * called. */
typedef void (*tenfold_completion)(void* user, tenfold_status outcome);
TENFOLD_API tenfold_status tenfold_context_enqueue_then(tenfold_context* context, void* stream, const tenfold_run_options* options,
                                                        tenfold_completion done, void* user);

#ifdef __cplusplus
}
#endif
#endif
