/* Devices: what this machine has, and what kernels may use of it. */
#ifndef TENFOLD_C_DEVICE_H
#define TENFOLD_C_DEVICE_H

#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t struct_size;
  const char *device, *name, *features;             /* "cpu", "AMD EPYC 7B13", "avx2 avx512" */
  int64_t l1_bytes, l2_bytes, l3_bytes;             /* data caches; l1 and l2 of one core */
  int64_t memory_bytes;                             /* of a GPU */
  int32_t threads, cores;                           /* that this process may use */
  int32_t libraries;                                /* how many lines tenfold_device_library() has */
} tenfold_device_info;
/* Looks at the machine; the list stands until it is freed. */
TENFOLD_API tenfold_status tenfold_devices_list(tenfold_devices** devices);
TENFOLD_API void tenfold_devices_free(tenfold_devices* devices);
TENFOLD_API int32_t tenfold_devices_count(const tenfold_devices* devices);
TENFOLD_API tenfold_status tenfold_devices_info(const tenfold_devices* devices, int32_t device, tenfold_device_info* info);
/* "oneDNN 2.6.3": what kernels may call, or why not. Null for an index that is none. */
TENFOLD_API const char* tenfold_devices_library(const tenfold_devices* devices, int32_t device, int32_t library);
/* One line; "" if there is a GPU. */
TENFOLD_API const char* tenfold_devices_why_no_gpu(const tenfold_devices* devices);
/* Bytes that a GPU ("cuda:0") has free now; -1 of a CPU. */
TENFOLD_API tenfold_status tenfold_device_free_memory(const char* device, int64_t* bytes);
/* *lost: 1 where a kernel's fault took the GPU from this process, which has to be started again; no runtime gives it new work then. *reason
 * (may be null) is one line, "" where the device is well; it stands until this thread asks again. */
TENFOLD_API tenfold_status tenfold_device_health(const char* device, int32_t* lost, const char** reason);
/* A further folder for the GPU libraries, or a Python environment; to be called before a GPU is used. */
TENFOLD_API tenfold_status tenfold_device_look_for_libraries_in(const char* folder);
/* The bits for cpu_features of builds and loads: "avx2,avx512". */
TENFOLD_API tenfold_status tenfold_device_parse_cpu_features(const char* text, uint32_t* features);

/* The last failure of a device in this process. Texts live until this thread's next call of the same function. */
typedef struct {
  size_t struct_size;
  const char* device;                            /* "cuda:0" */
  int32_t number;                                /* the driver's: 700; 0: there was no failure */
  int32_t driver_version;                        /* the CUDA version that the driver speaks: 13000 is 13.0 */
  const char *symbol, *words, *call, *libraries; /* tenfold/device_error.h says more */
  const char* text;                              /* all of it in one line; "": there was none */
} tenfold_device_error;
TENFOLD_API tenfold_status tenfold_device_last_error(const char* device, tenfold_device_error* error);

#ifdef __cplusplus
}
#endif
#endif
