/* Low latency: runners, ports and threads. tenfold/low_latency.h says more. */
#ifndef TENFOLD_C_LOW_LATENCY_H
#define TENFOLD_C_LOW_LATENCY_H

#include "tenfold/c/engine.h"
#include "tenfold/c/fallback_chain.h"
#include "tenfold/c/latency.h"
#include "tenfold/c/log.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tenfold_latency_runner tenfold_latency_runner;
typedef struct tenfold_latency_runner_port tenfold_latency_runner_port;
typedef struct tenfold_latency_runner_thread tenfold_latency_runner_thread;

enum { TENFOLD_FULL_REJECT = 0, TENFOLD_FULL_DROP_OLDEST, TENFOLD_FULL_KEEP_NEWEST };
enum { TENFOLD_NOT_FINITE_PASS = 0, TENFOLD_NOT_FINITE_FAIL };

/* Times are nanoseconds of CLOCK_MONOTONIC. */
typedef struct {
  uint64_t id;
  int64_t due_ns, started_ns, ended_ns;
  tenfold_status status;           /* TENFOLD_OK, or TENFOLD_RUN_* */
  int32_t candidate;                    /* which candidate answered; -1: none */
  int32_t late, not_finite;        /* 0 or 1 */
  int32_t late_start, full_recompute;           /* 0 or 1; of engines with early steps */
  int32_t missing_rows;            /* of a row ring's window: rows that were not pushed yet, and are zeros */
} tenfold_answer;

typedef struct {
  size_t struct_size;
  int64_t deadline_ns;             /* 0: none */
  int32_t strict;                  /* 1: the first candidate alone */
  int32_t not_finite;              /* TENFOLD_NOT_FINITE_* */
  int32_t warm_up_runs;            /* of each candidate; 0: the usual number */
  int32_t good_answers;            /* after which a candidate comes back; 0: the usual number */
  double tolerance;                /* as a part of the largest output; 0: the usual one; below 0: nothing is compared */
  int64_t first_pause_ns, longest_pause_ns, longest_silence_ns;   /* 0: the usual ones */
  tenfold_log_function log;        /* may be null; called by a thread of the runner's own */
  void* log_user;
} tenfold_latency_runner_options;
/* Opens, warms and compares all candidates of the fallback chain, which stays the caller's. `options` may be null. */
TENFOLD_API tenfold_status tenfold_latency_runner_create(const tenfold_fallback_chain* fallback_chain,
                                                         const tenfold_latency_runner_options* options, tenfold_latency_runner** runner);
TENFOLD_API tenfold_status tenfold_latency_runner_create_for(const tenfold_engine* engine, const tenfold_latency_runner_options* options,
                                                     tenfold_latency_runner** runner);
TENFOLD_API void tenfold_latency_runner_free(tenfold_latency_runner* runner);      /* its thread must have been stopped */
/* Inputs lie in one piece of memory, each at a multiple of 64 bytes, in the order of the engine's bindings; outputs
 * likewise. */
TENFOLD_API tenfold_status tenfold_latency_runner_sizes(const tenfold_latency_runner* runner, int64_t* input_bytes, int64_t* output_bytes);
TENFOLD_API tenfold_status tenfold_latency_runner_offset(const tenfold_latency_runner* runner, int32_t binding, int64_t* offset);
/* Computes in the caller's thread, without allocating, locking or entering the kernel. due_ns 0: now. `answer` may be
 * null. Returns its status. */
TENFOLD_API tenfold_status tenfold_latency_runner_infer(tenfold_latency_runner* runner, const void* input, void* output, int64_t due_ns,
                                                tenfold_answer* answer);
/* For the window of a ring's stream, which is all of the input; answer->missing_rows says how much of it is there.
 * TENFOLD_RUN_INVALID_BINDING: there is no such stream, or its window has another size. */
TENFOLD_API tenfold_status tenfold_latency_runner_infer_rows(tenfold_latency_runner* runner, const tenfold_row_ring* rows, int64_t stream,
                                                     void* output, int64_t due_ns, tenfold_answer* answer);
/* For callers of tenfold_latency_runner_infer(), where the engine has early steps: computes what does not depend on the newest row of
 * the window that comes next, whose newest row and other inputs are not read. A window with other rows before the newest is
 * computed as a whole. TENFOLD_RUN_NOT_READY: a thread has the runner; it does this by itself. */
TENFOLD_API tenfold_status tenfold_latency_runner_precompute(tenfold_latency_runner* runner, const void* next_window);
TENFOLD_API void tenfold_latency_runner_keep_warm(tenfold_latency_runner* runner);
/* New candidates take the place of all, between two answers. If this fails, the old ones go on. Either may be null. */
TENFOLD_API tenfold_status tenfold_latency_runner_swap(tenfold_latency_runner* runner, const tenfold_engine* engine,
                                               const tenfold_fallback_chain* fallback_chain);
