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
  int32_t threads, cores;                           /* how many of them this process may use */
  int32_t libraries;                                /* how many tenfold_devices_library() has */
} tenfold_device_info;
/* Lists the devices of the machine. The list does not change until it is freed. */
TENFOLD_API tenfold_status tenfold_devices_list(tenfold_devices** devices);
TENFOLD_API void tenfold_devices_free(tenfold_devices* devices);
TENFOLD_API int32_t tenfold_devices_count(const tenfold_devices* devices);
TENFOLD_API tenfold_status tenfold_devices_info(const tenfold_devices* devices, int32_t device, tenfold_device_info* info);
/* A library that kernels may call, or why they may not: "oneDNN 2.6.3". Null for an index that is none. */
TENFOLD_API const char* tenfold_devices_library(const tenfold_devices* devices, int32_t device, int32_t library);
/* Why no GPU can be used, in one line; "" if there is one. */
TENFOLD_API const char* tenfold_devices_why_no_gpu(const tenfold_devices* devices);
/* Gives the bytes that a GPU ("cuda:0") has free now; -1 for a CPU. */
TENFOLD_API tenfold_status tenfold_device_free_memory(const char* device, int64_t* bytes);
/* *lost is 1 if a kernel's fault took the GPU from this process. The process must then be started again; no runtime
 * gives the GPU new work until then. *reason (may be null) gets one line, or "" if the device is ok. The line lives
 * until this thread asks again. */
TENFOLD_API tenfold_status tenfold_device_health(const char* device, int32_t* lost, const char** reason);
/* Adds a folder to look for the GPU libraries in, or a Python environment. Call it before a GPU is used. */
TENFOLD_API tenfold_status tenfold_device_look_for_libraries_in(const char* folder);
/* Turns "avx2,avx512" into the bits of cpu_features for builds and loads. */
TENFOLD_API tenfold_status tenfold_device_parse_cpu_features(const char* text, uint32_t* features);

/* The last failure of a device in this process. Texts live until this thread calls the same function again. */
typedef struct {
  size_t struct_size;
  const char* device;                            /* "cuda:0" */
  int32_t number;                                /* the driver's number, such as 700; 0: there was no failure */
  int32_t driver_version;                        /* the CUDA version of the driver: 13000 is 13.0 */
  const char *symbol, *words, *call, *libraries; /* tenfold/device_error.h says more */
  const char* text;                              /* all fields in one line; "": there was no failure */
} tenfold_device_error;
TENFOLD_API tenfold_status tenfold_device_last_error(const char* device, tenfold_device_error* error);

#ifdef __cplusplus
}
#endif
#endif
