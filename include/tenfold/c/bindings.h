/* Memory of inputs and outputs: strides, state that lasts from run to run, memory that is given when its size is known.
 * Also the memory of contexts. */
#ifndef TENFOLD_C_BINDINGS_H
#define TENFOLD_C_BINDINGS_H

#include "tenfold/export.h"
#include "tenfold/c/dlpack.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TENFOLD_VALUE_TENSOR = 0, TENFOLD_VALUE_SEQUENCE, TENFOLD_VALUE_OPTIONAL, TENFOLD_VALUE_MAP };   /* kinds of values */
enum { TENFOLD_LOCATION_HOST = 0, TENFOLD_LOCATION_PINNED, TENFOLD_LOCATION_DEVICE };
typedef struct {
  size_t struct_size;
  int32_t kind;                    /* TENFOLD_VALUE_* */
  int32_t location;                /* TENFOLD_LOCATION_*: memory there is not copied; other memory is accepted */
  int64_t bytes;                   /* at the largest shapes; -1: no bound is known */
  int64_t alignment;               /* in bytes; memory aligned so is not copied for its alignment */
} tenfold_binding_memory;
/* Gives the memory that suits a binding best. Set memory->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_engine_binding_memory(const tenfold_engine* engine, int32_t binding, tenfold_binding_memory* memory);

/* Creates a context in the caller's memory, which lies on the engine's device, aligned to 256 bytes. */
TENFOLD_API tenfold_status tenfold_context_create_in(const tenfold_engine* engine, void* memory, size_t bytes, tenfold_context** context);
/* Gives the bytes that such a context needs. `shapes` has the shapes of all inputs, one after the other; null means
 * the largest. Profile -1 is the first that fits. */
TENFOLD_API tenfold_status tenfold_engine_arena_bytes(const tenfold_engine* engine, int32_t profile, const int64_t* shapes, size_t count,
                                                      size_t* bytes);

/* Binds memory with strides, in elements, one for each axis. Unless they are dense, elements are copied at the border
 * of a run. bind_strided() of tenfold/bindings.h says more. */
TENFOLD_API tenfold_status tenfold_context_bind_strided(tenfold_context* context, int32_t binding, void* memory, size_t bytes,
                                                        const int64_t* strides, int32_t rank);
/* 1 if the last run copied the binding, else 0. */
TENFOLD_API int32_t tenfold_context_copied_at_border(const tenfold_context* context, int32_t binding);
/* What a run writes to the output is what the next run reads at the input, in memory of the context's own. With
 * two_places = 1, a run that fails leaves the state as it was. bind_state() of tenfold/bindings.h says more. */
TENFOLD_API tenfold_status tenfold_context_bind_state(tenfold_context* context, int32_t output, int32_t input, int32_t two_places);
TENFOLD_API tenfold_status tenfold_context_read_state(tenfold_context* context, int32_t input, void* host, size_t bytes);
TENFOLD_API tenfold_status tenfold_context_write_state(tenfold_context* context, int32_t input, const void* host, size_t bytes);
TENFOLD_API tenfold_status tenfold_context_clear_state(tenfold_context* context, int32_t input);
/* Gives memory for the bytes of an output. It is called once in each run. Null: the run is out of memory. It must not
 * use the context. */
typedef void* (*tenfold_allocator)(void* user, int32_t output, int64_t bytes);
TENFOLD_API tenfold_status tenfold_context_set_allocator(tenfold_context* context, int32_t output, tenfold_allocator allocate, void* user);

/* Binds the tensor's memory with its strides, and sets the shape if the binding is an input. The caller keeps the
 * tensor. */
TENFOLD_API tenfold_status tenfold_context_bind_dlpack(tenfold_context* context, int32_t binding, const DLManagedTensorVersioned* tensor);
/* The same with the plain struct. The struct cannot say that it is read-only; for an output it must not be. */
TENFOLD_API tenfold_status tenfold_context_bind_dlpack_tensor(tenfold_context* context, int32_t binding, const DLTensor* tensor);
/* Gives the context's own memory of a binding at the shape that it has now; with on_device = 1, the GPU memory. The
 * caller calls the deleter. */
TENFOLD_API tenfold_status tenfold_context_dlpack(tenfold_context* context, int32_t binding, int32_t on_device,
                                                  DLManagedTensorVersioned** tensor);

#ifdef __cplusplus
}
#endif
#endif
