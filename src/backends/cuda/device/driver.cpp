// Loading the driver's functions, and its errors in words.
#include "backends/cuda/device/driver.h"

#include <algorithm>
#include <iterator>

#include "backends/cuda/device/failures.h"
#include "backends/cuda/device/library.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

struct Loaded {
  Library library{{"libcuda.so.1", "libcuda.so"}};
  Driver table{};
  std::string why_not;

  Loaded() {
    Driver& t = table;
    ErrorName names = nullptr;
    int version = 0;
    library.get(t.driver_version, "cuDriverGetVersion"), library.get_if_there(names, "cuGetErrorName");
    if (library.opened() && t.driver_version(&version) == kSuccess) try {
        expect_driver(version);   // before something is missed that only a newer one has
      } catch (const Error& e) {
        why_not = e.what();
        return;
      }
    use_error_names(names);
    library.get(t.init, "cuInit"), library.get(t.error_string, "cuGetErrorString");
    library.get(t.device_count, "cuDeviceGetCount"), library.get(t.device_get, "cuDeviceGet"),
        library.get(t.device_name, "cuDeviceGetName");
    library.get(t.device_attribute, "cuDeviceGetAttribute"), library.get(t.device_memory, "cuDeviceTotalMem_v2");
    library.get(t.retain_primary, "cuDevicePrimaryCtxRetain"), library.get(t.release_primary, "cuDevicePrimaryCtxRelease_v2"),
        library.get(t.set_current, "cuCtxSetCurrent"), library.get(t.synchronize, "cuCtxSynchronize");
    library.get(t.memory_info, "cuMemGetInfo_v2"), library.get(t.allocate, "cuMemAlloc_v2"), library.get(t.release, "cuMemFree_v2");
    library.get_if_there(t.pool_create, "cuMemPoolCreate"), library.get_if_there(t.pool_destroy, "cuMemPoolDestroy"),
        library.get_if_there(t.pool_set, "cuMemPoolSetAttribute"), library.get_if_there(t.pool_get, "cuMemPoolGetAttribute"),
        library.get_if_there(t.pool_trim, "cuMemPoolTrimTo"), library.get_if_there(t.pool_allocate, "cuMemAllocFromPoolAsync"),
        library.get_if_there(t.pool_release, "cuMemFreeAsync");
    library.get(t.allocate_host, "cuMemHostAlloc"), library.get(t.release_host, "cuMemFreeHost"),
        library.get(t.register_host, "cuMemHostRegister_v2"), library.get(t.unregister_host, "cuMemHostUnregister");
    library.get(t.copy, "cuMemcpyAsync"), library.get(t.fill, "cuMemsetD8Async");
    library.get(t.stream_create, "cuStreamCreate"), library.get(t.stream_destroy, "cuStreamDestroy_v2"),
        library.get(t.stream_wait, "cuStreamSynchronize"), library.get(t.stream_query, "cuStreamQuery"),
        library.get(t.stream_follow, "cuStreamWaitEvent");
    library.get(t.pointer_attributes, "cuPointerGetAttributes");
    library.get(t.stream_capturing, "cuStreamIsCapturing");
    library.get_if_there(t.capture_mode, "cuThreadExchangeStreamCaptureMode"),
        library.get_if_there(t.capture_info, "cuStreamGetCaptureInfo_v2"), library.get_if_there(t.user_object, "cuUserObjectCreate"),
        library.get_if_there(t.graph_keep, "cuGraphRetainUserObject");
    library.get(t.capture_begin, "cuStreamBeginCapture_v2"), library.get(t.capture_end, "cuStreamEndCapture");
    library.get(t.graph_instantiate, "cuGraphInstantiateWithFlags"), library.get(t.graph_launch, "cuGraphLaunch");
    library.get_if_there(t.graph_update, "cuGraphExecUpdate_v2");
    library.get(t.graph_exec_destroy, "cuGraphExecDestroy"), library.get(t.graph_destroy, "cuGraphDestroy");
    library.get(t.event_create, "cuEventCreate"), library.get(t.event_destroy, "cuEventDestroy_v2"),
        library.get(t.event_record, "cuEventRecord");
    library.get(t.event_wait, "cuEventSynchronize"), library.get(t.event_elapsed, "cuEventElapsedTime");
    library.get(t.module_load, "cuModuleLoadData"), library.get(t.module_unload, "cuModuleUnload");
    library.get(t.module_function, "cuModuleGetFunction"), library.get(t.function_set, "cuFuncSetAttribute"),
        library.get(t.launch, "cuLaunchKernelEx");
    library.get_if_there(t.max_clusters, "cuOccupancyMaxActiveClusters");
    library.get_if_there(t.tensor_map_tiled, "cuTensorMapEncodeTiled"),
        library.get_if_there(t.tensor_map_im2col, "cuTensorMapEncodeIm2col");
    if (!library.opened()) {
      why_not = "no CUDA driver: " + library.why_not();
    } else if (const int result = t.init(0); result != kSuccess) {
      const char* words = nullptr;
      t.error_string(result, &words);
      why_not = cat("the CUDA driver does not start: ", words ? words : "unknown error", " (", result, ")");
    } else {
      watch_forks();
    }
  }
};

const Loaded& loaded() {
  static const Loaded& once = *new Loaded;   // never closed: runtimes that are statics are ended behind it
  return once;
}
const Driver*& other_driver() {
  static const Driver* other = nullptr;
  return other;
}

}  // namespace

const Driver* driver() { return other_driver() ? other_driver() : loaded().why_not.empty() ? &loaded().table : nullptr; }
void use_driver(const Driver* other) { other_driver() = other; }
const std::string& driver_why_not() { return loaded().why_not; }

bool is_for_good(int result) noexcept {
  // Illegal addresses, instructions and program counters, failed assertions and launches, memory that lost bits, hung kernels.
  static constexpr int kForGood[] = {214, 220, 700, 702, 710, 714, 715, 716, 717, 718, 719};
  return std::find(std::begin(kForGood), std::end(kForGood), result) != std::end(kForGood);
}

Status::Code status_of(int result) noexcept {
  return result == kSuccess ? Status::ok : result == kOutOfMemory ? Status::out_of_memory : Status::device;
}

}  // namespace tenfold::backends::cuda
