// Runtimes and replaceable engines from C.
#include "tenfold/c/runtime.h"

#include "c/run/common.h"
#include "tenfold/engine_slot.h"
#include "tenfold/runtime.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_engine_slot {
  EngineSlot slot;
};

namespace {
class CAllocator final : public DeviceAllocator {
 public:
  explicit CAllocator(const tenfold_runtime_options& o) : allocate_(o.allocate), release_(o.release), user_(o.allocator_user) {}
  void* allocate(std::int64_t bytes, std::int64_t alignment, std::string_view device) noexcept override {
    return allocate_(user_, bytes, alignment, std::string(device).c_str());
  }
  void release(void* memory) noexcept override { release_(user_, memory); }

 private:
  void* (*allocate_)(void*, int64_t, int64_t, const char*);
  void (*release_)(void*, void*);
  void* user_;
};

LoadOptions in(const tenfold_runtime* runtime, const tenfold_load_options* given) {
  LoadOptions options = options_of(given);
  options.runtime = need(runtime, "the runtime").runtime;
  return options;
}
Runtime& its_or_the_process(const tenfold_runtime* runtime) { return runtime ? *runtime->runtime : *Runtime::of_process(); }
}  // namespace

extern "C" tenfold_status tenfold_runtime_create(const tenfold_runtime_options* given, tenfold_runtime** runtime) {
  return guarded([&] {
    RuntimeOptions options;
    if (given) {
      const tenfold_runtime_options o = taken(given, "the runtime's options");
      options = {.threads = o.threads, .log = log_of(o.log, o.log_user), .gpu_memory_limit = o.gpu_memory_limit,
                 .gpu_memory_kept = o.gpu_memory_kept, .allocator = {}};
      require((o.allocate == nullptr) == (o.release == nullptr), ErrorKind::invalid_argument,
              "the runtime's options have one of allocate and release: both or none were expected");
      if (o.allocate) options.allocator = std::make_shared<CAllocator>(o);
    }
    place(runtime, "the place for the runtime", [&] { return new tenfold_runtime{std::make_shared<Runtime>(std::move(options))}; });
  });
}
extern "C" void tenfold_runtime_free(tenfold_runtime* runtime) { delete runtime; }
extern "C" tenfold_status tenfold_runtime_get_use(const tenfold_runtime* runtime, tenfold_runtime_use* use) {
  return guarded([&] {
    const RuntimeUse now = its_or_the_process(runtime).use();
    give(use, {0, now.engines, now.weights, now.weight_bytes, now.gpu_bytes, now.gpu_held_bytes}, "the place for the information");
  });
}
extern "C" tenfold_status tenfold_runtime_gpu_memory(const tenfold_runtime* runtime, const char* device, tenfold_gpu_memory* memory) {
  return guarded([&] {
    const std::string_view requested = &need(device, "the device");
    GpuMemory found;
    for (const GpuMemory& gpu : its_or_the_process(runtime).gpu_memory())
      if (gpu.device == requested) found = gpu;
    give(memory, {0, found.used_bytes, found.max_used_bytes, found.held_bytes}, "the place for the information");
  });
}
extern "C" tenfold_status tenfold_runtime_trim_gpu_memory(const tenfold_runtime* runtime, int64_t kept, int64_t* freed) {
  return guarded([&] {
    const std::int64_t bytes = its_or_the_process(runtime).trim_gpu_memory(kept);
    if (freed) *freed = bytes;
  });
}
extern "C" tenfold_status tenfold_runtime_load(const tenfold_runtime* runtime, const char* path, const tenfold_load_options* options,
                                               tenfold_engine** engine) {
  return make_engine(engine, [&] { return Engine::load(std::string(&need(path, "the path")), in(runtime, options)); });
}
extern "C" tenfold_status tenfold_runtime_load_bytes(const tenfold_runtime* runtime, const void* plan, size_t bytes,
                                                     const tenfold_load_options* options, tenfold_engine** engine) {
  return make_engine(engine, [&] {
    return Engine::load(std::span(&need(static_cast<const std::byte*>(plan), "the plan"), bytes), in(runtime, options));
  });
}

extern "C" tenfold_status tenfold_engine_slot_create(const tenfold_engine* engine, tenfold_engine_slot** slot) {
  return guarded([&] {
    const Engine& first = need(engine, "the engine").engine;
    place(slot, "the place for the slot", [&] { return new tenfold_engine_slot{EngineSlot(first)}; });
  });
}
extern "C" void tenfold_engine_slot_free(tenfold_engine_slot* slot) { delete slot; }
extern "C" tenfold_status tenfold_engine_slot_get(const tenfold_engine_slot* slot, tenfold_engine** engine) {
  return make_engine(engine, [&] { return need(slot, "the slot").slot.get(); });
}
extern "C" tenfold_status tenfold_engine_slot_replace(tenfold_engine_slot* slot, const tenfold_engine* engine, int64_t milliseconds,
                                                      int32_t* drained) {
  return guarded([&] {
    const RetiredEngine old = need(slot, "the slot").slot.replace(need(engine, "the engine").engine);
    if (milliseconds < 0) old.wait();
    else if (milliseconds > 0) old.wait(std::chrono::milliseconds(std::min<int64_t>(milliseconds, 1000LL * 3600 * 24 * 365)));
    if (drained) *drained = old.drained();
  });
}
