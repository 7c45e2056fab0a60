/* Memory of one's own on a device, and streams of GPUs. tenfold/device_array.h and device_stream.h say more. */
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
  const char* device;              /* with its number: "cuda:0"; the texts and the shape stand as long as the array */
  const char* dtype;
  const int64_t* shape;
  int32_t rank;
  size_t bytes;
  void* memory;                    /* there; dense, row major: what tenfold_context_bind() takes */
} tenfold_device_array_info;
/* Zeros on "cpu", "cuda" (the first GPU) or "cuda:1"; null runtime: the process's own. Its memory goes back when it is freed. */
TENFOLD_API tenfold_status tenfold_device_array_create(const tenfold_runtime* runtime, const char* device, const char* dtype,
                                                       const int64_t* shape, int32_t rank, tenfold_device_array** array);
TENFOLD_API void tenfold_device_array_free(tenfold_device_array* array);
/* Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_device_array_tell(const tenfold_device_array* array, tenfold_device_array_info* info);
/* All of its bytes, from or to the host's memory or the device's own; done when they return. `stream` (a CUstream; null: none) is one
 * behind whose work they come. */
TENFOLD_API tenfold_status tenfold_device_array_copy_from(tenfold_device_array* array, const void* memory, size_t bytes, void* stream);
TENFOLD_API tenfold_status tenfold_device_array_copy_to(const tenfold_device_array* array, void* memory, size_t bytes, void* stream);
/* The memory shared: the caller calls the deleter. */
TENFOLD_API tenfold_status tenfold_device_array_to_dlpack(const tenfold_device_array* array, DLManagedTensorVersioned** tensor);
/* The same in the form before DLPack 1.0. */
TENFOLD_API tenfold_status tenfold_device_array_to_dlpack_unversioned(const tenfold_device_array* array, DLManagedTensor** tensor);

/* Where arrays lie that this engine reads and writes without a copy: "cpu", "cuda:0". Stands until this thread asks again. */
TENFOLD_API tenfold_status tenfold_engine_device(const tenfold_engine* engine, const char** device);

typedef struct tenfold_device_stream tenfold_device_stream;
/* A CUstream of its own on a GPU; freed, it is waited for and ends. */
TENFOLD_API tenfold_status tenfold_device_stream_create(const tenfold_runtime* runtime, const char* device, tenfold_device_stream** stream);
TENFOLD_API void tenfold_device_stream_free(tenfold_device_stream* stream);
TENFOLD_API void* tenfold_device_stream_handle(const tenfold_device_stream* stream);   /* the CUstream; null: null */
/* Waits until all that this or anybody's CUstream of the GPU was given is done; null: the default stream. */
TENFOLD_API tenfold_status tenfold_device_stream_synchronize(const tenfold_runtime* runtime, const char* device, void* stream);

#ifdef __cplusplus
}
#endif
#endif
