/* A CUDA driver that ends the process when it is used. Found as libcuda.so.1 it stands for that of a machine with a GPU: tests on the fake
   driver (fake_driver.h) must never reach it. */
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

/* NVRTC asks these two. */
EXPORT int cuInit(unsigned flags) { return (void)flags, 0; }
EXPORT int cuGetExportTable(const void** table, const void* id) { return *table = 0, id ? 500 : 1; }

#define REFUSES(name)                                                                      \
  EXPORT int name(void) {                                                                  \
    fputs("a test on a fake driver called the machine's own: " #name "\n", stderr);        \
    abort();                                                                               \
  }
REFUSES(cuDriverGetVersion)
REFUSES(cuDeviceGetCount)
REFUSES(cuGetErrorString)
REFUSES(cuGetErrorName)
REFUSES(cuDeviceGet)
REFUSES(cuDeviceGetName)
REFUSES(cuDeviceGetAttribute)
REFUSES(cuDeviceTotalMem_v2)
REFUSES(cuDevicePrimaryCtxRetain)
REFUSES(cuDevicePrimaryCtxRelease_v2)
REFUSES(cuCtxSetCurrent)
REFUSES(cuMemGetInfo_v2)
REFUSES(cuMemAlloc_v2)
REFUSES(cuMemFree_v2)
REFUSES(cuMemHostAlloc)
REFUSES(cuMemFreeHost)
REFUSES(cuMemPoolCreate)
REFUSES(cuMemPoolDestroy)
REFUSES(cuMemPoolTrimTo)
REFUSES(cuMemPoolSetAttribute)
REFUSES(cuMemPoolGetAttribute)
REFUSES(cuMemAllocFromPoolAsync)
REFUSES(cuMemFreeAsync)
REFUSES(cuMemcpyAsync)
REFUSES(cuMemsetD8Async)
REFUSES(cuStreamCreate)
REFUSES(cuStreamDestroy_v2)
REFUSES(cuStreamSynchronize)
REFUSES(cuStreamQuery)
REFUSES(cuStreamWaitEvent)
REFUSES(cuStreamIsCapturing)
REFUSES(cuPointerGetAttribute)
REFUSES(cuStreamBeginCapture_v2)
REFUSES(cuStreamEndCapture)
REFUSES(cuGraphInstantiateWithFlags)
REFUSES(cuGraphExecUpdate_v2)
REFUSES(cuGraphLaunch)
REFUSES(cuGraphExecDestroy)
REFUSES(cuGraphDestroy)
REFUSES(cuEventCreate)
REFUSES(cuEventDestroy_v2)
REFUSES(cuEventRecord)
REFUSES(cuEventSynchronize)
REFUSES(cuEventElapsedTime)
REFUSES(cuModuleLoadData)
REFUSES(cuModuleUnload)
REFUSES(cuModuleGetFunction)
REFUSES(cuFuncSetAttribute)
REFUSES(cuLaunchKernelEx)
REFUSES(cuOccupancyMaxActiveClusters)
REFUSES(cuTensorMapEncodeTiled)
REFUSES(cuTensorMapEncodeIm2col)
