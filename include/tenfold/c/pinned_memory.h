/* Host memory that GPUs copy from and to by themselves. tenfold/pinned_memory.h says more. */
#ifndef TENFOLD_C_PINNED_MEMORY_H
#define TENFOLD_C_PINNED_MEMORY_H

#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tenfold_pinned_memory tenfold_pinned_memory;
typedef struct {
  size_t struct_size;
  void* memory;
  size_t bytes;
  int32_t pinned;                  /* 0: the device is a CPU, and this is ordinary memory */
} tenfold_pinned_memory_info;
/* Allocates `bytes` of zeros for "cuda", "cuda:1" or "cpu". A null runtime is the process's own. Freeing frees the
 * memory: before that, bind something else, and let runs end. */
TENFOLD_API tenfold_status tenfold_pinned_memory_create(const tenfold_runtime* runtime, const char* device, size_t bytes,
                                                        tenfold_pinned_memory** memory);
/* Registers memory of the caller's until tenfold_pinned_memory_free(), which gives it back as ordinary memory; free it
 * after that and not before. */
TENFOLD_API tenfold_status tenfold_pinned_memory_register(const tenfold_runtime* runtime, const char* device, void* callers, size_t bytes,
                                                          tenfold_pinned_memory** memory);
TENFOLD_API void tenfold_pinned_memory_free(tenfold_pinned_memory* memory);
/* Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_pinned_memory_get_info(const tenfold_pinned_memory* memory, tenfold_pinned_memory_info* info);

#ifdef __cplusplus
}
#endif
#endif
