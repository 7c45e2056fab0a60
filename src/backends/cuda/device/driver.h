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
using Context = OpaqueContext*;
using StreamHandle = OpaqueStream*;
using Event = OpaqueEvent*;
using Module = OpaqueModule*;
using Function = OpaqueFunction*;
using Graph = OpaqueGraph*;
using GraphExec = OpaqueGraphExec*;

// Values that the interface fixes.
enum Result : int { kSuccess = 0, kOutOfMemory = 2, kNotReady = 600 };
enum PointerAttribute : int { kMemoryType = 2 };
enum MemoryType : unsigned { kHostMemory = 1 };
enum DeviceAttribute : int {
  kSharedMemoryPerBlock = 8,
  kMultiprocessors = 16,
  kL2Bytes = 38,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kSharedMemoryPerBlockOptIn = 97,
};
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
  int (*set_current)(Context context);
  int (*memory_info)(std::size_t* free, std::size_t* total);
  int (*allocate)(DevicePointer* pointer, std::size_t bytes);
  int (*release)(DevicePointer pointer);
  int (*allocate_host)(void** pointer, std::size_t bytes, unsigned flags);
  int (*release_host)(void* pointer);
  int (*copy)(DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream);
  int (*fill)(DevicePointer to, unsigned char value, std::size_t count, StreamHandle stream);
  int (*stream_create)(StreamHandle* stream, unsigned flags);
  int (*stream_destroy)(StreamHandle stream);
  int (*stream_wait)(StreamHandle stream);
  int (*stream_query)(StreamHandle stream);
  int (*stream_follow)(StreamHandle stream, Event event, unsigned flags);
  int (*pointer_attribute)(void* value, int attribute, DevicePointer pointer);
  int (*capture_begin)(StreamHandle stream, int mode);
  int (*capture_end)(StreamHandle stream, Graph* graph);
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

// The driver, opened and initialised once; null if this machine has none, and then `driver_why_not` says why in one line.
const Driver* driver();
const std::string& driver_why_not();
void use_driver(const Driver* other);  // tests: this one instead from now on; null: the machine's own again

inline constexpr std::size_t kErrorText = 256;
// Throws device, or out_of_memory, with what was being done and the driver's words.
void expect(int result, const char* doing);
Status::Code status_of(int result) noexcept;
// The driver's words, cut to fit. After an error inside a kernel every call of the process fails alike, and the text says so.
void describe(int result, char* text, std::size_t bytes) noexcept;
bool is_for_good(int result) noexcept;

}  // namespace tenfold::backends::cuda
