/* Options of one run, which may stop it; runs that tell when they have ended. */
#ifndef TENFOLD_C_RUN_H
#define TENFOLD_C_RUN_H

#include "tenfold/export.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A token by which any thread may stop the runs that were given it, and only those. A token that was tripped stays
 * so. */
typedef struct tenfold_cancel_token tenfold_cancel_token;
TENFOLD_API tenfold_status tenfold_cancel_token_create(tenfold_cancel_token** token);
TENFOLD_API void tenfold_cancel_token_free(tenfold_cancel_token* token);    /* runs that have it go on */
TENFOLD_API void tenfold_cancel_token_trip(tenfold_cancel_token* token);    /* from any thread */

typedef struct {
  size_t struct_size;
  const tenfold_cancel_token* token;   /* null: no token. If it is tripped, the run returns TENFOLD_RUN_CANCELLED. */
  int64_t nanoseconds;                 /* from now until no further step begins: TENFOLD_RUN_DEADLINE; 0: no limit */
} tenfold_run_options;
/* `options` may be null. */
TENFOLD_API tenfold_status tenfold_context_run_with(tenfold_context* context, const tenfold_run_options* options);
TENFOLD_API tenfold_status tenfold_context_enqueue_with(tenfold_context* context, void* stream, const tenfold_run_options* options);

/* Starts a run and returns. `done` (may be null) is called once with the outcome, in a thread of the context's own. The
 * context is the caller's again by then. So `done` may read it, bind memory, begin the next run, hand it to another
 * thread, or free it where no next run has begun. If the status is not TENFOLD_OK, no run was begun. Until `done` was
 * called or tenfold_context_wait() has returned, only tenfold_context_cancel() may be called. */
typedef void (*tenfold_completion)(void* user, tenfold_status outcome);
TENFOLD_API tenfold_status tenfold_context_enqueue_then(tenfold_context* context, void* stream, const tenfold_run_options* options,
                                                        tenfold_completion done, void* user);

#ifdef __cplusplus
}
#endif
#endif
