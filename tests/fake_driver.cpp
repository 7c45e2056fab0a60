// See fake_driver.h.
#include "fake_driver.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "backends/cuda/device/failures.h"
#include "fake_copies.h"
#include "fake_pools.h"

namespace tenfold::tests {
namespace {

using namespace backends::cuda;

// The driver has one of its own kind for each handle; here handles are addresses of bytes that nobody reads.
template <class Handle>
int make(Handle* handle) {
  *handle = reinterpret_cast<Handle>(std::malloc(1));
  return kSuccess;
}
template <class Handle>
int end(Handle handle) {
  std::free(reinterpret_cast<void*>(handle));
  return kSuccess;
}
FakeDriver& fake() { return FakeDriver::the(); }
thread_local int current = FakeDriver::kOrdinal;
std::map<Context, int>& gpus_of_contexts() {   // the process's runtime keeps its contexts from test to test
  static std::map<Context, int> all;
  return all;
}

// A thread captures for itself: the test's own in what it looks at, each other one beside it.
FakeDriver::OwnCapture& own_capture() {
  thread_local FakeDriver::OwnCapture other;
  return std::this_thread::get_id() == fake().test_thread ? fake().own : other;
}
int& capture_mode() {
  thread_local int other = 0;
  return std::this_thread::get_id() == fake().test_thread ? fake().capture_mode : other;
}

// While a stream is captured, and its thread has not taken leave.
constexpr int kRelaxed = 2;
int run_one();
void outside(const char* call) {
  if (!fake().capturing.empty() && capture_mode() != kRelaxed) fake().forbidden.emplace_back(call);
}
void into(StreamHandle stream, const char* call) {
  if (fake().capturing.empty()) return;
  if (fake().capturing.count(stream)) ++fake().captured;
  else fake().forbidden.push_back(std::string(call) + " on another stream");
}

// What a thread may not ask while it captures a stream of its own in thread-local mode, and what must not leave the capture.
constexpr int kNotPermitted = 900, kInvalidated = 901, kIsolated = 905;
int breaks_capture(const char* call, int number) {
  FakeDriver::OwnCapture& own = own_capture();
  if (own.streams.empty() || capture_mode() == kRelaxed) return kSuccess;
  if (own.broken_by.empty()) own.broken_by = call;
  return number;
}
int breaks_capture_of(const void* stream, const char* call) {
  return own_capture().streams.count(stream) ? breaks_capture(call, kNotPermitted) : kSuccess + 0;
}
int begin_capture(StreamHandle stream, int) {
  outside("cuStreamBeginCapture");
  if (answer()) return answer();
  FakeDriver::OwnCapture& own = own_capture();
  own.first = true, own.behind_event = own.following.count(stream) > 0;
  return own.streams = {stream}, own.events.clear(), own.broken_by.clear(), ++own.begun, kSuccess + 0;
}
int end_capture(StreamHandle, Graph* graph) {
  outside("cuStreamEndCapture");
  FakeDriver::OwnCapture& own = own_capture();
  own.streams.clear();
  if (answer()) return answer();
  return own.broken_by.empty() ? make(graph) : (*graph = nullptr, ++own.broken, kInvalidated + 0);
}
int record_event(Event event, StreamHandle stream) {
  outside("cuEventRecord");
  FakeDriver::OwnCapture& own = own_capture();
  own.streams.count(stream) ? static_cast<void>(own.events.insert(event)) : static_cast<void>(own.events.erase(event));
  if (const int failed = one_failure("cuEventRecord")) return failed;
  note_copies(event, stream);
  return fake().recorded_on.push_back(stream), answer();
}
int follow_event(StreamHandle stream, Event event, unsigned) {
  outside("cuStreamWaitEvent");
  FakeDriver::OwnCapture& own = own_capture();
  const bool inside = own.events.count(event) > 0;
  if (own.streams.count(stream) && !inside) return breaks_capture("cuStreamWaitEvent", kIsolated);
  inside ? own.streams.insert(stream) : own.following.insert(stream);
  return fake().followed_on.push_back(stream), answer();
}
int launch(const LaunchConfig* config, Function, void**, void**) {
  into(config->stream, "cuLaunchKernelEx");
  FakeDriver::OwnCapture& own = own_capture();
  ++fake().launches;
  if (!own.streams.count(config->stream)) return run_one();
  if (std::exchange(own.first, false) && own.behind_event && config->attribute_count > 0)
    return breaks_capture("cuLaunchKernelEx, an early launch behind another stream's event", kInvalidated);
  if (own.launches_till_break >= 0 && own.launches_till_break-- == 0) return breaks_capture("cuLaunchKernelEx", kNotPermitted);
  return own.broken_by.empty() ? run_one() : kInvalidated + 0;
}

int allocate(DevicePointer* pointer, std::size_t bytes) {
  outside("cuMemAlloc");
  if (const int broken = breaks_capture("cuMemAlloc", kNotPermitted)) return broken;
  if (answer()) return answer();
  void* memory = nullptr;
  const int result = take_memory(&memory, bytes);
  *pointer = reinterpret_cast<DevicePointer>(memory);
  return result;
}
int release(DevicePointer pointer) {
  outside("cuMemFree");
  if (const int broken = breaks_capture("cuMemFree", kNotPermitted)) return broken;
  if (answer()) return answer();
  end_memory(reinterpret_cast<void*>(pointer));
  return kSuccess;
}
int copy(DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream) {
  into(stream, "cuMemcpyAsync");
  if (answer()) return answer();
  if (const int failed = one_failure("cuMemcpyAsync")) return failed;
  if (fake().late_copies) return copy_late(to, from, bytes, stream), kSuccess + 0;
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  return kSuccess;
}
int attribute(int* value, int which, int) {
  *value = which == kCapabilityMajor   ? fake().major
           : which == kCapabilityMinor ? fake().minor
           : which == kMultiprocessors ? 132
           : which == kSharedMemoryPerMultiprocessor ? 228 << 10
           : which == kMemoryPools     ? fake().has_pools
           : which == kClockKhz        ? fake().clock_khz
           : which == kMemoryClockKhz  ? 2619000 : 227 << 10;
  return kSuccess;
}
// A kernel, or a graph of them, on this thread's GPU.
int run_one() {
  const auto left = fake().launches_left.find(current);
  if (left != fake().launches_left.end() && left->second-- <= 0) fake().failures[current] = 719;
  return fake().launches_of[current] += !answer(), answer();
}
int error_string(int result, const char** text) {
  *text = result == 719 ? "unspecified launch failure" : "some error";
  return kSuccess;
}
int error_name(int result, const char** text) {
  *text = result == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : result == 1 ? "CUDA_ERROR_INVALID_VALUE" : nullptr;
  return *text ? kSuccess : 1;
}
ErrorName machines_names = nullptr;
int pointer_attributes(unsigned, PointerAttribute*, void** values, DevicePointer pointer) {
  const void* p = reinterpret_cast<const void*>(pointer);
  const bool pinned = fake().pinned.count(const_cast<void*>(p)) > 0 || is_registered(p);
  *static_cast<unsigned*>(values[0]) = pinned ? 1 : fake().is_on_device(p) ? 2 : 0;
  return kSuccess;
}

// One call at a time.
std::mutex calls;
Driver unguarded{};
template <auto Entry>
struct Guarded;
template <class... Arguments, int (*Driver::*Entry)(Arguments...)>
struct Guarded<Entry> {
  static int call(Arguments... arguments) {
    const std::lock_guard lock(calls);
    return (unguarded.*Entry)(arguments...);
  }
};
template <auto... Entries>
Driver guarded(const Driver& table) {
  unguarded = table;
  Driver all{};
  ((all.*Entries = Guarded<Entries>::call), ...);
  return all;
}
Driver guarded_table(const Driver& t) {
  using D = Driver;
  return guarded<&D::init, &D::driver_version, &D::error_string, &D::device_count, &D::device_get, &D::device_name, &D::device_attribute,
                 &D::device_memory, &D::retain_primary, &D::release_primary, &D::set_current, &D::synchronize, &D::memory_info,
                 &D::allocate, &D::release, &D::pool_create, &D::pool_destroy, &D::pool_set, &D::pool_get, &D::pool_trim,
                 &D::pool_allocate, &D::pool_release, &D::allocate_host, &D::release_host, &D::register_host, &D::unregister_host,
                 &D::copy, &D::fill, &D::stream_create, &D::stream_destroy, &D::stream_wait, &D::stream_query, &D::stream_follow,
                 &D::pointer_attributes, &D::stream_capturing, &D::capture_mode, &D::capture_begin, &D::capture_info, &D::user_object,
                 &D::graph_keep, &D::capture_end, &D::graph_instantiate, &D::graph_update, &D::graph_launch, &D::graph_exec_destroy,
                 &D::graph_destroy, &D::event_create, &D::event_destroy, &D::event_record, &D::event_wait, &D::event_elapsed,
                 &D::module_load, &D::module_unload, &D::module_function, &D::function_set, &D::launch>(t);
}

Driver table() {
  Driver t{};
  t.init = [](unsigned) { return 0; };
  t.driver_version = [](int* v) { return *v = fake().version, 0; };
  t.error_string = error_string;
  t.device_count = [](int* count) { return *count = FakeDriver::kOrdinal + 1, 0; };
  t.device_get = [](int* device, int ordinal) { return *device = ordinal, 0; };
  t.device_name = [](char* name, int length, int) { return std::strncpy(name, "a GPU that is none", static_cast<std::size_t>(length)), 0; };
  t.device_attribute = attribute;
  t.device_memory = [](std::size_t* bytes, int) { return *bytes = std::size_t{1} << 40, 0; };
  t.retain_primary = [](Context* context, int gpu) {
    const int result = make(context);
    return ++fake().contexts, gpus_of_contexts()[*context] = gpu, result;
  };
  t.release_primary = [](int) { return --fake().contexts, kSuccess + 0; };
  t.synchronize = [] {
    outside("cuCtxSynchronize");
    const int broken = breaks_capture("cuCtxSynchronize", kNotPermitted);
    return ++fake().waits, broken ? broken : answer();
  };
  t.set_current = [](Context context) { return current = gpus_of_contexts().at(context), 0; };
  t.memory_info = [](std::size_t* free, std::size_t* total) {
    return *free = fake().memory - fake().taken, *total = fake().memory, answer();
  };
  t.allocate = allocate;
  t.release = release;
  add_pools(t);
  t.allocate_host = [](void** p, std::size_t bytes, unsigned) {
    outside("cuMemHostAlloc");
    if (const int failed = one_failure("cuMemHostAlloc")) return failed;
    *p = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    fake().pinned.insert(*p);
    return answer();
  };
  t.release_host = [](void* p) { return outside("cuMemFreeHost"), fake().pinned.erase(p), std::free(p), answer(); };
  add_registered(t);
  t.copy = copy;
  t.fill = [](DevicePointer to, unsigned char value, std::size_t count, StreamHandle stream) {
    into(stream, "cuMemsetD8Async");
    return std::memset(reinterpret_cast<void*>(to), value, count), answer();
  };
  t.stream_create = [](StreamHandle* stream, unsigned) { return outside("cuStreamCreate"), answer() ? answer() : make(stream); };
  t.stream_destroy = [](StreamHandle stream) { return outside("cuStreamDestroy"), end(stream); };
  t.stream_wait = [](StreamHandle stream) {
    outside("cuStreamSynchronize");
    const int broken = breaks_capture_of(stream, "cuStreamSynchronize");
    own_capture().following.erase(stream);
    finish_copies(stream);
    return ++fake().waits, broken ? broken : answer();
  };
  t.stream_query = [](StreamHandle stream) {
    outside("cuStreamQuery");
    const int broken = breaks_capture_of(stream, "cuStreamQuery");
    own_capture().following.erase(stream);
    finish_copies(stream);
    return broken ? broken : answer();
  };
  t.stream_follow = follow_event;
  t.pointer_attributes = pointer_attributes;
  t.stream_capturing = [](StreamHandle stream, int* status) { return fake().stream_status(stream, *status), answer(); };
  t.capture_mode = [](int* mode) { return std::swap(*mode, capture_mode()), kSuccess + 0; };
  t.capture_info = [](StreamHandle stream, int* status, unsigned long long*, Graph* graph, const void* const**, std::size_t*) {
    return *graph = reinterpret_cast<Graph>(stream), fake().stream_status(stream, *status), answer();
  };
  t.user_object = [](void** object, void* pointer, void (*end)(void*), unsigned, unsigned) {
    return *object = pointer, fake().of_graphs.emplace_back(pointer, end), answer();
  };
  t.graph_keep = [](Graph, void*, unsigned, unsigned) { return answer(); };
  t.capture_begin = begin_capture;
  t.capture_end = end_capture;
  t.graph_instantiate = [](GraphExec* exec, Graph, unsigned long long) {
    return outside("cuGraphInstantiate"), ++fake().instantiated, ++fake().alive, make(exec);
  };
  t.graph_update = [](GraphExec, Graph, void*) { return outside("cuGraphExecUpdate"), ++fake().updated, answer(); };
  t.graph_launch = [](GraphExec, StreamHandle stream) {
    return outside("cuGraphLaunch"), finish_copies(stream), fake().graphs_ran_on.push_back(stream), run_one();
  };
  t.graph_exec_destroy = [](GraphExec exec) { return outside("cuGraphExecDestroy"), --fake().alive, end(exec); };
  t.graph_destroy = [](Graph graph) { return end(graph); };
  t.event_create = [](Event* event, unsigned) {
    outside("cuEventCreate");
    const int failed = answer() ? answer() : one_failure("cuEventCreate");
    return failed ? failed : (++fake().events, make(event));
  };
  t.event_destroy = [](Event event) { return --fake().events, fake().behind.erase(event), end(event); };
  t.event_record = record_event;
  t.event_wait = [](Event event) {
    outside("cuEventSynchronize");
    const int broken = own_capture().events.count(event) ? breaks_capture("cuEventSynchronize", kNotPermitted) : kSuccess + 0;
    if (const int failed = one_failure("cuEventSynchronize")) return failed;
    finish_copies_before(event);
    return ++fake().waits, broken ? broken : answer();
  };
  t.event_elapsed = [](float* ms, Event, Event) { return *ms = 1, answer(); };
  t.module_load = [](Module* module, const void*) {
    outside("cuModuleLoadData");
    if (const int broken = breaks_capture("cuModuleLoadData", kNotPermitted)) return broken;
    return answer() ? answer() : make(module);
  };
  t.module_unload = [](Module module) { return outside("cuModuleUnload"), end(module); };
  t.module_function = [](Function* function, Module module, const char*) {  // null is what a kernel that was not made has
    return *function = reinterpret_cast<Function>(module), answer();
  };
  t.function_set = [](Function, int, int) { return answer(); };
  t.launch = launch;
  return t;
}

}  // namespace

bool FakeDriver::is_on_device(const void* p) const {
  auto it = on_device.upper_bound(const_cast<void*>(p));
  if (it == on_device.begin()) return false;
  --it;
  return static_cast<const char*>(p) < static_cast<const char*>(it->first) + it->second;
}

int current_gpu() { return current; }
int answer() {
  const auto own = fake().failures.find(current);
  return own != fake().failures.end() && own->second ? own->second : fake().failure;
}

void FakeDriver::stream_status(const void* stream, int& status) const {
  const auto it = capturing.find(stream);
  status = it == capturing.end() ? kNotCapturing + 0 : it->second;
}

FakeDriver& FakeDriver::the() {
  static FakeDriver one;
  return one;
}
FakeDriver& FakeDriver::get() {
  static const Driver functions = guarded_table(table());
  use_driver(&functions);
  if (const ErrorName before = use_error_names(error_name); before != error_name) machines_names = before;
  return the();
}
void FakeDriver::put() { use_driver(nullptr), use_error_names(machines_names); }

}  // namespace tenfold::tests