/* Texts are valid until this thread's next call of the same function. */
TENFOLD_API tenfold_status tenfold_latency_runner_backend(const tenfold_latency_runner* runner, const char** name);
TENFOLD_API tenfold_status tenfold_latency_runner_ready(const tenfold_latency_runner* runner, int32_t* ready, const char** why);
typedef struct {
  size_t struct_size;
  const char *name, *why;
  int32_t opened, answers;
  uint64_t answered, left;
  double difference;
} tenfold_candidate_state;
TENFOLD_API int32_t tenfold_latency_runner_candidates(const tenfold_latency_runner* runner);
TENFOLD_API tenfold_status tenfold_latency_runner_candidate(const tenfold_latency_runner* runner, int32_t candidate,
                                                            tenfold_candidate_state* state);
typedef struct {
  size_t struct_size;
  uint64_t answered, late, not_finite, failed, fell, swaps, late_start, full_recompute;
} tenfold_latency_runner_numbers;
TENFOLD_API tenfold_status tenfold_latency_runner_counts(const tenfold_latency_runner* runner, tenfold_latency_runner_numbers* counts);

/* A port is used by one thread at a time. Open ports before the runner's thread is started. */
TENFOLD_API tenfold_status tenfold_latency_runner_open_port(tenfold_latency_runner* runner, int32_t slots, int32_t when_full,
                                                    tenfold_latency_runner_port** port);
TENFOLD_API void tenfold_latency_runner_port_free(tenfold_latency_runner_port* port);
/* Return 1 if the request was taken, or an answer was there; 0 if not. `output` may be null. */
TENFOLD_API int32_t tenfold_latency_runner_port_submit(tenfold_latency_runner_port* port, uint64_t id, const void* input, int64_t due_ns);
TENFOLD_API int32_t tenfold_latency_runner_port_submit_rows(tenfold_latency_runner_port* port, uint64_t id, const tenfold_row_ring* rows,
                                                    int64_t stream, int64_t due_ns);
TENFOLD_API int32_t tenfold_latency_runner_port_poll(tenfold_latency_runner_port* port, tenfold_answer* answer, void* output);
/* Whether a thread serves it, and its process lives. Not for the hot path. */
TENFOLD_API int32_t tenfold_latency_runner_port_served(const tenfold_latency_runner_port* port);
/* Ports for other processes, over a Unix socket; tenfold/port_server.h says more. Start the server before the runner's
 * thread, and stop it before the runner is freed. */
typedef struct tenfold_port_server tenfold_port_server;
TENFOLD_API tenfold_status tenfold_port_server_start(tenfold_latency_runner* runner, const char* path, int32_t slots, int32_t when_full,
                                                     int32_t max_clients, tenfold_port_server** server);
TENFOLD_API void tenfold_port_server_stop(tenfold_port_server* server);
TENFOLD_API int32_t tenfold_port_server_clients(const tenfold_port_server* server);
/* In another process. */
TENFOLD_API tenfold_status tenfold_latency_runner_port_connect(const char* path, tenfold_latency_runner_port** port);
TENFOLD_API tenfold_status tenfold_latency_runner_port_sizes(const tenfold_latency_runner_port* port, int64_t* input_bytes,
                                                             int64_t* output_bytes);
TENFOLD_API tenfold_status tenfold_latency_runner_port_offset(const tenfold_latency_runner_port* port, int32_t binding, int64_t* offset);
/* Its inputs and outputs, as tenfold_engine_binding() tells them. TENFOLD_INVALID_ARGUMENT: there are no more. */
TENFOLD_API tenfold_status tenfold_latency_runner_port_binding(const tenfold_latency_runner_port* port, int32_t binding,
                                                               tenfold_binding_info* info);
typedef struct {
  size_t struct_size;
  uint64_t submitted, rejected, dropped, polled, answers_dropped;
} tenfold_latency_runner_port_numbers;
TENFOLD_API tenfold_status tenfold_latency_runner_port_counts(const tenfold_latency_runner_port* port,
                                                              tenfold_latency_runner_port_numbers* counts);

typedef struct {
  size_t struct_size;
  int32_t has_cpu, cpu;            /* has_cpu 0: wherever the system puts it */
  int32_t priority;                /* of SCHED_FIFO; 0: ordinary */
  int32_t sleeps;                  /* 1: it sleeps after spin_ns without a request; 0: it spins for ever */
  int64_t spin_ns, keep_warm_ns;
} tenfold_latency_runner_thread_options;
/* Starts a thread that serves the ports of these runners. `options` may be null. Stopping answers what waits. */
TENFOLD_API tenfold_status tenfold_latency_runner_thread_start(tenfold_latency_runner* const* runners, int32_t count,
                                                       const tenfold_latency_runner_thread_options* options,
                                                       tenfold_latency_runner_thread** thread);
TENFOLD_API void tenfold_latency_runner_thread_stop(tenfold_latency_runner_thread* thread);
TENFOLD_API int32_t tenfold_latency_runner_thread_id(const tenfold_latency_runner_thread* thread);

#ifdef __cplusplus
}
#endif
#endif
