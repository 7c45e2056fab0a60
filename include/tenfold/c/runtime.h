/* Runtimes: workers, weights and log that several engines share; engines that are replaced under their users. */
#ifndef TENFOLD_C_RUNTIME_H
#define TENFOLD_C_RUNTIME_H

#include "tenfold/export.h"
#include "tenfold/c/engine.h"
#include "tenfold/c/log.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t struct_size;
  int32_t threads;                 /* processors that its engines' workers share; 0: from affinity mask and cgroup quota */
  tenfold_log_function log;        /* of engines that have none of their own; may be null */
  void* log_user;
  int64_t gpu_memory_limit;        /* bytes of each GPU that its engines use at once; 0: no limit */
  int64_t gpu_memory_kept;         /* bytes of freed memory of each GPU that stay for what comes; 0: all of it; below 0: none */
  /* Both or none: give the device memory of its engines and builds (tenfold/device_allocator.h tells more). Called from any thread. */
  void* (*allocate)(void* user, int64_t bytes, int64_t alignment, const char* device); /* null: there is none */
  void (*release)(void* user, void* memory);
  void* allocator_user;            /* outlives all engines of the runtime */
} tenfold_runtime_options;
/* `options` may be null. Engines keep their runtime alive. */
TENFOLD_API tenfold_status tenfold_runtime_create(const tenfold_runtime_options* options, tenfold_runtime** runtime);
TENFOLD_API void tenfold_runtime_free(tenfold_runtime* runtime);
typedef struct {
  size_t struct_size;
  int32_t engines;
  int32_t weights;                 /* sets of weights that loaded engines have, each counted once */
  int64_t weight_bytes;
  int64_t gpu_bytes;               /* of GPU memory in use, over all GPUs */
  int64_t gpu_held_bytes;          /* the same with what is free and kept */
} tenfold_runtime_use;
/* Set use->struct_size before the call; a null runtime: the process's own. */
TENFOLD_API tenfold_status tenfold_runtime_tell(const tenfold_runtime* runtime, tenfold_runtime_use* use);
typedef struct {
  size_t struct_size;
  int64_t used_bytes, most_used_bytes; /* now, and the most at any time */
  int64_t held_bytes;                  /* with what is free and kept */
} tenfold_gpu_memory;
/* Of one GPU ("cuda:0"); zeros if no engine of the runtime opened it. Set memory->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_runtime_gpu_memory(const tenfold_runtime* runtime, const char* device, tenfold_gpu_memory* memory);
/* Gives freed memory of all GPUs back to the driver but `kept` bytes of each; *freed (may be null) is how many bytes went. */
TENFOLD_API tenfold_status tenfold_runtime_trim_gpu_memory(const tenfold_runtime* runtime, int64_t kept, int64_t* freed);
/* As tenfold_engine_load_with() and tenfold_engine_load_bytes(), for engines of this runtime. */
TENFOLD_API tenfold_status tenfold_runtime_load(const tenfold_runtime* runtime, const char* plan_path,
                                                const tenfold_load_options* options, tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_runtime_load_bytes(const tenfold_runtime* runtime, const void* plan, size_t bytes,
                                                      const tenfold_load_options* options, tenfold_engine** engine);

/* An engine that can be replaced while others use it; used from any thread. */
typedef struct tenfold_engine_slot tenfold_engine_slot;
TENFOLD_API tenfold_status tenfold_engine_slot_create(const tenfold_engine* engine, tenfold_engine_slot** slot);
TENFOLD_API void tenfold_engine_slot_free(tenfold_engine_slot* slot);
TENFOLD_API tenfold_status tenfold_engine_slot_get(const tenfold_engine_slot* slot, tenfold_engine** engine);
/* Puts another in, and waits up to so many milliseconds (0: not at all, below 0: for ever) until nobody has the old one from the slot any
 * more; *drained (may be null) tells whether that came true. */
TENFOLD_API tenfold_status tenfold_engine_slot_replace(tenfold_engine_slot* slot, const tenfold_engine* engine, int64_t milliseconds,
                                                       int32_t* drained);

#ifdef __cplusplus
}
#endif
#endif
