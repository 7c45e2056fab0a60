/* Runtimes: workers, weights and log that several engines share. Slots: engines that can be replaced while others use
 * them. tenfold/runtime.h and engine_slot.h say more. */
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
  int32_t threads;                 /* processors that its engines' workers share; 0: from affinity mask and quota */
  tenfold_log_function log;        /* the log of engines that have none of their own; may be null */
  void* log_user;
  int64_t gpu_memory_limit;        /* the most bytes of each GPU that its engines use at once; 0: no limit */
  int64_t gpu_memory_kept;         /* bytes of freed memory of each GPU that it keeps; 0: all of it; below 0: none */
  /* These give the device memory of its engines and builds (tenfold/device_allocator.h says more). Set both or none.
   * Any thread may call them. */
  void* (*allocate)(void* user, int64_t bytes, int64_t alignment, const char* device); /* null: no memory */
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
  int64_t gpu_bytes;               /* GPU memory in use on all GPUs */
  int64_t gpu_held_bytes;          /* the same, with freed memory that is kept */
} tenfold_runtime_use;
/* Tells what the engines of a runtime use now. A null runtime is the process's own. Set use->struct_size before the
 * call. */
TENFOLD_API tenfold_status tenfold_runtime_get_use(const tenfold_runtime* runtime, tenfold_runtime_use* use);
typedef struct {
  size_t struct_size;
  int64_t used_bytes, max_used_bytes; /* now, and the most at any time */
  int64_t held_bytes;                  /* now, with freed memory that is kept */
} tenfold_gpu_memory;
/* Tells what a runtime has of one GPU's memory ("cuda:0"). It is zeros if no engine of the runtime opened the GPU. Set
 * memory->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_runtime_gpu_memory(const tenfold_runtime* runtime, const char* device, tenfold_gpu_memory* memory);
/* Gives freed memory of all GPUs back to the driver, except `kept` bytes of each. *freed (may be null) gets how many
 * bytes it gave back. */
TENFOLD_API tenfold_status tenfold_runtime_trim_gpu_memory(const tenfold_runtime* runtime, int64_t kept, int64_t* freed);
/* Load as tenfold_engine_load_with() and tenfold_engine_load_bytes() do, for this runtime. */
TENFOLD_API tenfold_status tenfold_runtime_load(const tenfold_runtime* runtime, const char* plan_path,
                                                const tenfold_load_options* options, tenfold_engine** engine);
TENFOLD_API tenfold_status tenfold_runtime_load_bytes(const tenfold_runtime* runtime, const void* plan, size_t bytes,
                                                      const tenfold_load_options* options, tenfold_engine** engine);

/* Holds an engine that can be replaced while others use it. Any thread may use it. */
typedef struct tenfold_engine_slot tenfold_engine_slot;
TENFOLD_API tenfold_status tenfold_engine_slot_create(const tenfold_engine* engine, tenfold_engine_slot** slot);
TENFOLD_API void tenfold_engine_slot_free(tenfold_engine_slot* slot);
TENFOLD_API tenfold_status tenfold_engine_slot_get(const tenfold_engine_slot* slot, tenfold_engine** engine);
/* Puts another engine into the slot. Then waits up to `milliseconds` (0: not at all, below 0: for ever) until nobody
 * has the old engine from the slot any more. *drained (may be null) tells whether that came true. */
TENFOLD_API tenfold_status tenfold_engine_slot_replace(tenfold_engine_slot* slot, const tenfold_engine* engine, int64_t milliseconds,
                                                       int32_t* drained);

#ifdef __cplusplus
}
#endif
#endif
