/* Arrays of the caller's on a device, and streams of GPUs. tenfold/device_array.h and device_stream.h say more. */
#ifndef TENFOLD_C_DEVICE_ARRAY_H
#define TENFOLD_C_DEVICE_ARRAY_H

#include "tenfold/c/dlpack.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tenfold_device_array tenfold_device_array;
typedef struct {
  size_t struct_size;
  const char* device;              /* with its number: "cuda:0". The texts and the shape live as long as the array. */
  const char* dtype;
  const int64_t* shape;
  int32_t rank;
  size_t bytes;
  void* memory;                    /* on the device; dense, row major: for tenfold_context_bind() */
} tenfold_device_array_info;
/* Creates an array of zeros on "cpu", "cuda" (the first GPU) or "cuda:1". A null runtime is the process's own. Freeing
 * the array frees the memory. */
TENFOLD_API tenfold_status tenfold_device_array_create(const tenfold_runtime* runtime, const char* device, const char* dtype,
                                                       const int64_t* shape, int32_t rank, tenfold_device_array** array);
TENFOLD_API void tenfold_device_array_free(tenfold_device_array* array);
/* Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_device_array_get_info(const tenfold_device_array* array, tenfold_device_array_info* info);
/* Copy all bytes of the array from or to `memory`, which is the host's or the device's own. The copy is done when they
 * return. It runs after the work of `stream`, a CUstream; if that is null, it waits for no stream. */
TENFOLD_API tenfold_status tenfold_device_array_copy_from(tenfold_device_array* array, const void* memory, size_t bytes, void* stream);
TENFOLD_API tenfold_status tenfold_device_array_copy_to(const tenfold_device_array* array, void* memory, size_t bytes, void* stream);
/* The struct shares the memory. The caller calls the deleter. */
TENFOLD_API tenfold_status tenfold_device_array_to_dlpack(const tenfold_device_array* array, DLManagedTensorVersioned** tensor);
/* The same in the form before DLPack 1.0. */
TENFOLD_API tenfold_status tenfold_device_array_to_dlpack_unversioned(const tenfold_device_array* array, DLManagedTensor** tensor);

/* Gives the device whose arrays this engine reads and writes without a copy: "cpu", "cuda:0". The text lives until this
 * thread asks again. */
TENFOLD_API tenfold_status tenfold_engine_device(const tenfold_engine* engine, const char** device);

typedef struct tenfold_device_stream tenfold_device_stream;
/* Creates a CUstream on a GPU. Freeing it waits for its work and ends it. */
TENFOLD_API tenfold_status tenfold_device_stream_create(const tenfold_runtime* runtime, const char* device, tenfold_device_stream** stream);
TENFOLD_API void tenfold_device_stream_free(tenfold_device_stream* stream);
TENFOLD_API void* tenfold_device_stream_handle(const tenfold_device_stream* stream);   /* the CUstream; null for null */
/* Waits until all work on a stream of the GPU is done: any CUstream; null is the default stream. */
TENFOLD_API tenfold_status tenfold_device_stream_synchronize(const tenfold_runtime* runtime, const char* device, void* stream);

#ifdef __cplusplus
}
#endif
#endif
