// Runtimes and replaceable engines from C.
#include "tenfold/c/runtime.h"

#include "api_run/c_common.h"
#include "tenfold/engine_slot.h"
#include "tenfold/runtime.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_engine_slot {
  EngineSlot slot;
};

namespace {
LoadOptions in(const tenfold_runtime* runtime, const tenfold_load_options* given) {
  LoadOptions options = options_of(given);
  options.runtime = need(runtime, "the runtime").runtime;
  return options;
}
}  // namespace

extern "C" tenfold_status tenfold_runtime_create(const tenfold_runtime_options* given, tenfold_runtime** runtime) {
  return guarded([&] {
    RuntimeOptions options;
    if (given) {
      const tenfold_runtime_options o = taken(given, "the runtime's options");
      options = {.threads = o.threads, .log = log_of(o.log, o.log_user)};
    }
    need(runtime, "the place for the runtime") = new tenfold_runtime{std::make_shared<Runtime>(std::move(options))};
  });
}
extern "C" void tenfold_runtime_free(tenfold_runtime* runtime) { delete runtime; }
extern "C" tenfold_status tenfold_runtime_tell(const tenfold_runtime* runtime, tenfold_runtime_use* use) {
  return guarded([&] {
    const RuntimeUse now = (runtime ? *runtime->runtime : *Runtime::of_process()).use();
    give(use, {0, now.engines, now.weights, now.weight_bytes}, "the place for the information");
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
    need(slot, "the place for the slot") = new tenfold_engine_slot{EngineSlot(first)};
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
