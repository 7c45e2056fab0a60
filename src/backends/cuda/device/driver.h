// The CUDA driver's interface, as far as it is used: declared here in our own words, so that building needs no CUDA header.
#pragma once

#include <cstddef>
#include <string>

#include "tenfold/error.h"

namespace tenfold::backends::cuda {

using DevicePointer = unsigned long long;
struct OpaqueContext;
struct OpaqueStream;
struct OpaqueEvent;
struct OpaqueModule;
struct OpaqueFunction;
struct OpaqueGraph;
struct OpaqueGraphExec;
struct OpaquePool;
using Context = OpaqueContext*;
using StreamHandle = OpaqueStream*;
using Event = OpaqueEvent*;
using Module = OpaqueModule*;
using Function = OpaqueFunction*;
using Graph = OpaqueGraph*;
using GraphExec = OpaqueGraphExec*;
using Pool = OpaquePool*;

// Values that the interface fixes.
enum Result : int { kSuccess = 0, kOutOfMemory = 2, kNotReady = 600, kRegisteredAlready = 712 };
enum PointerAttribute : int { kMemoryType = 2 };
enum MemoryType : unsigned { kHostMemory = 1 };
enum DeviceAttribute : int {
  kSharedMemoryPerBlock = 8,
  kClockKhz = 13,
  kMultiprocessors = 16,
  kMemoryClockKhz = 36,
  kL2Bytes = 38,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kSharedMemoryPerMultiprocessor = 81,
  kSharedMemoryPerBlockOptIn = 97,
  kMemoryPools = 115,
};
inline constexpr unsigned kRegisterPortable = 1;   // pinned for all GPUs
inline constexpr int kFunctionMaxDynamicShared = 8, kStreamNonBlocking = 1, kCaptureThreadLocal = 1, kEventDefault = 0, kEventUntimed = 2,
                     kEventSleeping = 3;

// A launch and its attributes, as the interface lays them out.
inline constexpr int kProgrammaticSerialization = 6;
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char all[64];
    int number;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);
struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// What a pool of memory is made of: memory of one device, for this process alone.
struct PoolProperties {
  int kind = 1, shared_as = 0, place = 1, ordinal = 0;
  void* security = nullptr;
  std::size_t max_bytes = 0;   // 0: whatever there is
  char reserved[56] = {};
};
static_assert(sizeof(PoolProperties) == 88);
enum PoolAttribute : int { kPoolKeeps = 4, kPoolReserved = 5 };   // both 64-bit numbers of bytes
inline constexpr unsigned kUserObjectNoSync = 1, kUserObjectMove = 1;
enum CaptureStatus : int { kNotCapturing = 0, kCapturing = 1, kCaptureBroken = 2 };

struct Driver {
  int (*init)(unsigned flags);
  int (*driver_version)(int* version);
  int (*error_string)(int result, const char** text);
  int (*device_count)(int* count);
  int (*device_get)(int* device, int ordinal);
  int (*device_name)(char* name, int length, int device);
  int (*device_attribute)(int* value, int attribute, int device);
  int (*device_memory)(std::size_t* bytes, int device);
  int (*retain_primary)(Context* context, int device);
  int (*release_primary)(int device);
  int (*set_current)(Context context);
  int (*synchronize)();   // with all work of the current context
  int (*memory_info)(std::size_t* free, std::size_t* total);
  int (*allocate)(DevicePointer* pointer, std::size_t bytes);
  int (*release)(DevicePointer pointer);
  // Pools of device memory; null before CUDA 11.2.
  int (*pool_create)(Pool* pool, const PoolProperties* properties);
  int (*pool_destroy)(Pool pool);
  int (*pool_set)(Pool pool, int attribute, void* value);
  int (*pool_get)(Pool pool, int attribute, void* value);
  int (*pool_trim)(Pool pool, std::size_t kept);
  int (*pool_allocate)(DevicePointer* pointer, std::size_t bytes, Pool pool, StreamHandle stream);
  int (*pool_release)(DevicePointer pointer, StreamHandle stream);
  int (*allocate_host)(void** pointer, std::size_t bytes, unsigned flags);
  int (*release_host)(void* pointer);
  int (*register_host)(void* pointer, std::size_t bytes, unsigned flags);
  int (*unregister_host)(void* pointer);
  int (*copy)(DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream);
  int (*fill)(DevicePointer to, unsigned char value, std::size_t count, StreamHandle stream);
  int (*stream_create)(StreamHandle* stream, unsigned flags);
  int (*stream_destroy)(StreamHandle stream);
  int (*stream_wait)(StreamHandle stream);
  int (*stream_query)(StreamHandle stream);
  int (*stream_follow)(StreamHandle stream, Event event, unsigned flags);
  int (*pointer_attributes)(unsigned count, PointerAttribute* attributes, void** values, DevicePointer pointer);
  int (*stream_capturing)(StreamHandle stream, int* status);
  int (*capture_mode)(int* mode);   // exchanges the thread's; null before CUDA 10.1
  int (*capture_begin)(StreamHandle stream, int mode);
  int (*capture_end)(StreamHandle stream, Graph* graph);
  // The graph that a stream is captured into, and what graphs own; null before CUDA 11.3.
  int (*capture_info)(StreamHandle stream, int* status, unsigned long long* number, Graph* graph, const void* const** behind,
                      std::size_t* count);
  int (*user_object)(void** object, void* pointer, void (*end)(void* pointer), unsigned owners, unsigned flags);
  int (*graph_keep)(Graph graph, void* object, unsigned owners, unsigned flags);
  int (*graph_instantiate)(GraphExec* exec, Graph graph, unsigned long long flags);
  int (*graph_update)(GraphExec exec, Graph graph, void* result);  // null before CUDA 12
  int (*graph_launch)(GraphExec exec, StreamHandle stream);
  int (*graph_exec_destroy)(GraphExec exec);
  int (*graph_destroy)(Graph graph);
  int (*event_create)(Event* event, unsigned flags);
  int (*event_destroy)(Event event);
  int (*event_record)(Event event, StreamHandle stream);
  int (*event_wait)(Event event);
  int (*event_elapsed)(float* milliseconds, Event first, Event last);
  int (*module_load)(Module* module, const void* image);
  int (*module_unload)(Module module);
  int (*module_function)(Function* function, Module module, const char* name);
  int (*function_set)(Function function, int attribute, int value);
  int (*launch)(const LaunchConfig* config, Function function, void** parameters, void** extra);
  // Clusters that a device holds at once, and descriptions of tensors for TMA; null before CUDA 12.
  int (*max_clusters)(int* clusters, Function function, const LaunchConfig* config);
  int (*tensor_map_tiled)(void* map, int type, unsigned rank, void* address, const unsigned long long* dims,
                          const unsigned long long* strides, const unsigned* box, const unsigned* steps, int interleave, int swizzle,
                          int promotion, int fill);
  int (*tensor_map_im2col)(void* map, int type, unsigned rank, void* address, const unsigned long long* dims,
                           const unsigned long long* strides, const int* lower, const int* upper, unsigned channels, unsigned pixels,
                           const unsigned* steps, int interleave, int swizzle, int promotion, int fill);
};

// The driver, opened and initialized once; null if this machine has none, and then `driver_why_not` says why in one line.
const Driver* driver();
const std::string& driver_why_not();
void use_driver(const Driver* other);  // tests: this one instead from now on; null: the machine's own again

inline constexpr std::size_t kErrorText = 256;
Status::Code status_of(int result) noexcept;
bool is_for_good(int result) noexcept;

}  // namespace tenfold::backends::cuda
